import Foundation

/// What a body of JSON holds: a list of these.
struct Record: Codable, Equatable, Sendable {
    let id: Int
    let name: String
    let email: String
    let balance: Double
    let isActive: Bool
    let tags: [String]

    /// The list of all, of which the JSON is a little longer than 1 MiB.
    static let all = (0..<7200).map { number in
        Record(
            id: number, name: "Person number \(number)", email: "person.\(number)@example.com",
            balance: Double(number) * 0.25, isActive: number % 3 != 0, tags: ["north", "tag \(number % 17)", "fast"])
    }

    /// The JSON of all.
    static func encodedAll() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(all)
    }
}
