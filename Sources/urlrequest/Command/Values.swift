import RequestOperations

/// Reads the values of options. Each function throws ``UnusableInput``, with half a sentence, for a value that it
/// cannot use.
enum OptionValue {
    /// A time in seconds. It may have a fraction. It must be more than zero and at most a year.
    static func seconds(_ text: String) throws -> Duration {
        let digits = text.utf8.allSatisfy { "0123456789.eE+-".utf8.contains($0) }
        guard digits, let value = Double(text), value > 0, value <= 31_536_000 else {
            throw UnusableInput("it is a time in seconds, more than 0 and at most 31536000")
        }
        return .seconds(value)
    }

    /// A whole number within bounds.
    static func count(_ text: String, in bounds: ClosedRange<Int>) throws -> Int {
        guard let value = Int(text), bounds.contains(value) else {
            throw UnusableInput("it is a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        return value
    }

    /// A number of attempts per second. It may have a fraction.
    static func rate(_ text: String) throws -> Double {
        let digits = text.utf8.allSatisfy { "0123456789.eE+-".utf8.contains($0) }
        guard digits, let value = Double(text), value >= 0.001, value <= 1_000_000 else {
            throw UnusableInput("it is a number of attempts a second, from 0.001 to 1000000")
        }
        return value
    }

    /// A date and time of ISO 8601 with a zone, such as `2026-05-01T08:00:00Z`.
    static func date(_ text: String) throws -> Date {
        do { return try Date(text, strategy: .iso8601) } catch {
            throw UnusableInput("it is a date and time such as 2026-05-01T08:00:00Z")
        }
    }

    /// A method.
    static func method(_ text: String) throws -> String {
        guard RequestPreflight.isToken(text) else { throw UnusableInput("a method is a token (RFC 9110)") }
        return text
    }

    /// The pin of a public key.
    static func pin(_ text: String) throws -> ServerPin {
        guard let pin = ServerPin(text) else { throw UnusableInput("a pin is sha256/ and the Base64 of 32 bytes") }
        return pin
    }

    /// A checksum: `sha256:` or `sha512:`, and hexadecimal digits.
    static func checksum(_ text: String) throws -> FileDigest {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        let digest: FileDigest? =
            switch parts.first?.lowercased() {
            case "sha256" where parts.count == 2: .sha256(hex: parts[1])
            case "sha512" where parts.count == 2: .sha512(hex: parts[1])
            default: nil
            }
        guard let digest, !digest.bytes.isEmpty else {
            throw UnusableInput("a checksum is sha256: and 64 hexadecimal digits, or sha512: and 128")
        }
        return digest
    }

    /// A body: a text, or `@` and the path of a file. The file is read while it is sent.
    static func body(_ text: String) throws -> RequestBody {
        guard text.hasPrefix("@") else { return .data(Data(text.utf8)) }
        let path = String(text.dropFirst())
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            throw UnusableInput("\(path): \(errorText(errno))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw UnusableInput("\(path) is not a regular file") }
        return .file(URL(fileURLWithPath: path))
    }
}

#if CommandLineTool
    import ArgumentParser

    /// The arguments that say what each request is like.
    struct TemplateArguments: ParsableArguments {
        @Option(
            parsing: .unconditional, help: "The method. (default: POST for a request with a body, else GET)",
            transform: OptionValue.method)
        var method: String?

        @Option(
            name: .customLong("header"), parsing: .unconditionalSingleValue,
            help: ArgumentHelp("A header field of every request; can be given several times.", valueName: "K: V"),
            transform: { try HeaderField(line: $0) })
        var headers: [HeaderField] = []

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp(
                "The body of every request, or after @ the file that holds it.", valueName: "string|@file"),
            transform: OptionValue.body)
        var data: RequestBody?

        /// The template of the requests.
        ///
        /// - Parameter isForQueue: Whether the requests are stored in a queue.
        func template(isForQueue: Bool = false) -> RequestTemplate {
            RequestTemplate(method: method, fields: headers, body: data ?? .none, isForQueue: isForQueue)
        }
    }
#endif
