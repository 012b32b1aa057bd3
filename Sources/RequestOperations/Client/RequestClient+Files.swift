/// Downloads to files, and uploads.
extension RequestClient {
    /// Makes the operation of a download.
    ///
    /// - Parameters:
    ///   - path: As for other requests. The method is GET.
    ///   - destination: Where the file goes.
    ///   - parameters: Parameters for the query. None by default.
    ///   - ifExists: What happens if the destination already has a file. ``ExistingFilePolicy/fail`` by default.
    ///   - resumption: When the download resumes. ``DownloadResumption/betweenAttempts`` by default.
    ///   - segments: How many parts of the file are downloaded at once. 1 by default.
    ///   - checksum: The digest that the file must have. `nil`, the default, means any.
    ///   - edit: Sets other options of this request. Called once, before this function returns.
    public func downloadOperation(
        _ path: String, to destination: DownloadDestination, parameters: [String: ParameterValue] = [:],
        ifExists: ExistingFilePolicy = .fail, resume resumption: DownloadResumption = .betweenAttempts,
        segments: Int = 1, checksum: FileDigest? = nil, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> DownloadOperation {
        make(draft(.get, path, parameters, edit)) {
            DownloadOperation(
                $0, to: destination, ifExists: ifExists, resume: resumption, segments: segments, checksum: checksum,
                configuration: $1)
        }
    }

    /// Makes the operation of a download of an endpoint's response, with the endpoint's method and parameters. See
    /// ``downloadOperation(_:to:parameters:ifExists:resume:segments:checksum:_:)``.
    public func downloadOperation(
        for endpoint: some Endpoint, to destination: DownloadDestination, ifExists: ExistingFilePolicy = .fail,
        resume resumption: DownloadResumption = .betweenAttempts, segments: Int = 1, checksum: FileDigest? = nil,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> DownloadOperation {
        make(draft(endpoint, edit)) {
            DownloadOperation(
                $0, to: destination, ifExists: ifExists, resume: resumption, segments: segments, checksum: checksum,
                configuration: $1)
        }
    }

    /// Downloads a file. See ``downloadOperation(_:to:parameters:ifExists:resume:segments:checksum:_:)``.
    public func download(
        _ path: String, to destination: DownloadDestination, parameters: [String: ParameterValue] = [:],
        ifExists: ExistingFilePolicy = .fail, resume resumption: DownloadResumption = .betweenAttempts,
        segments: Int = 1, checksum: FileDigest? = nil, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> DownloadedFile {
        try await value(
            ofSubmitted: downloadOperation(
                path, to: destination, parameters: parameters, ifExists: ifExists, resume: resumption,
                segments: segments, checksum: checksum, edit))
    }

    /// Downloads the response of an endpoint. See
    /// ``downloadOperation(_:to:parameters:ifExists:resume:segments:checksum:_:)``.
    public func download(
        _ endpoint: some Endpoint, to destination: DownloadDestination, ifExists: ExistingFilePolicy = .fail,
        resume resumption: DownloadResumption = .betweenAttempts, segments: Int = 1, checksum: FileDigest? = nil,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> DownloadedFile {
        try await value(
            ofSubmitted: downloadOperation(
                for: endpoint, to: destination, ifExists: ifExists, resume: resumption, segments: segments,
                checksum: checksum, edit))
    }

    /// Makes the operation of an upload.
    ///
    /// - Parameters:
    ///   - body: Bytes, a file or a stream. A stream that cannot be opened again is not retried.
    ///   - path: As for other requests.
    ///   - method: `POST` by default. ``UploadProtocol/tus`` has its own.
    ///   - parameters: Parameters for the query. None by default.
    ///   - uploadProtocol: How the body gets to the server. ``UploadProtocol/plain`` by default.
    ///   - decoder: Makes the value from the last response.
    ///   - edit: Sets other options, such as a `Content-Type` in ``RequestOptions/fields``. A ``RequestOptions/body`` replaces the
    ///     body. Called once, before this function returns.
    public func uploadOperation<Value: Sendable>(
        _ body: RequestBody, to path: String, method: HTTPMethod = .post, parameters: [String: ParameterValue] = [:],
        by uploadProtocol: UploadProtocol = .plain, decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> UploadOperation<Value> {
        let draft = draft(method, path, parameters) { options in
            options.body = body
            edit(&options)
        }
        let sent = draft.options.body ?? body
        return make(draft) {
            UploadOperation(sent, to: $0, by: uploadProtocol, decoder: decoder, configuration: $1)
        }
    }

    /// Uploads a body. See ``uploadOperation(_:to:method:parameters:by:decoder:_:)``.
    public func upload<Value: Sendable>(
        _ body: RequestBody, to path: String, method: HTTPMethod = .post, parameters: [String: ParameterValue] = [:],
        by uploadProtocol: UploadProtocol = .plain, decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        try await value(
            ofSubmitted: uploadOperation(
                body, to: path, method: method, parameters: parameters, by: uploadProtocol, decoder: decoder, edit))
    }

    /// Makes the operation of an upload of files in a form (RFC 7578). See ``MultipartFormData/Part``.
    ///
    /// - Parameters:
    ///   - files: The files. The parameters come before them.
    ///   - path: As for other requests.
    ///   - method: `POST` by default.
    ///   - parameters: Parameters for the form. None by default.
    ///   - decoder: Makes the value.
    ///   - edit: Sets other options of this request.
    public func uploadOperation<Value: Sendable>(
        files: [MultipartFormData.Part], to path: String, method: HTTPMethod = .post,
        parameters: [String: ParameterValue] = [:], decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> URLRequestOperation<Value> {
        operation(method, path, parameters: parameters, decoder: decoder) { options in
            options.files = files
            edit(&options)
        }
    }
}
