import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct DescriptorShareTests {
    private static let bounds: [(limit: Int64, bound: Int64)] = [
        (0, 0), (16, 8), (40, 20), (64, 40), (192, 168), (256, 224), (1024, 896), (1_048_576, 1_048_320),
    ]

    @Test(arguments: bounds)
    func `A part of the descriptors is left free, and at most half of them`(limit: Int64, bound: Int64) {
        #expect(DescriptorShare(limit: limit).bound == bound)
        #expect(DescriptorShare(limit: limit).reserve == limit - bound)
    }

    @Test func `A limit that is none bounds no connection`() {
        #expect(DescriptorShare(limit: .max).allows(.max))
    }

    @Test
    func `The number of a descriptor decides, and some are left for files that are opened later`() {
        let share = DescriptorShare(limit: 1024)
        #expect(share.allows(895) && !share.allows(896))
        #expect(share.allows(795, filesToOpen: 100) && !share.allows(796, filesToOpen: 100))
    }

    @Test func `The first connection of a transport may have almost any descriptor`() {
        let share = DescriptorShare(limit: 1024)
        #expect(share.allows(1015, isFirst: true) && !share.allows(1016, isFirst: true))
        #expect(share.allows(1015, isFirst: true, filesToOpen: 1000))
    }

    @Test func `Without descriptors no connection may have one`() {
        #expect(!DescriptorShare(limit: 0).allows(0) && !DescriptorShare(limit: 0).allows(0, isFirst: true))
        #expect(!DescriptorShare(limit: -1).allows(0))
    }
}
