import Foundation
import RequestOperations

/// What it costs to encode a value, again and again.
struct EncodingOrder: Codable, Sendable {
    /// Who encodes.
    enum Encoder: String, Codable, CaseIterable {
        /// Foundation's encoder with its defaults.
        case json
        /// Foundation's encoder with sorted keys, as the form encoder has them.
        case sortedJSON
        /// The form encoder with its defaults.
        case form
    }

    /// What is encoded.
    enum Subject: String, Codable, CaseIterable {
        /// Six scalars, as the query of a usual request has.
        case query
        /// A user with nested values and arrays.
        case record
        /// A dictionary of 200 texts.
        case dictionary
    }

    var encoder: Encoder
    var subject: Subject
    var repetitions: Int

    /// Encodes; each result is looked at.
    func carryOut() throws -> Sample {
        let encode = encoder.function
        switch subject {
        case .query: return try measure { try encode(QueryValue()) }
        case .record: return try measure { try encode(RecordValue()) }
        case .dictionary:
            let texts = Dictionary(uniqueKeysWithValues: (0..<200).map { ("name\($0)", "value & more \($0)") })
            return try measure { try encode(texts) }
        }
    }

    private func measure(_ encode: () throws -> Data) throws -> Sample {
        var length = 0
        for _ in 0..<repetitions / 10 { length += try encode().count }
        let before = Usage()
        for _ in 0..<repetitions { length += try encode().count }
        let after = Usage()
        guard length > 0 else { throw BenchmarkError("nothing was encoded") }
        var sample = Sample()
        sample.values[.cpu] = after.cpuSeconds(since: before) / Double(repetitions) * 1e6
        return sample
    }
}

extension EncodingOrder.Encoder {
    fileprivate var function: (any Encodable) throws -> Data {
        switch self {
        case .json:
            let encoder = JSONEncoder()
            return { try encoder.encode($0) }
        case .sortedJSON:
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return { try encoder.encode($0) }
        case .form:
            let encoder = URLEncodedFormEncoder()
            return { try encoder.encodeData($0) }
        }
    }
}

private struct QueryValue: Encodable {
    var text = "red & blue"
    var page = 3
    var pageSize = 50
    var isSorted = true
    var ratio = 0.75
    var missing: String?
}

private struct RecordValue: Encodable {
    var identifier = 1_234_567
    var name = "Ada Lovelace"
    var address = Address()
    var tags = ["mathematics", "engines", "poetry"]
    var scores = [1, 2, 3, 5, 8, 13, 21, 34]
    var created = Date(timeIntervalSinceReferenceDate: 700_000_000)
    var friends = [Address(), Address()]
    var flags = ["active": true, "admin": false]

    struct Address: Encodable {
        var street = "12 St James's Square"
        var city = "London"
        var code = "SW1Y 4JH"
        var latitude = 51.507
    }
}
