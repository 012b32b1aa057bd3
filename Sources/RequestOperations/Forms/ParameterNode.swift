/// What an `Encodable` value wrote, before it becomes a query, a body or a header field.
enum ParameterNode {
    /// An optional property without a value.
    case absent
    /// A `nil` that was written explicitly.
    case null
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case float(Float)
    case double(Double)
    case decimal(Decimal)
    case text(String)
    case date(Date)
    case data(Data)
    case list(ParameterList)
    case record(ParameterRecord)

    var isNil: Bool {
        switch self {
        case .absent, .null: true
        default: false
        }
    }

    var isContainer: Bool {
        switch self {
        case .list, .record: true
        default: false
        }
    }
}
