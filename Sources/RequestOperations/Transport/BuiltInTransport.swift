/// A transport of this package. We know what it does: it runs nothing on an operation queue.
protocol BuiltInTransport: Transport {}
