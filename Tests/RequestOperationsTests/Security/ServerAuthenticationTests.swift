import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct ServerAuthenticationTests {
    private static let digest = #"Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-256"#

    private func refusal(_ challenges: String...) -> ScriptedTransport.Answer {
        .status(401, fields: challenges.map { ("WWW-Authenticate", $0) })
    }

    /// Refuses requests without an `Authorization` that a closure accepts.
    private func server(
        _ challenges: String..., accepts: @escaping @Sendable (String) -> Bool = { _ in true }
    ) -> ScriptedTransport {
        ScriptedTransport([
            .dynamic { request in
                if let sent = request.authorization, accepts(sent) { return .body(Data("in".utf8)) }
                return .status(401, fields: challenges.map { ("WWW-Authenticate", $0) })
            }
        ])
    }

    private func configuration(
        _ transport: ScriptedTransport, _ authentication: ServerAuthentication
    ) -> RequestConfiguration {
        var configuration = RequestConfiguration.over(transport)
        configuration.hosts = HostRegistry()
        configuration.retryPolicy = .none
        configuration.authenticate(with: authentication)
        return configuration
    }

    private func fetch(
        _ configuration: RequestConfiguration, at url: String = "https://a.example/x?q=1"
    ) async throws -> Data {
        try await run(URLRequestOperation(URL(string: url)!, configuration: configuration))
    }

    private static let ada = ServerCredential.password(user: "ada", password: "pw")

    @Test func `A challenge is answered, and later requests have the answer from the start`() async throws {
        let transport = server(#"Basic realm="r""#)
        let asked = Collector<AuthenticationChallenge>()
        let configuration = configuration(
            transport,
            ServerAuthentication { challenge in
                asked.append(challenge)
                return Self.ada
            })
        for _ in 0..<3 { #expect(try await fetch(configuration) == Data("in".utf8)) }
        #expect(transport.requests.map(\.authorization) == [nil] + Array(repeating: "Basic YWRhOnB3", count: 3))
        let challenge = try #require(asked.elements.first)
        #expect(asked.count == 1 && challenge.realm == "r" && challenge.url?.absoluteString == "https://a.example/x")
    }

    @Test func `Another server is asked for itself`() async throws {
        let transport = server(#"Basic realm="r""#)
        let configuration = configuration(
            transport, ServerAuthentication(user: "ada", password: "pw", at: URL(string: "https://a.example")!))
        _ = try await fetch(configuration)
        await #expect { try await fetch(configuration, at: "https://b.example/") } throws: {
            ($0 as? RequestError)?.head?.status == 401
        }
        #expect(transport.requests.last?.authorization == nil)
    }

    @Test func `The provider is asked once for all requests that are refused at once`() async throws {
        let (transport, asked, door) = (server("Basic"), Collector<Void>(), Door())
        let configuration = configuration(
            transport,
            ServerAuthentication { _ in
                asked.append(())
                await door.pass()
                return Self.ada
            })
        let operations = (0..<20).map { _ in
            URLRequestOperation(URL(string: "https://a.example/")!, configuration: configuration)
        }
        for operation in operations { OperationQueue().addOperation(operation) }
        await eventually { transport.requests.count == 20 }
        door.open()
        for operation in operations { _ = try await operation.value }
        #expect(asked.count == 1 && transport.requests.count == 40)
    }

    @Test func `A refused credential is not sent again, and another one is`() async throws {
        let transport = server("Basic") { $0 == "Bearer right" || $0 == "Basic YWRhOm5ldw==" }
        let asked = Collector<ServerCredential?>()
        let stubborn = configuration(
            transport,
            ServerAuthentication { challenge in
                asked.append(challenge.refused)
                return Self.ada
            })
        await #expect { try await fetch(stubborn) } throws: { ($0 as? RequestError)?.head?.status == 401 }
        #expect(asked.elements == [nil, Self.ada] && transport.requests.count == 2)
        let learning = configuration(
            transport,
            ServerAuthentication { challenge in
                challenge.refused == nil ? Self.ada : .password(user: "ada", password: "new")
            })
        #expect(try await fetch(learning) == Data("in".utf8))
    }

    @Test func `The attempts of a request that is refused have a limit`() async throws {
        let transport = server("Bearer") { _ in false }
        let tokens = Locked(0)
        let configuration = configuration(
            transport,
            ServerAuthentication { _ in
                let number = tokens.withLock { number in
                    number += 1
                    return number
                }
                return .token("\(number)")
            })
        await #expect { try await fetch(configuration) } throws: { ($0 as? RequestError)?.head?.status == 401 }
        #expect(transport.requests.count == 4)
    }

    @Test func `The strongest challenge that the provider can answer is answered`() async throws {
        let transport = server("Basic realm=r", #"Digest realm="r", nonce="n", algorithm=MD5"#, "Bearer", Self.digest)
        let asked = Collector<AuthenticationChallenge>()
        let all = configuration(
            transport,
            ServerAuthentication { challenge in
                asked.append(challenge)
                return challenge.scheme == "bearer" ? .token("t") : nil
            })
        _ = try await fetch(all)
        #expect(asked.elements.map(\.scheme) == ["digest", "digest", "bearer"])
        #expect(asked.elements[0].parameters["algorithm"] == "SHA-256")
        #expect(transport.requests.last?.authorization == "Bearer t")
    }

    @Test func `Digest counts its nonce up and covers each URL`() async throws {
        let transport = server(Self.digest)
        let configuration = configuration(transport, ServerAuthentication { _ in Self.ada })
        _ = try await fetch(configuration, at: "https://a.example/x?q=%20")
        _ = try await fetch(configuration, at: "https://a.example")
        let sent = transport.requests.compactMap(\.authorization)
        #expect(sent.count == 2 && sent[0].contains("nc=00000001") && sent[1].contains("nc=00000002"))
        #expect(sent[0].contains(#"uri="/x?q=%20""#) && sent[1].contains(#"uri="/""#))
    }

    @Test func `A nonce that is too old is replaced without the provider`() async throws {
        let asked = Collector<Void>()
        let nonces = Locked("n1")
        let transport = ScriptedTransport([
            .dynamic { request in
                let nonce = nonces.withLock { $0 }
                if request.authorization?.contains(#"nonce="\#(nonce)""#) == true { return .body(Data()) }
                return .status(
                    401,
                    fields: [("WWW-Authenticate", #"Digest realm="r", nonce="\#(nonce)", qop="auth", stale=true"#)])
            }
        ])
        let configuration = configuration(
            transport,
            ServerAuthentication { _ in
                asked.append(())
                return Self.ada
            })
        _ = try await fetch(configuration)
        nonces.withLock { $0 = "n2" }
        _ = try await fetch(configuration)
        #expect(asked.count == 1 && transport.requests.count == 4)
    }

    @Test func `A redirect within the server has a field for its new URL`() async throws {
        let transport = ScriptedTransport([
            .dynamic { request in
                guard let sent = request.authorization else {
                    return .status(401, fields: [("WWW-Authenticate", Self.digest)])
                }
                let path = request.url!.path
                guard sent.contains(#"uri="\#(path)""#) else { return .status(400) }
                return path == "/old" ? .status(302, fields: [("Location", "/new")]) : .body(Data("in".utf8))
            }
        ])
        let configuration = configuration(transport, ServerAuthentication { _ in Self.ada })
        #expect(try await fetch(configuration, at: "https://a.example/old") == Data("in".utf8))
    }

    @Test(arguments: ["Negotiate", "NTLM, Negotiate", #"Digest nonce="n", algorithm=SHA-1"#])
    func `A scheme that is not known is an error of its own`(_ challenge: String) async throws {
        let configuration = configuration(server(challenge), ServerAuthentication { _ in Self.ada })
        await #expect { try await fetch(configuration) } throws: {
            RequestError.Code.unsupportedAuthentication ~= $0 && ($0 as? RequestError)?.head?.status == 401
        }
    }

    @Test func `A password goes over http only to this machine, or if it is allowed`() async throws {
        let transport = server("Basic")
        let careful = configuration(transport, ServerAuthentication { _ in Self.ada })
        for url in ["http://a.example/", "http://127.0.0.1.example/", "http://127.evil/"] {
            await #expect { try await fetch(careful, at: url) } throws: {
                RequestError.Code.unsupportedAuthentication ~= $0
            }
        }
        for url in ["http://127.0.0.1/", "http://localhost:8080/", "http://[::1]/"] {
            _ = try await fetch(careful, at: url)
        }
        _ = try await fetch(
            configuration(transport, ServerAuthentication(allowsInsecure: true) { _ in Self.ada }),
            at: "http://a.example/")
        let digest = configuration(server(Self.digest), ServerAuthentication { _ in Self.ada })
        _ = try await fetch(digest, at: "http://a.example/")
    }

    @Test func `A field of the caller's own is left alone, and so is a 401 without a challenge`() async throws {
        let transport = server("Basic") { $0 == "Own 1" }
        var configuration = configuration(transport, ServerAuthentication { _ in Self.ada })
        var request = URLRequest(url: URL(string: "https://a.example/")!)
        request.setValue("Own 1", forHTTPHeaderField: "Authorization")
        _ = try await run(URLRequestOperation(request, configuration: configuration))
        configuration.transport = ScriptedTransport([.status(401)])
        await #expect { try await fetch(configuration) } throws: { ($0 as? RequestError)?.code == .unacceptableStatus }
    }

    @Test func `A server that a redirect led to gets nothing`() async throws {
        let transport = ScriptedTransport([
            .dynamic { request in
                request.url?.host == "a.example"
                    ? .status(302, fields: [("Location", "https://evil.example/")])
                    : .status(401, fields: [("WWW-Authenticate", "Basic realm=r")])
            }
        ])
        let asked = Collector<Void>()
        let configuration = configuration(
            transport,
            ServerAuthentication { _ in
                asked.append(())
                return Self.ada
            })
        await #expect { try await fetch(configuration) } throws: { ($0 as? RequestError)?.head?.status == 401 }
        #expect(asked.count == 0 && transport.requests.allSatisfy { $0.authorization == nil })
    }

    @Test func `A wrong password of many requests at once is asked for again, not sent again and again`() async throws {
        let transport = server(Self.digest) { $0.contains("never") }
        let asked = Collector<ServerCredential?>()
        let configuration = configuration(
            transport,
            ServerAuthentication { challenge in
                asked.append(challenge.refused)
                return challenge.refused == nil ? Self.ada : nil
            })
        let operations = (0..<8).map { _ in
            URLRequestOperation(URL(string: "https://a.example/")!, configuration: configuration)
        }
        for operation in operations { OperationQueue().addOperation(operation) }
        for operation in operations {
            await #expect { try await operation.value } throws: { ($0 as? RequestError)?.head?.status == 401 }
        }
        #expect(asked.elements.contains(Self.ada) && transport.requests.count <= 16)
    }

    @Test func `A refused credential of a weaker scheme is refused`() async throws {
        let transport = server(Self.digest, "Bearer realm=r") { $0 == "Bearer new" }
        let asked = Collector<ServerCredential?>()
        let configuration = configuration(
            transport,
            ServerAuthentication { challenge in
                asked.append(challenge.refused)
                guard challenge.scheme == "bearer" else { return nil }
                return .token(challenge.refused == nil ? "old" : "new")
            })
        #expect(try await fetch(configuration) == Data("in".utf8))
        #expect(asked.elements.contains(.token("old")))
    }

    @Test func `A second realm of a server is asked for as for the first time`() async throws {
        let transport = ScriptedTransport([
            .dynamic { request in
                let realm = request.url?.path == "/a" ? "a" : "b"
                let expected = realm == "a" ? "Bearer a" : "Bearer b"
                return request.authorization == expected
                    ? .body(Data("in".utf8)) : .status(401, fields: [("WWW-Authenticate", "Bearer realm=\(realm)")])
            }
        ])
        let configuration = configuration(
            transport,
            ServerAuthentication { challenge in
                challenge.refused == nil ? .token(challenge.realm ?? "") : nil
            })
        for path in ["a", "b", "a"] {
            #expect(try await fetch(configuration, at: "https://a.example/\(path)") == Data("in".utf8))
        }
    }

    @Test func `A refused field of the caller's own is the failure`() async throws {
        let (transport, asked) = (server("Basic") { $0 == "Own 2" }, Collector<Void>())
        let configuration = configuration(
            transport,
            ServerAuthentication { _ in
                asked.append(())
                return Self.ada
            })
        var request = URLRequest(url: URL(string: "https://a.example/")!)
        request.setValue("Own 1", forHTTPHeaderField: "Authorization")
        let operation = URLRequestOperation(request, configuration: configuration)
        await #expect { try await run(operation) } throws: { ($0 as? RequestError)?.head?.status == 401 }
        #expect(asked.count == 0 && transport.requests.count == 1)
    }

    @Test func `A provider that never answers fails the requests that wait`() async throws {
        let configuration = configuration(
            server("Basic"),
            ServerAuthentication(providerTimeLimit: .milliseconds(20)) { _ in
                await blockedUntilCancelled()
                return nil
            })
        await #expect { try await fetch(configuration) } throws: { RequestError.Code.timedOut ~= $0 }
    }

    @Test func `The provider may make requests with the same configuration`() async throws {
        let transport = ScriptedTransport([
            .dynamic { request in
                let isIn = request.url?.path == "/token" || request.authorization == "Bearer fresh"
                return isIn ? .body(Data("fresh".utf8)) : .status(401, fields: [("WWW-Authenticate", "Bearer")])
            }
        ])
        let shared = Locked<RequestConfiguration?>(nil)
        let configuration = configuration(
            transport,
            ServerAuthentication { _ in
                let token = try await run(
                    URLRequestOperation(
                        URL(string: "https://a.example/token")!, configuration: shared.withLock { $0! }))
                return .token(String(decoding: token, as: UTF8.self))
            })
        shared.withLock { $0 = configuration }
        #expect(try await fetch(configuration) == Data("fresh".utf8))
    }

    @Test func `What the provider throws is the cause of the failure`() async throws {
        struct Closed: Error {}
        let configuration = configuration(server("Basic"), ServerAuthentication { _ in throw Closed() })
        await #expect { try await fetch(configuration) } throws: { ($0 as? RequestError)?.underlying is Closed }
    }

    @Test func `A credential shows nothing of itself`() {
        var text = ""
        dump([Self.ada, .token("secret")], to: &text)
        text += "\(Self.ada) \(ServerCredential.token("secret"))"
        #expect(!text.contains("ada") && !text.contains("pw") && !text.contains("secret"))
    }
}

extension URLRequest {
    fileprivate var authorization: String? { value(forHTTPHeaderField: "Authorization") }
}
