// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "RequestOperations", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        // What AsyncHTTPClient itself is made of: bodies and certificates are handed to it in their types.
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.81.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLimitLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .target(name: "CLimit", dependencies: ["CLimitLibcurl"]),
        .executableTarget(
            name: "benchmark",
            dependencies: [
                "CLimit",
                .product(name: "RequestOperations", package: "RequestOperations"),
                .product(name: "RequestOperationsTesting", package: "RequestOperations"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
