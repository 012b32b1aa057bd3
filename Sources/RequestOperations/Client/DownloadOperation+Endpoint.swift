extension DownloadOperation {
    /// Makes an operation that downloads the response to an endpoint, with the endpoint's method and parameters.
    ///
    /// The type of the endpoint's response does not matter.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint. Its properties are read now.
    ///   - baseURL: See ``Endpoint/urlRequest(relativeTo:)``.
    ///   - destination: Where the file goes.
    ///   - ifExists: What happens if the destination already has a file. ``ExistingFilePolicy/fail`` by default.
    ///   - resumption: When the download resumes. ``DownloadResumption/betweenAttempts`` by default.
    ///   - segments: How many parts of the file are downloaded at once. 1 by default: the file comes in one response. A download
    ///     that is not resumed always comes in one response.
    ///   - checksum: The digest that the file must have. `nil`, the default, means any.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public convenience init(
        _ endpoint: some Endpoint, relativeTo baseURL: URL, to destination: DownloadDestination,
        ifExists: ExistingFilePolicy = .fail, resume resumption: DownloadResumption = .betweenAttempts,
        segments: Int = 1, checksum: FileDigest? = nil, configuration: RequestConfiguration = .default
    ) {
        let prepared = Result { try EndpointRequest(endpoint, relativeTo: baseURL) }
        self.init(
            (try? prepared.get())?.request ?? .placeholder(endpoint.method, relativeTo: baseURL), to: destination,
            ifExists: ifExists, resume: resumption, segments: segments, checksum: checksum,
            configuration: endpoint.adjusted(configuration))
        source = .prepared(prepared.map(\.makeBody))
    }
}
