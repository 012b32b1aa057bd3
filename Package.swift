// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "RequestOperations",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "RequestOperations", targets: ["RequestOperations"]),
        .library(name: "RequestOperationsTesting", targets: ["RequestOperationsTesting"]),
        .library(name: "OfflineRequests", targets: ["OfflineRequests"]),
        .library(name: "OfflineRequestsPostgreSQL", targets: ["OfflineRequestsPostgreSQL"]),
        .library(name: "RequestOperationsObservability", targets: ["RequestOperationsObservability"]),
        .executable(name: "urlrequest", targets: ["urlrequest"]),
    ],
    traits: [
        .trait(
            name: "CommandLineTool",
            description: "Builds urlrequest, the command-line tool (swift-argument-parser, FlyingFox)."),
        .trait(
            name: "Observability",
            description: "Traces, logs and measures requests (swift-distributed-tracing, swift-log, swift-metrics)."),
        .trait(name: "PostgreSQL", description: "Keeps a queue in PostgreSQL (libpq)."),
    ],
    dependencies: [
        // Resolved only when the trait that uses it is enabled: the default build has no package dependency.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", .upToNextMinor(from: "0.27.0")),
    ],
    targets: [
        .target(
            name: "RequestOperations",
            dependencies: [
                .target(name: "CRequestOperationsCrypto", condition: .when(platforms: [.linux])),
                .target(name: "CRequestOperationsCurl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings),
        .target(
            name: "RequestOperationsTesting",
            dependencies: ["OfflineRequests", "RequestOperations"],
            swiftSettings: settings),
        .target(
            name: "OfflineRequests",
            dependencies: [
                "RequestOperations",
                .target(name: "CRequestOperationsSQLite", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings),
        // Without its trait the module is empty.
        .target(
            name: "OfflineRequestsPostgreSQL",
            dependencies: [
                "OfflineRequests", "RequestOperations",
                .target(name: "CRequestOperationsPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ],
            swiftSettings: settings),
        // Without its trait the module is empty.
        .target(
            name: "RequestOperationsObservability",
            dependencies: [
                "RequestOperations",
                .product(
                    name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Observability"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Observability"])),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Observability"])),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "urlrequest",
            dependencies: [
                "RequestOperations",
                .target(name: "OfflineRequests", condition: .when(traits: ["CommandLineTool"])),
                .target(name: "OfflineRequestsPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "RequestOperationsTesting", condition: .when(traits: ["CommandLineTool"])),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLineTool"])),
                .product(name: "FlyingFox", package: "FlyingFox", condition: .when(traits: ["CommandLineTool"])),
                .product(name: "FlyingSocks", package: "FlyingFox", condition: .when(traits: ["CommandLineTool"])),
            ],
            swiftSettings: settings),
        .systemLibrary(
            name: "CRequestOperationsLibcurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .target(
            name: "CRequestOperationsCurl",
            dependencies: [
                "CRequestOperationsLibcurl",
                .target(name: "CRequestOperationsCrypto", condition: .when(platforms: [.linux])),
            ]),
        .systemLibrary(
            name: "CRequestOperationsCrypto",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),
        .systemLibrary(
            name: "CRequestOperationsSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CRequestOperationsPostgreSQL",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // Tells the tests what libcurl looks up.
        .target(name: "CLookups", path: "Tests/CLookups"),
        .testTarget(
            name: "RequestOperationsTests",
            dependencies: [
                "RequestOperations", "RequestOperationsTesting",
                .target(name: "CLookups", condition: .when(platforms: [.linux])),
            ],
            // Programs that the tests run by their paths.
            exclude: ["Python"],
            swiftSettings: settings),
        .testTarget(
            name: "RequestOperationsTestingTests",
            dependencies: ["RequestOperations", "RequestOperationsTesting"],
            swiftSettings: settings),
        // A program that uses a queue, for the tests that kill it.
        .executableTarget(
            name: "OfflineProgram",
            dependencies: [
                "OfflineRequests", "RequestOperations",
                .target(name: "OfflineRequestsPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "CRequestOperationsSQLite", condition: .when(platforms: [.linux])),
            ],
            path: "Tests/OfflineProgram",
            swiftSettings: settings),
        .testTarget(
            name: "OfflineRequestsTests",
            dependencies: ["OfflineRequests", "OfflineProgram", "RequestOperations", "RequestOperationsTesting"],
            swiftSettings: settings),
        // They need a server: `.ci/postgresql run` starts one.
        .testTarget(
            name: "OfflineRequestsPostgreSQLTests",
            dependencies: [
                "OfflineRequestsPostgreSQL", "OfflineRequests", "RequestOperations", "RequestOperationsTesting",
            ],
            // Programs that the tests run by their paths.
            exclude: ["Python"],
            swiftSettings: settings),
        .testTarget(
            name: "FaceTests",
            dependencies: ["OfflineRequests", "RequestOperations", "RequestOperationsTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "OfflineRequests", "OfflineRequestsPostgreSQL", "RequestOperations", "RequestOperationsTesting",
            ],
            // What the samples of each page take for granted; compiled together with them, not with the tests.
            exclude: ["Preambles"],
            swiftSettings: settings),
        // A program whose code is on the main actor by default.
        .testTarget(
            name: "MainActorTests",
            dependencies: ["RequestOperations", "RequestOperationsTesting"],
            swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
        .testTarget(
            name: "StressTests",
            dependencies: ["RequestOperations", "RequestOperationsTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "ObservabilityTests",
            dependencies: [
                "RequestOperationsObservability", "RequestOperations", "RequestOperationsTesting",
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Observability"])),
                .product(name: "InMemoryLogging", package: "swift-log", condition: .when(traits: ["Observability"])),
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Observability"])),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "urlrequestTests",
            dependencies: ["urlrequest", "RequestOperations", "RequestOperationsTesting"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
