#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    /// The fields that frame a body, by the grammar of RFC 9110, section 8.6, and RFC 9112, sections 5 to 7.
    struct ResponseFramingTests {
        private func verdict(
            _ lines: [String], status: Int = 200, version: HTTPVersion = .http1_1, isForHead: Bool = false
        ) -> ResponseFraming.Verdict {
            var framing = ResponseFraming()
            for line in lines { Array((line + "\r\n").utf8).withUnsafeBytes { framing.add($0) } }
            return framing.verdict(status: status, version: version, isForHead: isForHead)
        }

        private func isMalformed(_ verdict: ResponseFraming.Verdict) -> Bool {
            if case .malformed = verdict { true } else { false }
        }

        @Test(arguments: [
            [], ["Content-Length: 42"], ["Content-Length:42"], ["CONTENT-LENGTH: \t 42 \t "], ["Content-Length: 0"],
            ["Content-Length: 00042"], ["Content-Length: 9223372036854775807"], ["Content-Length: 42, 42"],
            ["Content-Length: 42,42 ,\t42"], ["Content-Length: 42,"], ["Content-Length: 42", "content-length: 42"],
            ["Content-Length: 42", "A: b", "Content-Length: 42, 042"], ["Content-Length: 42", " ", "A: b"],
            ["Content-Lengthy: x", "Content-Type: y"], ["X-Content-Length: x"], ["Transfer-Encoding: chunked"],
            ["transfer-encoding:\tCHUNKED "], ["Transfer-Encoding: gzip, chunked"],
            ["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"], ["Transfer-Encoding: , chunked,"],
        ])
        func `What is framed as the grammar says is read as usual`(lines: [String]) {
            #expect(verdict(lines) == .usual)
        }

        @Test(arguments: [
            "", " ", "+42", "-42", "4 2", "42 bytes", "30s", "0x20", "4_2", "42.0", "1e3", "\"42\"", "42;42", "42,30",
            "42, 42, 43", "42, x", ",", " , ,", "9223372036854775808", "99999999999999999999999", "\u{0B}42",
            "42\u{0C}",
            "42\u{0}", "4\r2", "\u{0664}\u{0662}", "NaN", "chunked",
        ])
        func `A length that is no number, or several, is malformed`(value: String) {
            #expect(isMalformed(verdict(["Content-Length: \(value)"])))
        }

        @Test(arguments: [
            ["Content-Length: 42", "Content-Length: 30"], ["Content-Length: 42", "Content-Length: "],
            ["Content-Length: x", "Content-Length: 42"], ["Content-Length: 42", "A: b", "content-length: 43"],
            ["Content-Length: 42", " 1"], ["Content-Length:", "\t42"], ["Content-Length : 42"],
            ["Content-Length\t: 42"], ["Content-Length: 42", "Content-Length : 42"],
        ])
        func `Lines about the length that contradict each other or are not whole are malformed`(lines: [String]) {
            #expect(isMalformed(verdict(lines)))
        }

        @Test(arguments: [
            ["Transfer-Encoding: chunked, gzip"], ["Transfer-Encoding: chunked, gzip, chunked"],
            ["Transfer-Encoding: chunked; a=b"], ["Transfer-Encoding: gzip", " , chunked"],
            ["Transfer-Encoding : chunked"], ["Transfer-Encoding: chunked\u{0B}"],
            ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
        ])
        func `A chunked coding that is not the last, or not plain, is malformed`(lines: [String]) {
            #expect(isMalformed(verdict(lines)))
            #expect(isMalformed(verdict(lines + ["Content-Length: 2"])))
        }

        @Test(arguments: [
            ("identity", false), ("", false), ("gzip", true), ("chunkedx", true), ("x-chunked", true),
            ("identity, gzip", true), ("chun ked", true),
        ])
        func `Beside a length only a coding that changes nothing is read by the length`(coding: String, isCoded: Bool) {
            #expect(
                verdict(["Transfer-Encoding: \(coding)", "Content-Length: 42"])
                    == (isCoded ? .coded(42) : .length(42)))
            #expect(isMalformed(verdict(["Transfer-Encoding: \(coding)", "Content-Length: 42x"])))
        }

        @Test func `Chunks beside a length end the connection, as do those of HTTP1_0 and codings without a length`() {
            #expect(verdict(["Transfer-Encoding: chunked", "Content-Length: 42"]) == .last)
            #expect(verdict(["Content-Length: x", "Transfer-Encoding: chunked"]) == .last)
            #expect(verdict(["Transfer-Encoding: chunked"], version: .http1_0) == .last)
            #expect(verdict(["Transfer-Encoding: gzip"]) == .last)
            #expect(verdict(["Transfer-Encoding: chunked, chunked"]) == .last)
            #expect(verdict(["Transfer-Encoding: gzip, chunked", "Transfer-Encoding: Chunked"]) == .last)
        }

        @Test func `A response without a body is framed by no field`() {
            let lines = ["Content-Length: 42,30", "Transfer-Encoding: gzip, x"]
            #expect(verdict(lines, status: 204) == .usual)
            #expect(verdict(lines, status: 304) == .usual)
            #expect(verdict(lines, isForHead: true) == .usual)
            #expect(verdict(["Content-Length: 42,30"], status: 205) != .usual)
        }

        @Test func `A length is checked in HTTP2 as well`() {
            #expect(isMalformed(verdict(["content-length: 42,30"], version: .http2)))
            #expect(verdict(["content-length: 42"], version: .http2) == .usual)
        }
    }
#endif
