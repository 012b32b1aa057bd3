import RequestOperations

private struct Weather: Decodable, Sendable {
    let name: String
}

private struct Post: Decodable, Sendable {
    let user: Int
}

private struct User: Decodable, Sendable {
    let name: String
}

private struct Foo: Decodable, Sendable {
    let count: Int
}

private struct Envelope: Decodable, Sendable {
    let code: Int
}

private struct BusinessError: Error {
    let code: Int
}

private struct NothingToDo: Error {}

private struct OpenWeather: Endpoint {
    typealias Response = Weather
    let path = "data/2.5/weather"
    var lat: String
    var lon: String
    var userInfo: String
}

private let client = RequestClient()
private let center = RequestClient()
private let task = client.operation(for: OpenWeather(lat: "", lon: "", userInfo: ""))
private let parameters: [String: ParameterValue] = [:]
private let image = Data()
private let file = URL(fileURLWithPath: "/")
private let folder = URL(fileURLWithPath: "/")
private let certificates = URL(fileURLWithPath: "/")
