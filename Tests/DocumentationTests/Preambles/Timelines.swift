import RequestOperations

private let url = URL(fileURLWithPath: "/")
private let file = URL(fileURLWithPath: "events.jsonl")
private let queue = RequestQueue()
private let configuration = RequestConfiguration()
