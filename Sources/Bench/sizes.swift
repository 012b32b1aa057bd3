import RequestOperations
func sizes() {
    print("TransportTask", MemoryLayout<TransportTask>.size, "TransferTimings", MemoryLayout<TransferTimings>.size, "TransportResponse", MemoryLayout<TransportResponse>.size, "TransferFailure", MemoryLayout<TransferFailure>.size, "Attempt", MemoryLayout<Attempt>.size, "RequestError", MemoryLayout<RequestError>.size, "ResponseHead", MemoryLayout<ResponseHead>.size, "AttemptFailure", MemoryLayout<AttemptFailure>.size, "RequestDecision", MemoryLayout<RetryDecision>.size, "URLRequest", MemoryLayout<URLRequest>.size, "Limits", MemoryLayout<TransferLimits>.size, "RetryPolicy", MemoryLayout<RetryPolicy>.size)
}
