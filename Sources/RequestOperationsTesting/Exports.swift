@_exported public import RequestOperations
