#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    @Suite(.timeLimit(.minutes(1)))
    struct StreamUploadTests {
        @Test func `Pieces of one byte are taken as fast as they come`() async throws {
            let count = 262_144
            let left = Locked(count)
            let upload = StreamUpload(
                BodyStream {
                    BodyStream.Reader {
                        left.withLock { left in
                            left -= 1
                            return left >= 0 ? Data([7]) : nil
                        }
                    }
                })
            let reader = upload.start {}
            defer { reader.cancel() }
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            var taken = 0
            // All of them are read ahead before the first is taken.
            await eventually { left.withLock { $0 <= 1 } }
            while taken < count {
                switch buffer.withUnsafeMutableBytes({ upload.read(into: $0) }) {
                case .bytes(let count): taken += count
                case .notYet: await Task.yield()
                case .failed(let error): throw error
                }
            }
            #expect(taken == count)
        }
    }
#endif
