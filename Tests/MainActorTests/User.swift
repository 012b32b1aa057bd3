/// What a server sends. It is decoded off the main actor.
nonisolated struct User: Decodable, Sendable, Equatable {
    var name: String
}
