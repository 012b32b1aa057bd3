/// Foundation, and on Linux its networking half, come with the module: one `import RequestOperations` is enough.
@_exported public import Foundation

#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
