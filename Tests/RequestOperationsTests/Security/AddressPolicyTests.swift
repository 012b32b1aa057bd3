import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct AddressPolicyTests {
    private func isAllowed(_ text: String, by policy: AddressPolicy = .publicOnly) throws -> Bool {
        policy.allows(try #require(IPAddress(text)))
    }

    @Test(arguments: [
        "127.0.0.1", "127.255.255.255", "0.0.0.0", "10.0.0.1", "100.64.0.1", "100.127.255.255", "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255", "192.168.1.1", "192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::", "::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::",
        "fc00::1", "fd00:ec2::254",
        "fe80::1", "fec0::1", "ff02::1", "2001:db8::1", "2001::1", "100::1", "3fff::1",
    ]) func `What is not public is blocked`(_ address: String) throws {
        #expect(try !isAllowed(address))
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
        "192.167.1.1",
        "223.255.255.255", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1", "2a00::1",
        "2001:200::1",
    ]) func `What is public is allowed`(_ address: String) throws {
        #expect(try isAllowed(address))
    }

    @Test func `Exceptions are allowed, and nothing beside them`() throws {
        let policy = try AddressPolicy.publicOnly.allowing("10.1.0.0/16", "fd00::/8", "192.168.7.7")
        for address in ["10.1.255.1", "fd12::1", "192.168.7.7"] { #expect(try isAllowed(address, by: policy)) }
        for address in ["10.2.0.1", "fc00::1", "192.168.7.8"] { #expect(try !isAllowed(address, by: policy)) }
    }

    @Test(arguments: [
        "", "a", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "::/129", "10.0.0.0/", "0x7f.1", "10.0.0.0/8/8",
    ])
    func `A text that is no range is refused`(_ text: String) {
        #expect(throws: RequestError.self) { try AddressPolicy.publicOnly.allowing(text) }
    }

    @Test func `All addresses are allowed by default`() throws {
        #expect(
            try isAllowed("127.0.0.1", by: .any) && AddressPolicy.any.allowsAll && !AddressPolicy.publicOnly.allowsAll)
    }

    @Test func `A range may end within a byte`() throws {
        let range = try #require(AddressRange("172.16.0.0/12"))
        #expect(range.contains(IPAddress("172.31.0.0")!) && !range.contains(IPAddress("172.32.0.0")!))
        #expect(try #require(AddressRange("0.0.0.0/0")).contains(IPAddress("8.8.8.8")!))
    }
}
