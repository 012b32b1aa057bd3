import Foundation
import RequestOperationsTesting

/// A transport that breaks one sentence of the contract and keeps the others as far as ``ScriptedTransport`` does.
struct BrokenTransport: Transport {
    let base: any Transport
    let fault: Fault

    enum Fault: Sendable {
        case reportsHeadsTwice
        case reportsHeadsLate
        case reportsHeadsOnAnotherTask
        case deliversRejectedBodies
        case losesHeadsOfFailures
        case wrapsErrorsOfHandlers
        case losesTheLastByte
        case touchesFilesEarly
        case ignoresSizeLimits
        case ignoresCancellation
        case leavesOutTheLastProgress
        case followsRedirects
    }

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        var task = task
        switch fault {
        case .reportsHeadsTwice:
            return try await base.perform(task) { head in
                try onHead(head)
                try onHead(head)
            }
        case .reportsHeadsLate:
            let response = try await base.perform(task) { _ in }
            try onHead(response.head)
            return response
        case .reportsHeadsOnAnotherTask:
            return try await Task.detached { [base, task] in try await base.perform(task, onHead: onHead) }.value
        case .deliversRejectedBodies:
            let response = try await base.perform(task) { _ in }
            do { try onHead(response.head) } catch { throw TransferFailure(error, head: response.head, phase: .body) }
            return response
        case .losesHeadsOfFailures:
            do { return try await base.perform(task, onHead: onHead) } catch var failure as TransferFailure {
                failure.head = nil
                throw failure
            }
        case .wrapsErrorsOfHandlers:
            do { return try await base.perform(task, onHead: onHead) } catch var failure as TransferFailure {
                failure.error = RequestError(.unknown, stage: .transfer, underlying: failure.error)
                throw failure
            }
        case .losesTheLastByte:
            var response = try await base.perform(task, onHead: onHead)
            response.body = response.body.dropLast()
            return response
        case .touchesFilesEarly:
            if case .file(let file) = task.destination { try Data().write(to: file) }
            return try await base.perform(task, onHead: onHead)
        case .ignoresSizeLimits:
            task.limits.maximumBodySize = nil
            return try await base.perform(task, onHead: onHead)
        case .ignoresCancellation:
            return try await Task { [base, task] in try await base.perform(task, onHead: onHead) }.value
        case .leavesOutTheLastProgress:
            task.onProgress = nil
            return try await base.perform(task, onHead: onHead)
        case .followsRedirects:
            let response = try await base.perform(task) { _ in }
            guard
                let target = response.head.field("Location").flatMap({ URL(string: $0, relativeTo: response.head.url) })
            else {
                try onHead(response.head)
                return response
            }
            task.request.url = target.absoluteURL
            return try await base.perform(task, onHead: onHead)
        }
    }
}
