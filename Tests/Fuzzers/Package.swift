// swift-tools-version: 6.2

import PackageDescription

// A package of its own, since the compiler gives its program the main function of libFuzzer: `.ci/fuzz` builds and runs it.
let package = Package(
    name: "Fuzzers",
    dependencies: [.package(name: "RequestOperations", path: "../..")],
    targets: [
        .executableTarget(
            name: "Fuzzer",
            dependencies: [.product(name: "RequestOperations", package: "RequestOperations")],
            swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility")])
    ],
    swiftLanguageModes: [.v6]
)
