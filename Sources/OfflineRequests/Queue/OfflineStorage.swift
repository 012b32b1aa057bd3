public import Foundation
import RequestOperations

/// Where a queue keeps its records.
public struct OfflineStorage: Sendable {
    /// What a store needs to know of its queue.
    package struct Opening: Sendable {
        package let name: String
        /// How the queue delivers, with numbers that can be calculated with.
        package let configuration: OfflineConfiguration
        /// Reports what happened to the store itself. Called on any thread.
        package let onEvent: @Sendable (OfflineEvent) -> Void

        package init(
            name: String, configuration: OfflineConfiguration, onEvent: @escaping @Sendable (OfflineEvent) -> Void
        ) {
            self.name = name
            self.configuration = configuration
            self.onEvent = onEvent
        }
    }

    /// What a queue of a name is known by in this process. Two values for one store give the same text.
    let place: @Sendable (String) async throws -> String
    let open: @Sendable (Opening) async throws -> any OfflineStore
    /// The directory of the files; `nil` if there is none.
    let directory: URL?

    /// Makes a storage that is not in files.
    ///
    /// - Parameters:
    ///   - place: What the store is known by in this process. Put no password into it.
    ///   - open: Opens the store of a queue. Called once for each opening of a queue.
    package init(place: String, open: @escaping @Sendable (Opening) async throws -> any OfflineStore) {
        self.place = { "\(place)/\($0)" }
        self.open = open
        directory = nil
    }

    /// SQLite in a directory on a local disk. One process at a time sends.
    ///
    /// - Parameter directory: The directory of the files. It is made if it does not exist.
    public static func directory(_ directory: URL) -> OfflineStorage { OfflineStorage(directory: directory) }

    private init(directory: URL) {
        place = { name in
            // Links and `..` must not make two queues of one.
            try await BlockingWork.run {
                do { try QueueFiles.makeFolder(directory) } catch { throw OfflineQueueError(wrapping: error) }
                return directory.resolvingSymlinksInPath().standardizedFileURL.appendingPathComponent(name).path
            }
        }
        open = { opening in
            let configuration = opening.configuration
            return try await SQLiteStore.open(
                name: opening.name, directory: directory, outcomeRetention: configuration.outcomeRetention,
                lanePatience: configuration.lanePause?.failingFor, date: configuration.date,
                clock: configuration.request.clock,
                onRecovery: { opening.onEvent(.recovered($0)) }, onFailure: { opening.onEvent(.storeFailed($0)) })
        }
        self.directory = directory
    }
}
