import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct OutputNamesTests {
    @Test func `The bodies of one name are numbered in order`() {
        #expect(names(["b.txt", "b.txt", "c", "b.txt"]) == ["a_b.txt", "a_b-2.txt", "a_c", "a_b-3.txt"])
    }

    @Test func `A name that another one has got with its number is numbered itself`() {
        #expect(names(["b.txt", "b.txt", "b-2.txt", "b.txt"]) == ["a_b.txt", "a_b-2.txt", "a_b-2-2.txt", "a_b-3.txt"])
    }

    @Test func `The same input gives the same names`() {
        let input = ["b", "b-2", "b", "b", "b-3", "b"]
        #expect(names(input) == names(input))
    }

    @Test func `No two of many bodies have one name`() {
        #expect(Set(names(Array(repeating: "b", count: 10_000))).count == 10_000)
    }

    private func names(_ paths: [String]) -> [String] {
        var names = OutputNames()
        return paths.map { names.give(FileName(of: URL(string: "http://a/\($0)"))).text }
    }
}
