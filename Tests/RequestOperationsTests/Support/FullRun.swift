import Foundation

/// Whether `.ci/stress` runs the tests, and not the suite: the long ones take all of their time then.
let isFullRun = ProcessInfo.processInfo.environment["REQUEST_OPERATIONS_STRESS"] == "full"
