#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The easy handles of a transport that serve no transfer now.
    final class EasyHandlePool: Sendable {
        private let settings: HandleSettings
        private let sockets: ConnectionTable
        private let idle = Locked<[BufferSize: [EasyHandle]]>([:])
        private static let limit = 256

        init(_ settings: HandleSettings, _ sockets: ConnectionTable) {
            self.settings = settings
            self.sockets = sockets
        }

        func take(_ size: BufferSize) -> EasyHandle {
            idle.withLock { $0[size]?.popLast() } ?? EasyHandle(settings, sockets, size)
        }

        func give(_ handle: EasyHandle) {
            handle.recycle()
            if handle.isWornOut { return }
            let surplus: EasyHandle? = idle.withLock { idle in
                guard idle[handle.bufferSize, default: []].count < Self.limit else { return handle }
                idle[handle.bufferSize, default: []].append(handle)
                return nil
            }
            // The surplus handle is freed outside the lock.
            withExtendedLifetime(surplus) {}
        }

        func removeAll() {
            let handles = idle.withLock { idle in
                defer { idle = [:] }
                return idle
            }
            withExtendedLifetime(handles) {}
        }
    }
#endif
