/// What a retry took from a budget. It is a reference, because few requests take anything but all of them have room for
/// it.
final class RetryDraw: Sendable {
    enum Kind: Sendable {
        case bucket(RetryBucket.Terms)
        case quota(RetryBudget.Costs, tokens: Int)
    }

    private let kind: Kind
    private let origin: Origin
    private let table: BudgetTable

    init(_ kind: Kind, of origin: Origin, from table: BudgetTable) {
        (self.kind, self.origin, self.table) = (kind, origin, table)
    }

    /// Gives the tokens back, because the retry is not made.
    func takeBack() {
        table.takeBack(kind, of: origin)
    }

    /// Records that the retry succeeded. This brings back the tokens of a quota.
    func succeeded() {
        if case .quota = kind { takeBack() }
    }
}
