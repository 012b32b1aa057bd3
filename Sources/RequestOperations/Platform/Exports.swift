/// The module exports Foundation, and FoundationNetworking on Linux. So one `import RequestOperations` is enough.
@_exported public import Foundation

#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
