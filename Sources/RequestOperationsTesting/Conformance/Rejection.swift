/// An error that a test can tell from any other.
final class Rejection: Error {}
