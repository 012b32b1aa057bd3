#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Where an accepted body goes.
    enum BodySink {
        case memory
        case file(FileWriter)
        /// Writing to such a file may block, so the driver thread does not do it.
        case special(SpecialFile)
        case consumer(@Sendable (Data) async throws -> Void)

        init(_ destination: TransportTask.Destination) throws {
            switch destination {
            case .memory: self = .memory
            case .stream(let consumer): self = .consumer(consumer)
            case .file(let url):
                if let special = SpecialFile(url) {
                    self = .special(special)
                } else {
                    self = .file(FileWriter(try FileSink(url)))
                }
            }
        }

        var delivery: TransferMachine.Delivery {
            switch self {
            case .memory: .memory
            case .file(let file): .file(file)
            case .special, .consumer: .stream(ReceiveBuffer(expecting: 0), isPaused: false)
            }
        }

        func consume(_ piece: Data) async throws {
            switch self {
            case .memory, .file: break
            case .special(let special): try await special.write(piece)
            case .consumer(let consumer): try await consumer(piece)
            }
        }

        /// Writes the rest of a complete body.
        func finish(with kept: ReceiveBuffer?) async throws {
            switch self {
            case .memory, .consumer: break
            case .file(let file): try file.finish(with: kept)
            case .special(let special): try await special.finish()
            }
        }

        /// Gives up a file that is incomplete.
        func discard() {
            if case .file(let file) = self { file.discard() }
        }
    }
#endif
