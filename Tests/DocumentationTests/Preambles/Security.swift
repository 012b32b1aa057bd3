import Foundation
import RequestOperations

private nonisolated(unsafe) var configuration = RequestConfiguration()
private let nextYear = Date()
private func password() async throws -> String { "" }
