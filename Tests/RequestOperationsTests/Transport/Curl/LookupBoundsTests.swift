#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Testing

    @testable import RequestOperations

    struct LookupBoundsTests {
        @Test(arguments: [
            (1024, Int.max, 85, 128, 170), (20_000, .max, 512, 768, 1024), (.max, .max, 512, 768, 1024),
            (64, .max, 5, 8, 10), (0, 0, 2, 3, 4), (20_000, 100, 12, 19, 25),
        ])
        func `The bounds follow from the limits on descriptors and threads`(
            descriptors: Int, threads: Int, young: Int, unresolved: Int, all: Int
        ) {
            let bounds = LookupBounds(descriptors: descriptors, threads: threads)
            #expect(bounds == LookupBounds(young: young, unresolved: unresolved, all: all))
        }

        /// What /proc/self/cgroup says, the files below /sys/fs/cgroup, and the least limit.
        private typealias Groups = (text: String, files: [String: String], limit: Int?)

        private static let groups: [Groups] = [
            ("0::/a/b\n", ["/sys/fs/cgroup/a/pids.max": "100\n", "/sys/fs/cgroup/a/b/pids.max": "max\n"], 100),
            ("0::/a/b\n", ["/sys/fs/cgroup/a/pids.max": "100\n", "/sys/fs/cgroup/a/b/pids.max": "30\n"], 30),
            ("0::/\n", ["/sys/fs/cgroup/pids.max": "50\n"], 50),
            ("5:pids:/x\n4:cpu:/y\n", ["/sys/fs/cgroup/pids/pids.max": "77\n", "/sys/fs/cgroup/pids.max": "1\n"], 77),
            ("5:cpu,pids:/x\n", ["/sys/fs/cgroup/pids/x/pids.max": "8\n"], 8), ("0::/a\n", [:], nil), ("", [:], nil),
            ("nonsense\n", ["/sys/fs/cgroup/pids.max": "1\n"], nil),
        ]

        @Test(arguments: groups)
        func `The least limit of all groups around the process counts`(
            groups: String, files: [String: String], limit: Int?
        ) {
            #expect(LookupBounds.leastLimit(ofGroups: groups) { files[$0] } == limit)
        }
    }
#endif
