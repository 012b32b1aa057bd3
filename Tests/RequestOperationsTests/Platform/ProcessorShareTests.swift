#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct ProcessorShareTests {
        @Test func `It is one processor at least, and at most what the system has`() {
            #expect(1...ProcessInfo.processInfo.processorCount ~= ProcessorShare.count)
        }

        @Test(arguments: [
            ("150000 100000\n", 1), ("400000 100000\n", 4), ("50000 100000\n", 0), ("max 100000\n", nil),
            ("100000 0\n", nil), ("", nil), ("many 100000", nil), ("100000", nil),
        ])
        func `A quota counts in whole processors`(limit: String, count: Int?) {
            #expect(ProcessorShare.wholeProcessors(of: limit) == count)
        }

        @Test(arguments: [
            ("0::/\n", [""]), ("0::/a/b.service\n", ["/a/b.service", "/a", ""]), ("1:cpu:/a\n0::/b\n", ["/b", ""]),
            ("1:cpu:/a\n", []), ("", []),
        ])
        func `The quotas of all groups around the process count`(groups: String, folders: [String]) {
            #expect(ProcessorShare.folders(of: groups) == folders)
        }
    }
#endif
