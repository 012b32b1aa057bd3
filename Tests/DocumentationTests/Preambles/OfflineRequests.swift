import OfflineRequests
import RequestOperations

private let request = URLRequest(url: URL(fileURLWithPath: "/"))
