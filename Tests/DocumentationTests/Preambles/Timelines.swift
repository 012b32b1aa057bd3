import RequestOperations

private let url = URL(fileURLWithPath: "/")
private let queue = RequestQueue()
private let configuration = RequestConfiguration()
