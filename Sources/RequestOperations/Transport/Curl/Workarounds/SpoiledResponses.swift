#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    // libcurl before 8.4.
    //
    // The end of an upload over HTTP/2 may silently spoil other responses on its connection. That happens where libcurl did
    // not expect the end: the length was unknown, or the server answered with an error before it. libcurl then reads on and
    // overwrites bytes that it has yet to deliver. And a response whose consumer is slow holds up the others.
    //
    // From 8.1 on that is mended. But 8.1 to 8.3 lose answers that come before the end of an upload, and 8.3 may stop in the
    // middle of one.
    //
    // So HTTP/2 is not spoken by default. Where it is asked for, larger bodies and streamed responses go over HTTP/1.1, if
    // TLS leaves that choice. A short body is sent to its end, whatever the server answers.

    extension CurlLibrary {
        /// Whether requests that share a connection of HTTP/2 leave one another alone.
        static let sharesConnectionsSoundly = version >= Version(8, 4)
    }

    extension HandleSettings {
        /// Whether a task must not go over HTTP/2, where others may be on its connection.
        static func mustBeAlone(_ task: TransportTask, isSecure: Bool) -> Bool {
            guard !CurlLibrary.sharesConnectionsSoundly, isSecure else { return false }
            if case .stream = task.destination { return true }
            // libcurl waits before it sends such a body, and ends it if the server answers with an error.
            return !task.body.isShort || task.request.value(forHTTPHeaderField: "Expect") != nil
        }
    }

    extension RequestBody {
        /// Whether sending all of it costs little, even if the answer may arrive before the end.
        fileprivate var isShort: Bool {
            switch self {
            case .none: true
            case .data(let data): data.count <= 16 << 10
            case .file, .stream: false
            }
        }
    }
#endif
