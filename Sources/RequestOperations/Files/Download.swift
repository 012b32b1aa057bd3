/// The files of a download, over all its attempts.
///
/// Everything that reads or writes a file runs on the queue of the download, because a disk may block. `end()` is the
/// exception.
final class Download: Sendable {
    let plan: DownloadPlan
    let queue = DispatchQueue(label: "RequestOperations.Download")
    let state: Locked<DownloadState>
    /// Chooses the place of the file instead of the plan. `nil` means the plan's place. It gets the head of a response, the
    /// plan's place, and the length of the whole file, if it is known.
    let choice = Locked<(@Sendable (ResponseHead, URL, Int64?) throws -> URL)?>(nil)

    init(_ plan: DownloadPlan) {
        self.plan = plan
        state = Locked(DownloadState(segments: plan.segments))
    }

    deinit {
        end()
    }

    // MARK: An attempt

    /// Begins an attempt. Earlier attempts may no longer write.
    ///
    /// - Parameters:
    ///   - request: The request of the attempt, to which the fields of a range request are added.
    ///   - subject: The URL or key of the file.
    /// - Throws: A `RequestError` if the file certainly cannot get to its place.
    func begin(_ request: inout URLRequest, subject: String) async throws -> DownloadAttempt {
        let callerAsksForRange = request.value(forHTTPHeaderField: "Range") != nil
        let mayResume =
            plan.resumption != .never && !callerAsksForRange && (request.httpMethod ?? "GET").uppercased() == "GET"
        let (number, asked) = try await queue.run { [self] in
            guard let number = state.withLock({ $0.beginAttempt() }) else { throw CancellationError() }
            try plan.check(replacing: state.withLock { $0.published })
            return (number, mayResume ? try rangeRequest(for: subject) : nil)
        }
        // A range of a compressed form is of no use later.
        if mayResume { request.setDefault("identity", for: "Accept-Encoding") }
        asked?.ask(in: &request)
        return DownloadAttempt(
            download: self, number: number, asked: asked, callerAsksForRange: callerAsksForRange, mayResume: mayResume,
            subject: subject)
    }

    /// The request for what is missing; `nil` for the whole. Called on the queue.
    private func rangeRequest(for subject: String) throws -> RangeRequest? {
        if state.withLock({ $0.file })?.isGone == true {
            dropSegments()
            state.withLock { $0.dropFile() }
        }
        if state.withLock({ $0.file }) == nil, let place = plan.sharedPlace(for: subject),
            let file = try PartialFile.existing(at: place)
        {
            // The operation may end now. The file is then left as it was.
            let record = PartialRecord(at: place.record)
            guard state.withLock({ $0.keep(file, record) }) else { throw CancellationError() }
            try takeOverSegments(of: file, record)
        }
        try moveReachedSegments()
        let (file, record) = state.withLock { ($0.file, $0.record) }
        return part(of: file.flatMap { record?.rangeRequest(from: $0.size, of: PartialRecord.identity(of: subject)) })
    }

    /// Checks on the queue that an attempt may still write.
    func check(_ attempt: Int) throws {
        guard state.withLock({ $0.mayWrite(attempt) }) else { throw CancellationError() }
    }

    // MARK: A response

    /// Prepares the partial file for the content of a response. Returns it. Called on the queue.
    func open(for head: ResponseHead, _ verdict: RangeVerdict, of attempt: DownloadAttempt) throws -> PartialFile {
        // With status 416 the content is that of an error page.
        let isOfFile = !head.hasContentCoding && verdict != .complete
        let digest = isOfFile ? head.field("Repr-Digest").flatMap(FileDigest.strongest) : nil
        let file: PartialFile
        if verdict.beginsFile {
            file = try begin(head, verdict, digest, of: attempt)
        } else {
            file = try goOn(head, verdict, digest)
        }
        for digest in digests { try file.digest(digest.algorithm) }
        return file
    }

    private func begin(
        _ head: ResponseHead, _ verdict: RangeVerdict, _ digest: FileDigest?, of attempt: DownloadAttempt
    ) throws -> PartialFile {
        let name = plan.name(in: head)
        let total = Self.total(of: head, verdict)
        let published = state.withLock { $0.published }
        let placement = plan.placement(of: try target(for: head, name: name, total: total), replacing: published)
        try placement.makeFolder()
        let replaces = try placement.check()
        let shared = plan.sharedPlace(for: attempt.subject)
        let file = try emptyFile(
            in: placement.target.deletingLastPathComponent(), at: shared, isPrivate: replaces)
        let mayResume = attempt.mayResume && !head.hasContentCoding && head.field("Accept-Ranges") != "none"
        let record = PartialRecord(
            identity: PartialRecord.identity(of: attempt.subject), location: Redaction.location(of: head.url),
            validator: mayResume ? StrongValidator(head) : nil, total: total, name: name)
        state.withLock {
            $0.begin(record, target: placement.target, digest: attempt.callerAsksForRange ? nil : digest)
        }
        if shared != nil, record.validator != nil { try record.write(to: file.place.record) }
        return file
    }

    private func target(for head: ResponseHead, name: String?, total: Int64?) throws -> URL {
        let place = try plan.target(for: head, name: name)
        guard let choose = choice.withLock({ $0 }) else { return place }
        do { return try choose(head, place, total) } catch {
            // The file is not wanted, so no partial file is left for other operations.
            state.withLock { $0.record = nil }
            throw error
        }
    }

    /// The length of the whole file, as the response that begins it says.
    private static func total(of head: ResponseHead, _ verdict: RangeVerdict) -> Int64? {
        if case .beginning(let total) = verdict { return total }
        // The part of a file that the caller asks for has a length of its own.
        return head.status == 206 ? nil : head.lengthOfWhole
    }

    /// The partial file without bytes. It is made if there is none.
    private func emptyFile(in folder: URL, at shared: PartialPlace?, isPrivate: Bool) throws -> PartialFile {
        dropSegments()
        if let file = state.withLock({ $0.file }) {
            if file.place.folder.path == folder.path, !file.isGone {
                try file.empty()
                return file
            }
            file.remove()
            state.withLock { $0.dropFile() }
        }
        let file = try PartialFile.made(at: shared ?? .unique(in: folder), isPrivate: isPrivate)
        guard state.withLock({ $0.keep(file, nil) }) else {
            file.remove()
            throw CancellationError()
        }
        try file.empty()
        return file
    }

    private func goOn(_ head: ResponseHead, _ verdict: RangeVerdict, _ digest: FileDigest?) throws -> PartialFile {
        let (known, record, target, published) = state.withLock { ($0.file, $0.record, $0.target, $0.published) }
        // The request was for the rest of this file.
        guard let file = known, let record else { throw CancellationError() }
        let total = if case .rest(let total) = verdict { total } else { file.size as Int64? }
        let place = try target ?? plan.placement(of: self.target(for: head, name: record.name, total: total)).target
        if target == nil { try FilePlacement(target: place, ifExists: plan.ifExists, replacing: published).check() }
        state.withLock { $0.goOn(total: total, target: place, digest: digest) }
        return file
    }

    /// Checks the length of the file after the last byte of a response. Called on the queue.
    ///
    /// - Parameters:
    ///   - file: The partial file.
    ///   - head: The head of the response.
    ///   - mayBeShorter: Whether only a part of the file was requested.
    func checkLength(of file: PartialFile, _ head: ResponseHead, mayBeShorter: Bool = false) throws {
        guard let total = state.withLock({ $0.record?.total }), file.size != total else { return }
        if file.size < total {
            if mayBeShorter { return }
            throw RequestError(
                .truncatedBody, stage: .transfer, head: head, reason: "\(file.size) of \(total) bytes arrived")
        }
        try spoil(file)
        throw RequestError(
            .malformedResponse, stage: .transfer, head: head, reason: "more than \(total) bytes arrived")
    }

    /// Drops wrong bytes, so that no later attempt continues after them. Called on the queue.
    func spoil(_ file: PartialFile) throws {
        dropSegments()
        state.withLock { $0.record = nil }
        try file.empty()
    }

    // MARK: The end

    /// Checks the digests of the whole file.
    ///
    /// - Throws: A `RequestError` with the code `digestMismatch`. The bytes are then dropped.
    func verify(_ head: ResponseHead) async throws {
        try await queue.run { [self] in
            // Without a file, a subclass has made a task of its own. `publish` then reports that.
            guard let file = state.withLock({ $0.file }) else { return }
            for digest in digests where try file.digest(digest.algorithm) != digest {
                let whose = digest == plan.checksum ? "the caller" : "the server"
                try spoil(file)
                throw RequestError(
                    .digestMismatch, stage: .validate, head: head,
                    reason: "the file does not have the \(digest.algorithm.rawValue) that \(whose) named")
            }
        }
    }

    /// The digests that the file must have.
    private var digests: [FileDigest] {
        var digests = [plan.checksum].compactMap(\.self)
        for digest in state.withLock({ $0.serverDigests }) where !digests.contains(digest) { digests.append(digest) }
        return digests
    }

    /// Whether the attempt brought the file further than any before.
    func hasGrown() async -> Bool {
        (try? await queue.run { [self] in state.withLock { $0.noteGrowth() } }) ?? false
    }

    /// Puts the complete file in its place.
    func publish(_ head: ResponseHead) async throws -> DownloadedFile {
        try await queue.run { [self] in
            let (isOver, target, resumed, published) = state.withLock {
                ($0.isOver, $0.target, $0.resumedBytes, $0.published)
            }
            guard !isOver else { throw CancellationError() }
            guard let target, let file = state.withLock({ $0.beginMove() }) else {
                throw RequestError(
                    .unsupported, stage: .decode, head: head,
                    reason: "the task that makeTask(for:) returned does not write the file of the download")
            }
            do {
                try checkLength(of: file, head)
                try file.sync()
                // That can take seconds. An operation that has ended meanwhile must not make the file appear.
                guard !state.withLock({ $0.isOver }) else { throw CancellationError() }
                guard !file.isGone else {
                    throw RequestError(.fileFailed, stage: .decode, head: head, reason: "the partial file was removed")
                }
                let url = try FilePlacement(target: target, ifExists: plan.ifExists, replacing: published).move(
                    file.file)
                let new = PublishedFile(target: target, url: url)
                state.withLock { $0.moved(new) }
                file.removeRecord()
                return DownloadedFile(
                    url: url, size: file.size, resumedBytes: resumed, verifiedDigests: digests, head: head)
            } catch {
                if state.withLock({ $0.moveFailed() }) { leave(file) }
                throw error
            }
        }
    }

    /// Called when the operation has ended. Removes the partial file, unless another operation may resume it.
    func end() {
        if let file = state.withLock({ $0.end() }) { leave(file) }
    }

    private func leave(_ file: PartialFile) {
        let mayGoOn = state.withLock { $0.record?.validator != nil }
        if plan.leavesPartials, mayGoOn, !file.isEmpty {
            // Freeing the segments ends their locks. Another operation may begin at once, while something still refers to this
            // one. This operation writes nothing on the queue any more.
            _ = state.withLock { $0.takeSegments() }
            queue.async { file.unlock() }
            return
        }
        dropSegments()
        file.remove()
    }
}
