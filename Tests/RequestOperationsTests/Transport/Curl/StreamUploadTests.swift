#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

    @Suite(.timeLimit(.minutes(5)))
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

        @Test func `Pieces that were taken are let go of by the Task, or with the upload`() async throws {
            let frees = Collector<String>()
            let left = Locked(3)
            var upload: StreamUpload? = StreamUpload(
                BodyStream {
                    BodyStream.Reader {
                        left.withLock { left in
                            left -= 1
                            return left >= 0 ? Self.piece(of: 1000, frees) : nil
                        }
                    }
                })
            await upload?.start {}.value
            var buffer = [UInt8](repeating: 0, count: 4000)
            guard case .bytes(3000)? = buffer.withUnsafeMutableBytes({ upload?.read(into: $0) }) else {
                Issue.record("Not all was read.")
                return
            }
            upload?.close()
            #expect(frees.elements.isEmpty)
            upload = nil
            await eventually { frees.elements.count == 3 }
        }

        @Test func `Memory of a body is never freed on the thread of the transport`() async throws {
            let server = try await LoopbackServer.start { _ in .empty() }
            let transport = CurlTransport.with { _ in }
            let frees = Collector<String>()
            var request = URLRequest(url: server.url)
            request.httpMethod = "POST"
            for _ in 0..<100 {
                _ = try await transport.perform(.upload(request, from: .data(Self.piece(of: 100_000, frees)))) { _ in }
                let stream = BodyStream {
                    let piece = Locked<Data?>(Self.piece(of: 1000, frees))
                    return BodyStream.Reader { piece.withLock { $0.take() } }
                }
                _ = try await transport.perform(.upload(request, from: .stream(stream))) { _ in }
            }
            await eventually { frees.elements.count == 200 }
            #expect(!frees.elements.contains("CurlTransport"))
        }

        /// Bytes that note the name of the thread that frees them.
        private static func piece(of count: Int, _ frees: Collector<String>) -> Data {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 1)
            bytes.initializeMemory(as: UInt8.self, repeating: 7, count: count)
            return Data(
                bytesNoCopy: bytes, count: count,
                deallocator: .custom { pointer, _ in
                    let name = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? "unknown"
                    frees.append(name.trimmingCharacters(in: .newlines))
                    pointer.deallocate()
                })
        }

        @Test func `Who has sent nothing of a body may begin, whatever the last request of the handle sent`() throws {
            let driver = CurlDriver(CurlTransport.with { _ in }.configuration)
            #expect(try CurlTransfer.to("a.example", over: driver).rewind())
        }
    }
#endif
