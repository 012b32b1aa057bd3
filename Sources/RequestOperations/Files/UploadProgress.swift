extension TransferProgress {
    /// The progress of the request's body alone, if its length is known. The response to an upload is not what one waits for.
    var ofBodySent: TransferProgress {
        guard let bytesToSend else { return self }
        return TransferProgress(
            bytesSent: min(bytesSent, bytesToSend), bytesToSend: bytesToSend, bytesToReceive: 0)
    }

    /// The progress of an upload, of which a request has all the rest.
    ///
    /// The length of the response counts as soon as it is known. Until then it counts as nothing, so that the progress of
    /// the upload has a total while it is sent.
    ///
    /// - Parameters:
    ///   - offset: How many bytes the server had before the request.
    ///   - size: The number of bytes of the whole upload; `nil` if it is unknown.
    func ofUpload(from offset: Int64 = 0, of size: Int64?) -> TransferProgress {
        var progress = self
        progress.bytesToSend = size ?? bytesToSend
        // A transport may count the framing of chunks.
        progress.bytesSent = min(bytesSent + offset, progress.bytesToSend ?? .max)
        if progress.bytesToSend != nil { progress.bytesToReceive = bytesToReceive ?? bytesReceived }
        return progress
    }
}
