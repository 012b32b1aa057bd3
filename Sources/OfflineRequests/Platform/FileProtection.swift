import Foundation

/// What Apple's systems ask of files that outlive the process. Nothing on Linux.
enum FileProtection {
    /// Protects a directory until the first unlock after a start of the device, and keeps it out of backups.
    ///
    /// Files that are made in the directory later have the same protection. This part has only been compiled for
    /// Apple's platforms in review, and was never run there.
    static func apply(to directory: URL) throws {
        #if canImport(Darwin)
            try FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                ofItemAtPath: directory.path)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var directory = directory
            try directory.setResourceValues(values)
        #endif
    }
}
