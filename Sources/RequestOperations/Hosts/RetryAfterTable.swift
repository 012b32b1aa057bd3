/// The former type for the `Retry-After` times of hosts; see ``HostRegistry``.
@available(*, deprecated, renamed: "HostRegistry")
public final class RetryAfterTable: Sendable {
    /// The table of ``HostRegistry/shared``.
    public static let shared = RetryAfterTable(.shared)

    private let hosts: HostRegistry

    private init(_ hosts: HostRegistry) {
        self.hosts = hosts
    }

    /// Makes a table that no request fills. Set ``RequestConfiguration/hosts`` instead.
    public convenience init(clock: any Clock<Duration> = ContinuousClock()) {
        self.init(HostRegistry(clock: clock))
    }

    /// How long a URL's host must still be left alone.
    public func timeLeft(for url: URL) -> Duration {
        hosts.timeLeftAlone(url)
    }
}
