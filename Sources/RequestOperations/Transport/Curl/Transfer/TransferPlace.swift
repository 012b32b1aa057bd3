#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Where a transfer is on its way. The driver thread moves it, by ``CurlDriver/move(_:to:)`` or in an ``OriginQueue``.
    enum TransferPlace {
        /// The driver has not given it to anybody yet.
        case new
        /// It waits among the requests to its origin, in an ``OriginQueue``.
        case inLine
        /// It waits until fewer names are looked up; see ``Lookups``.
        case awaitingLookup
        /// It waits until the process has a descriptor for its connection; see ``DescriptorLine``.
        case awaitingDescriptor
        /// libcurl is about to lose it, since it must not make a connection; see ``CurlTransfer/turnBack()``.
        case turnedBack
        /// libcurl has it, and has done nothing for it yet.
        case given
        /// libcurl makes it wait for one of a limited number of connections.
        case awaitingConnection
        /// Its name is looked up.
        case lookingUp
        /// There was no room for its look-up, so libcurl ends it.
        case lackingLookup
        /// A connection is made for it.
        case connecting
        /// The process had no descriptor for a connection. libcurl may still try another address.
        case lackingDescriptor
        /// Its request was sent.
        case sent
        case ended

        /// Whether libcurl does nothing for the transfer now.
        var isHeld: Bool {
            switch self {
            case .inLine, .awaitingLookup, .awaitingDescriptor, .turnedBack: true
            default: false
            }
        }

        /// Whether it waits for something that may take long, and is not on its way to a connection.
        var waits: Bool { isHeld || self == .awaitingConnection }
    }

    extension CurlDriver {
        /// Moves a transfer on. Its look-up is over then.
        func move(_ transfer: CurlTransfer, to place: TransferPlace) {
            if transfer.place == .lookingUp { lookups.end() }
            transfer.place = place
        }
    }
#endif
