/// Downloads to files, and uploads by a protocol.
extension RequestClient {
    /// Makes the operation of a download.
    ///
    /// - Parameters:
    ///   - path: As for other requests. The method is GET.
    ///   - destination: Where the file goes.
    ///   - parameters: Parameters for the query. None by default.
    ///   - ifExists: What happens if there is a file already. ``ExistingFilePolicy/fail`` by default.
    ///   - resumption: When the download goes on where it broke off. ``DownloadResumption/betweenAttempts`` by default.
    ///   - segments: How many parts of the file are downloaded at once. 1 by default.
    ///   - checksum: The digest that the file must have. `nil`, the default, means any.
    ///   - edit: Sets what else differs for this request. Called once, before this function returns.
    public func downloadOperation(
        _ path: String, to destination: DownloadDestination, parameters: [String: ParameterValue] = [:],
        ifExists: ExistingFilePolicy = .fail, resume resumption: DownloadResumption = .betweenAttempts,
        segments: Int = 1, checksum: FileDigest? = nil, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> DownloadOperation {
        operation(.get, path, parameters, edit) { call, _, configuration in
            ClientDownload(
                call, to: destination, ifExists: ifExists, resume: resumption, segments: segments, checksum: checksum,
                configuration)
        }
    }

    /// Makes the operation of a download of an endpoint's response, with the endpoint's method and parameters. See
    /// ``downloadOperation(_:to:parameters:ifExists:resume:segments:checksum:_:)``.
    public func downloadOperation(
        for endpoint: some Endpoint, to destination: DownloadDestination, ifExists: ExistingFilePolicy = .fail,
        resume resumption: DownloadResumption = .betweenAttempts, segments: Int = 1, checksum: FileDigest? = nil,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> DownloadOperation {
        let (settings, options) = settled(edit) { endpoint.adjusted($0) }
        let prepare = { try PreparedRequest(endpoint, options, $0) }
        return make(
            options, settings, method: endpoint.method, path: endpoint.path, endpointType: type(of: endpoint), prepare
        ) { call, configuration in
            ClientDownload(
                call, to: destination, ifExists: ifExists, resume: resumption, segments: segments, checksum: checksum,
                configuration)
        }
    }

    /// Downloads a file. See ``downloadOperation(_:to:parameters:ifExists:resume:segments:checksum:_:)``.
    public func download(
        _ path: String, to destination: DownloadDestination, parameters: [String: ParameterValue] = [:],
        ifExists: ExistingFilePolicy = .fail, resume resumption: DownloadResumption = .betweenAttempts,
        segments: Int = 1, checksum: FileDigest? = nil, _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> DownloadedFile {
        let operation = downloadOperation(
            path, to: destination, parameters: parameters, ifExists: ifExists, resume: resumption, segments: segments,
            checksum: checksum, edit)
        submit(operation)
        return try await operation.value
    }

    /// Downloads the response of an endpoint. See
    /// ``downloadOperation(_:to:parameters:ifExists:resume:segments:checksum:_:)``.
    public func download(
        _ endpoint: some Endpoint, to destination: DownloadDestination, ifExists: ExistingFilePolicy = .fail,
        resume resumption: DownloadResumption = .betweenAttempts, segments: Int = 1, checksum: FileDigest? = nil,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> DownloadedFile {
        let operation = downloadOperation(
            for: endpoint, to: destination, ifExists: ifExists, resume: resumption, segments: segments,
            checksum: checksum, edit)
        submit(operation)
        return try await operation.value
    }

    /// Makes the operation of an upload by a protocol, such as ``UploadProtocol/tus``.
    ///
    /// - Parameters:
    ///   - body: Bytes, a file or a stream.
    ///   - path: As for other requests.
    ///   - method: `POST` by default. ``UploadProtocol/tus`` has its own.
    ///   - parameters: Parameters for the query. None by default.
    ///   - uploadProtocol: How the body gets to the server.
    ///   - decoder: Makes the value from the last response.
    ///   - edit: Sets what else differs for this request. A ``RequestOptions/body`` replaces the body.
    public func uploadOperation<Value: Sendable>(
        _ body: RequestBody, to path: String, method: HTTPMethod = .post, parameters: [String: ParameterValue] = [:],
        by uploadProtocol: UploadProtocol, decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) -> UploadOperation<Value> {
        operation(
            method, path, parameters,
            { options in
                options.body = body
                edit(&options)
            },
            { call, options, configuration in
                ClientUpload(call, options.body ?? body, by: uploadProtocol, decoder: decoder, configuration)
            })
    }

    /// Uploads a body by a protocol. See ``uploadOperation(_:to:method:parameters:by:decoder:_:)``.
    public func upload<Value: Sendable>(
        _ body: RequestBody, to path: String, method: HTTPMethod = .post, parameters: [String: ParameterValue] = [:],
        by uploadProtocol: UploadProtocol, decoder: ResponseDecoder<Value>,
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Value {
        let operation = uploadOperation(
            body, to: path, method: method, parameters: parameters, by: uploadProtocol, decoder: decoder, edit)
        submit(operation)
        return try await operation.value
    }

    private func operation<Value: Sendable, Kind: URLRequestOperation<Value> & ClientRequest>(
        _ method: HTTPMethod, _ path: String, _ parameters: [String: ParameterValue],
        _ edit: (inout RequestOptions) -> Void,
        _ makeOperation: (ClientCall, RequestOptions, RequestConfiguration) -> Kind
    ) -> Kind {
        let (settings, options) = settled(edit)
        let prepare = { try PreparedRequest(method, path, object: nil, parameters, options, $0) }
        return make(options, settings, method: method, path: path, endpointType: nil, prepare) {
            makeOperation($0, options, $1)
        }
    }
}
