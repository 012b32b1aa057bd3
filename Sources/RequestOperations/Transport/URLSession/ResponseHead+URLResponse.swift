extension ResponseHead {
    /// Makes the head of a Foundation response. A response that is not HTTP gets the status 0 and its media type as a
    /// field.
    init(_ response: URLResponse) {
        if let response = response as? HTTPURLResponse {
            self.init(response)
            return
        }
        var fields: [(name: String, value: String)] = []
        if let type = response.mimeType {
            fields.append(("Content-Type", response.textEncodingName.map { "\(type);charset=\($0)" } ?? type))
        }
        // Only a response that was made without a URL has none. Foundation makes no such response.
        self.init(status: 0, url: response.url ?? URL(fileURLWithPath: "/"), fields: fields)
    }

    /// The length of the body, if the head declares it and the body has no content coding.
    var declaredLength: Int64? {
        guard let length = field("Content-Length").flatMap(Int64.init), length >= 0 else { return nil }
        let coding = field("Content-Encoding")
        return coding == nil || coding == "identity" ? length : nil
    }
}
