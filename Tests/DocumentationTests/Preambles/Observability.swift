import RequestOperations

private let client = RequestClient()
