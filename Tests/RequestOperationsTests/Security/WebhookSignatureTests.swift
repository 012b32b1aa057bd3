import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct WebhookSignatureTests {
    /// The example of the libraries for Standard Webhooks.
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let other = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
    private static let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    private static let body = Data(#"{"test": 2432232314}"#.utf8)
    private static let date = Date(timeIntervalSince1970: 1_614_265_330)

    private let signature: WebhookSignature
    private let fields: [String: String]

    init() throws {
        signature = try WebhookSignature(secrets: [Self.secret])
        fields = try signature.fields(for: Self.body, id: Self.id, at: Self.date)
    }

    @Test func `The published example has the published signature`() {
        #expect(fields["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        #expect(fields["webhook-id"] == Self.id && fields["webhook-timestamp"] == "1614265330")
    }

    @Test func `A webhook that was signed is genuine, whatever the case of its fields`() throws {
        try signature.verify(Self.body, fields: fields, at: Self.date)
        let upper = Dictionary(uniqueKeysWithValues: fields.map { ($0.uppercased(), $1) })
        try signature.verify(Self.body, fields: upper, at: Self.date + 299)
    }

    @Test(arguments: [
        ("webhook-id", "msg_other"), ("webhook-timestamp", "1614265331"),
        ("webhook-signature", "v1,AAAASsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="), ("webhook-signature", ""),
        ("webhook-signature", "v1,g0hM"), ("webhook-signature", "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
    ])
    func `A changed field is found`(name: String, value: String) {
        var changed = fields
        changed[name] = value
        #expect(throws: WebhookSignature.Failure.noMatch) {
            try signature.verify(Self.body, fields: changed, at: Self.date)
        }
    }

    @Test func `A changed body is found`() {
        #expect(throws: WebhookSignature.Failure.noMatch) {
            try signature.verify(Self.body + [32], fields: fields, at: Self.date)
        }
    }

    @Test(arguments: [-301.0, 301])
    func `A webhook that is too old or from the future is refused`(seconds: Double) {
        #expect(throws: WebhookSignature.Failure.outOfTime) {
            try signature.verify(Self.body, fields: fields, at: Self.date + seconds)
        }
    }

    @Test(arguments: ["", "x", "1614265330.5", "+1614265330", " 1614265330", "99999999999999999999"])
    func `A time that is no number of seconds is refused`(timestamp: String) {
        var changed = fields
        changed["webhook-timestamp"] = timestamp
        #expect(throws: WebhookSignature.Failure.malformedTimestamp) {
            try signature.verify(Self.body, fields: changed, at: Self.date)
        }
    }

    @Test(arguments: ["webhook-id", "webhook-timestamp", "webhook-signature"])
    func `A missing field is named`(name: String) {
        #expect(throws: WebhookSignature.Failure.missingField(name)) {
            try signature.verify(Self.body, fields: fields.filter { $0.key != name }, at: Self.date)
        }
    }

    @Test(arguments: ["", "msg.1614265330"])
    func `An id that is empty or has a full stop is refused by both sides`(id: String) {
        #expect(throws: WebhookSignature.Failure.unusableID) {
            try signature.fields(for: Self.body, id: id, at: Self.date)
        }
        var changed = fields
        changed["webhook-id"] = id
        #expect(throws: WebhookSignature.Failure.unusableID) {
            try signature.verify(Self.body, fields: changed, at: Self.date)
        }
    }

    @Test func `While a secret is replaced, receivers with either secret accept`() throws {
        let both = try WebhookSignature(secrets: [Self.other, Self.secret])
        let signed = try both.fields(for: Self.body, id: Self.id, at: Self.date)
        #expect(signed["webhook-signature"]?.split(separator: " ").count == 2)
        for secret in [Self.secret, Self.other] {
            try WebhookSignature(secrets: [secret]).verify(Self.body, fields: signed, at: Self.date)
        }
        try both.verify(Self.body, fields: fields, at: Self.date)
    }

    @Test(arguments: ["", "whsec_", "whsec_!", "whsec_AAAA", Data(count: 65).base64EncodedString()])
    func `A secret that is no base64 of 24 to 64 bytes is refused and not shown`(secret: String) {
        let error = #expect(throws: WebhookSignature.Failure.self) {
            try WebhookSignature(secrets: [Self.secret, secret])
        }
        #expect(error == .unusableSecret(1))
        #expect(!"\(signature)".contains("MfKQ9"))
    }

    @Test func `Each attempt is signed anew, with the same id`() async throws {
        let transport = ScriptedTransport([.status(503), .status(204)])
        var configuration = RequestConfiguration.over(transport)
        configuration.retryPolicy.backoff = .constant(.zero)
        let times = Locked(0)
        configuration.adapters = [
            .idempotencyKey(),
            .webhookSignature(signature) {
                Self.date
                    + times.withLock { times in
                        times += 1
                        return Double(times)
                    }
            },
        ]
        var request = URLRequest(url: URL(string: "http://example.invalid/")!)
        request.httpMethod = "POST"
        request.httpBody = Self.body
        _ = try await run(URLRequestOperation(request, decoder: .data, configuration: configuration))
        let sent = transport.requests.map { $0.allHTTPHeaderFields ?? [:] }
        for fields in sent { try signature.verify(Self.body, fields: fields, at: Self.date) }
        #expect(
            transport.requests.map { $0.value(forHTTPHeaderField: "webhook-timestamp") } == [
                "1614265331", "1614265332",
            ])
        let ids = Set(transport.requests.map { $0.value(forHTTPHeaderField: "webhook-id") })
        let keys = Set(transport.requests.map { $0.value(forHTTPHeaderField: "Idempotency-Key") })
        #expect(ids.count == 1 && keys == Set(ids.map { $0.map { "\"\($0)\"" } }))
    }

    @Test func `Each receiver may have its own secrets, or none`() async throws {
        let transport = ScriptedTransport([.status(204)])
        var configuration = RequestConfiguration.over(transport)
        let other = try WebhookSignature(secrets: [Self.other])
        configuration.adapters = [
            .webhookSignature { [signature] request in
                switch request.url?.host {
                case "a.invalid": signature
                case "b.invalid": other
                default: nil
                }
            }
        ]
        for host in ["a", "b", "c"] {
            var request = URLRequest(url: URL(string: "http://\(host).invalid/")!)
            request.httpMethod = "POST"
            request.httpBody = Self.body
            _ = try await run(URLRequestOperation(request, decoder: .data, configuration: configuration))
        }
        let sent = transport.requests.map { $0.allHTTPHeaderFields ?? [:] }
        try signature.verify(Self.body, fields: sent[0])
        try other.verify(Self.body, fields: sent[1])
        #expect(!sent[2].keys.contains { $0.lowercased().hasPrefix("webhook") })
    }

    @Test func `A body that is a stream cannot be signed`() async {
        var configuration = RequestConfiguration.scripted([.status(204)])
        configuration.adapters = [.webhookSignature(signature)]
        var request = URLRequest(url: URL(string: "http://example.invalid/")!)
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Self.body)
        let operation = URLRequestOperation(request, decoder: .data, configuration: configuration)
        #expect(await (failure(of: operation) as? RequestError)?.code == .unsupported)
    }
}
