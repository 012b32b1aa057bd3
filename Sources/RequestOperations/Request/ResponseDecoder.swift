/// Makes the value of a request from its response. It is one closure, and several are ready-made.
///
/// It runs once for each accepted response, on the Task of the operation, without a slot. An empty body is a success
/// for types with an empty form (``EmptyRepresentable``). For other types it fails as ``RequestError/Code/emptyBody``,
/// with any status. All ready-made decoders except ``ResponseDecoder/void`` take the body from memory. A body that went
/// to a file or a consumer fails as ``RequestError/Code/undecodable``.
public struct ResponseDecoder<Value: Sendable>: Sendable {
    /// Makes the value.
    ///
    /// An error that is not a ``RequestError`` becomes the cause of one with the code
    /// ``RequestError/Code/undecodable``. That error keeps the head and the first 4 KiB of the body.
    public let decode: @Sendable (TransportResponse) async throws -> Value

    /// Makes a decoder from one function.
    public init(_ decode: @escaping @Sendable (TransportResponse) async throws -> Value) {
        self.decode = decode
    }

    /// Runs the function of the decoder on an operation queue. Use it for work that needs a serial queue or the main
    /// queue.
    ///
    /// - Parameter queue: The queue. If the queue drops or cancels the work, the request ends as cancelled.
    public func on(_ queue: OperationQueue) -> ResponseDecoder {
        ResponseDecoder { [decode] response in
            try await queue.run { try await decode(response) }
        }
    }

    /// A decoder that changes the value of this one.
    public func map<Mapped: Sendable>(
        _ transform: @escaping @Sendable (Value) async throws -> Mapped
    ) -> ResponseDecoder<Mapped> {
        ResponseDecoder<Mapped> { [decode] response in try await transform(decode(response)) }
    }

    /// A decoder that gives `nil` for an empty body. This decoder handles all other bodies.
    public func optional() -> ResponseDecoder<Value?> {
        ResponseDecoder<Value?> { [decode] response in
            response.hasNoBody ? nil : try await decode(response)
        }
    }
}

extension ResponseDecoder where Value == Data {
    /// The body as it arrived; empty data for an empty body.
    public static let data = ResponseDecoder { try $0.bodyInMemory }
}

extension ResponseDecoder where Value == Void {
    /// Ignores the body.
    public static let void = ResponseDecoder { _ in }
}

extension ResponseDecoder where Value == String {
    /// The body as text in the charset that the response declares. It is `""` for an empty body.
    public static let string = string(default: .utf8)

    /// The body as text.
    ///
    /// A byte that is not valid in the charset, or an unknown charset, fails as ``RequestError/Code/undecodable``. Text
    /// is never replaced or guessed. A byte order mark is not part of the text. UTF-16 and UTF-32 without a mark are
    /// big-endian (RFC 2781, section 4.3).
    ///
    /// The `Content-Type` is read as browsers do (WHATWG MIME Sniffing). A missing quotation mark is allowed, and so
    /// are spaces and apostrophes around a charset. A charset that cannot be read in its field also fails as
    /// ``RequestError/Code/undecodable``.
    ///
    /// These charsets are known, by their names and by the labels of the WHATWG Encoding standard (such as `latin1`,
    /// `iso_8859-1`, `utf8`). Each name has its own meaning: here `iso-8859-1` is not `windows-1252`.
    ///
    /// - `utf-8`, `utf-16`, `utf-16le`, `utf-16be`, `utf-32`, `utf-32le`, `utf-32be`, `us-ascii`
    /// - `iso-8859-1` to `iso-8859-16`; there is no `iso-8859-12`
    /// - `windows-1250` to `windows-1258`, `windows-874` (`tis-620`), `koi8-r`, `koi8-u`, `ibm866` (`cp866`)
    /// - `shift_jis` (`windows-31j`), `iso-2022-jp`, `gb2312`, `gbk` and `gb18030`, `big5` and `big5-hkscs`, `euc-kr`
    ///   (`cp949`)
    ///
    /// - Parameter encoding: The encoding for a response that declares no charset. UTF-8 if not given.
    public static func string(default encoding: String.Encoding) -> ResponseDecoder {
        ResponseDecoder { response in
            let body = try response.bodyInMemory
            guard !body.isEmpty else { return "" }
            let charset = try response.head.declaredCharset ?? Charset(encoding)
            guard let text = charset.text(of: body) else {
                throw RequestError(
                    .undecodable, stage: .decode, head: response.head, reason: "the body is not valid in its charset")
            }
            return text
        }
    }
}

extension ResponseDecoder where Value: Decodable {
    /// A value from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - makeDecoder: Makes the decoder for each response. A `JSONDecoder` with its defaults if not given.
    public static func json(
        _ type: Value.Type = Value.self, decoder makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> ResponseDecoder {
        ResponseDecoder { response in
            try emptyValue(for: response) ?? makeDecoder().decode(Value.self, from: response.bodyInMemory)
        }
    }

    /// A value from a property list, XML or binary.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - makeDecoder: Makes the decoder for each response. A `PropertyListDecoder` with its defaults if not given.
    public static func propertyList(
        _ type: Value.Type = Value.self,
        decoder makeDecoder: @escaping @Sendable () -> PropertyListDecoder = { PropertyListDecoder() }
    ) -> ResponseDecoder {
        ResponseDecoder { response in
            try emptyValue(for: response) ?? makeDecoder().decode(Value.self, from: response.bodyInMemory)
        }
    }

    private static func emptyValue(for response: TransportResponse) throws -> Value? {
        guard response.hasNoBody else { return nil }
        guard let type = Value.self as? any EmptyRepresentable.Type, let value = type.emptyValue as? Value else {
            throw RequestError(
                .emptyBody, stage: .decode, head: response.head, reason: "\(Value.self) has no empty form")
        }
        return value
    }
}

extension TransportResponse {
    /// Whether there is no body at all, neither in memory nor elsewhere.
    fileprivate var hasNoBody: Bool { body.isEmpty && bodySize == 0 }

    /// The body, from which a decoder of this package makes its value.
    ///
    /// - Throws: ``RequestError/Code/undecodable`` for a body that is not in memory. Empty data instead would be wrong.
    var bodyInMemory: Data {
        get throws {
            guard !body.isEmpty || bodySize == 0 else {
                throw RequestError(.undecodable, stage: .decode, head: head, reason: "the body is not in memory")
            }
            return body
        }
    }
}

extension ResponseHead {
    /// The media type that the response declares; `nil` if it declares none, or one that cannot be read.
    var mediaType: MediaType? { field("Content-Type").flatMap(MediaType.ofField) }

    /// The charset that the response declares; `nil` if it declares none.
    ///
    /// - Throws: ``RequestError/Code/undecodable`` for an unknown charset, or for one in a field that cannot be read. A
    ///   guessed charset would give wrong text.
    var declaredCharset: Charset? {
        get throws {
            guard let field = field("Content-Type") else { return nil }
            guard let name = MediaType.ofField(field)?.parameters["charset"] else {
                guard !MediaType.mentionsCharset(in: field) else { throw undecodable("cannot be read") }
                return nil
            }
            guard let charset = Charset(name: name) else { throw undecodable("is not known") }
            return charset
        }
    }

    private func undecodable(_ what: String) -> RequestError {
        RequestError(.undecodable, stage: .decode, head: self, reason: "the charset \(what)")
    }
}

/// A type that has a value for a response without content, such as a response with the status 204.
public protocol EmptyRepresentable {
    /// The value of an empty body.
    static var emptyValue: Self { get }
}

extension Data: EmptyRepresentable {
    /// No bytes.
    public static var emptyValue: Data { Data() }
}

extension String: EmptyRepresentable {
    /// `""`.
    public static var emptyValue: String { "" }
}

extension Optional: EmptyRepresentable {
    /// `nil`.
    public static var emptyValue: Wrapped? { .none }
}

/// Makes an error from the body of a response whose status is rejected. It is one closure; one is ready-made.
///
/// The error becomes the ``RequestError/underlying`` of the ``RequestError``, which keeps its code, status and head.
/// There is no such error if the body is longer than ``RequestConfiguration/errorBodyLimit``, or if no error can be
/// made from it.
public struct ErrorBodyDecoder: Sendable {
    /// Makes an error from a body. If the body holds no error, it returns `nil` or throws.
    public let decode: @Sendable (_ head: ResponseHead, _ body: Data) throws -> (any Error)?

    /// Makes a decoder from one function.
    ///
    /// The function is called once for each rejected response, on the Task of the operation. It should return quickly.
    public init(_ decode: @escaping @Sendable (_ head: ResponseHead, _ body: Data) throws -> (any Error)?) {
        self.decode = decode
    }

    /// An error from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the error.
    ///   - makeDecoder: Makes the decoder for each body. A `JSONDecoder` with its defaults if not given.
    public static func json<Failure: Error & Decodable>(
        _ type: Failure.Type, decoder makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> ErrorBodyDecoder {
        ErrorBodyDecoder { _, body in try makeDecoder().decode(type, from: body) }
    }
}

extension ErrorBodyDecoder {
    /// Adds the error from the body as the cause of an attempt's failure. The failure stays as it is if the status was
    /// not rejected. If the body gives no error, the failure keeps its earlier cause.
    func explained(_ error: any Error) -> any Error {
        guard var failure = error as? TransferFailure, let refusal = failure.error as? RequestError,
            refusal.code == .unacceptableStatus, let head = refusal.head ?? failure.head,
            // Of a longer body only a part is kept, and a part cannot be decoded.
            failure.bodySize == failure.bodyPrefix.count
        else { return error }
        let cause: (any Error)?
        do { cause = try decode(head, failure.bodyPrefix) } catch { return failure }
        var explained = RequestError(
            refusal.code, stage: refusal.stage, underlying: cause ?? refusal.underlying, head: head,
            bodyPrefix: failure.bodyPrefix, reason: refusal.reason)
        explained.readProblem = refusal.readProblem
        explained.subject = refusal.subject
        failure.error = explained
        return failure
    }
}
