import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct TrustPolicyTests {
    private static let pin = "sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="

    @Test func `A pin is the mark and the Base64 of 32 bytes`() {
        #expect(TrustPolicy.isPin(Self.pin))
    }

    @Test(arguments: [
        "", "sha256//", "sha256//YhKJ", "sha256//not base64", "key.pem",
        "YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE=",
        pin + ";" + pin, pin + "\n", "SHA256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE=",
    ])
    func `Another text is no pin`(_ text: String) {
        #expect(!TrustPolicy.isPin(text))
    }

    @Test func `A pin of another form is a programmer's error where it is set`() async {
        await #expect(processExitsWith: .failure) { _ = TrustPolicy(pinnedKeys: ["sha256//YhKJ"]) }
        await #expect(processExitsWith: .failure) {
            var policy = TrustPolicy.system
            policy.pinnedKeys = ["key.pem"]
        }
    }
}
