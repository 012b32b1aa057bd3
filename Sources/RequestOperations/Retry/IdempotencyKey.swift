extension RequestAdapter {
    /// Gives requests a key that is the same for all attempts, so that the server can tell a repetition from a second
    /// request, and the retry policy may repeat it (draft-ietf-httpapi-idempotency-key-header).
    ///
    /// The value is a string in quotation marks (RFC 9651, section 3.3.3) that no other request has, of this process or
    /// another. A request that has a key keeps it. Only a server that knows the field keeps from acting twice: that is for
    /// you to know.
    ///
    /// - Parameter methods: Which requests are given one, without regard to case. POST and PATCH by default.
    public static func idempotencyKey(methods: Set<String> = ["POST", "PATCH"]) -> RequestAdapter {
        let methods = Set(methods.map { $0.uppercased() })
        return RequestAdapter(edit: { request, id in
            guard methods.contains((request.httpMethod ?? "GET").uppercased()) else { return }
            guard request.value(forHTTPHeaderField: IdempotencyKey.field) == nil else { return }
            request.setField(IdempotencyKey.field, to: IdempotencyKey.value(for: id))
        })
    }
}

/// The key that makes a request one that can be repeated.
enum IdempotencyKey {
    static let field = "Idempotency-Key"

    /// Tells the requests of this process from those of all others.
    private static let process = UUID()

    static func value(for id: RequestID) -> String { "\"\(process.uuidString.lowercased())-\(id)\"" }
}
