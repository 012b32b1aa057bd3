/// A number with three digits.
package func threeDigits(_ value: Double) -> String {
    String(format: "%.\(value >= 100 ? 0 : value >= 10 ? 1 : 2)f", value)
}

/// A duration in a suitable unit, with three digits: `412 µs`, `12.3 ms`, `1.05 s`.
package func readable(_ duration: Duration) -> String {
    let seconds = duration.inSeconds
    return switch seconds {
    case ..<0.001: "\(duration.nanoseconds / 1000) µs"
    case ..<1: threeDigits(seconds * 1000) + " ms"
    default: threeDigits(seconds) + " s"
    }
}

/// A number of bytes in a suitable unit: `12 B`, `1.5 kB`, `3.21 GB`.
package func readable(bytes: Int64) -> String {
    guard bytes >= 1000 else { return "\(bytes) B" }
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
    var value = Double(bytes) / 1000
    var unit = 0
    while value >= 1000 {
        value /= 1000
        unit += 1
    }
    return "\(threeDigits(value)) \(units[unit])"
}
