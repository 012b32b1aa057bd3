extension URLSession {
    /// Makes a task that sends a request with the first `length` bytes of a file as its body.
    func uploadTask(with request: URLRequest, from file: URL, length: Int64) -> URLSessionTask {
        #if canImport(FoundationNetworking)
            dataTask(with: request.carrying(FileBodyStream(file, length: length)))
        #else
            uploadTask(with: request, fromFile: file)
        #endif
    }

    /// Makes the same task with a completion handler.
    func uploadTask(
        with request: URLRequest, from file: URL, length: Int64,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionTask {
        #if canImport(FoundationNetworking)
            dataTask(
                with: request.carrying(FileBodyStream(file, length: length)), completionHandler: completionHandler)
        #else
            uploadTask(with: request, fromFile: file, completionHandler: completionHandler)
        #endif
    }
}

#if canImport(FoundationNetworking)
    /// A file as the body of a request, for Foundation on Linux.
    ///
    /// Foundation's own upload from a file kills the process. It reads the file in parallel with the transfer, and
    /// traps when a piece comes after the transfer has ended. That happens when a transfer is cancelled or refused
    /// midway. With a stream, Foundation takes the bytes only at the moment when it sends them.
    final class FileBodyStream: InputStream {
        let length: Int64
        private let file: InputStream
        private var left: Int64

        /// Makes a stream of the first bytes of a file. It fails if the file turns out to have fewer bytes.
        init(_ url: URL, length: Int64) {
            self.length = length
            left = length
            file = InputStream(url: url) ?? InputStream(data: Data())
            super.init(data: Data())
        }

        override func open() { file.open() }

        override func close() { file.close() }

        override var streamStatus: Status { file.streamStatus }

        override var streamError: (any Error)? { file.streamError }

        override var hasBytesAvailable: Bool { left > 0 }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            guard left > 0 else { return 0 }
            let count = file.read(buffer, maxLength: Int(min(Int64(maxLength), left)))
            guard count > 0 else { return -1 }
            left -= Int64(count)
            return count
        }
    }

    extension URLRequest {
        /// The request with a stream as its body. The length of the stream is sent too.
        fileprivate func carrying(_ stream: FileBodyStream) -> URLRequest {
            var request = self
            request.httpBodyStream = stream
            request.setValue("\(stream.length)", forHTTPHeaderField: "Content-Length")
            // libcurl drops a field whose value is blank, and does not send its own field of that name either. Without
            // that, the request would have chunks and a media type that Foundation invents for streams.
            for name in ["Transfer-Encoding", "Content-Type"] where request.value(forHTTPHeaderField: name) == nil {
                request.setValue(" ", forHTTPHeaderField: name)
            }
            return request
        }
    }
#endif
