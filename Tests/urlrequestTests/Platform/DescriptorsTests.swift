import RequestOperations
import Testing

@testable import urlrequest

@Suite struct DescriptorsTests {
    @Test(arguments: [
        (1024, 4096, 4096), (4096, 4096, 4096), (1024, 1 << 30, 1 << 20), (1 << 21, 1 << 30, 1 << 21),
        (1024, rlim_t.max, 1 << 20), (rlim_t.max, rlim_t.max, rlim_t.max),
    ])
    func `The limit of open files is raised and never lowered`(current: rlim_t, maximum: rlim_t, raised: rlim_t) {
        #expect(Descriptors.raised(current, maximum: maximum) == raised)
    }
}
