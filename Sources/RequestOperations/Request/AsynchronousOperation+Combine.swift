#if canImport(Combine)
    public import Combine

    extension AsynchronousOperation {
        /// Publishes the value or the error once, on the completion queue. It does not start the operation. Cancelling
        /// the subscription does not cancel the operation.
        public final var publisher: AnyPublisher<Success, any Error> {
            Deferred { [self] in
                Future { promise in
                    // Combine lets any thread fulfil a promise, but does not declare it Sendable.
                    nonisolated(unsafe) let promise = promise
                    self.whenFinished { promise($0) }
                }
            }
            .eraseToAnyPublisher()
        }
    }

    extension RetryingOperation {
        /// Publishes the steps of the operation from the subscription on, as they happen, and completes after the end.
        public final var eventPublisher: AnyPublisher<RequestEvent, Never> {
            Deferred { [self] in
                let subject = PassthroughSubject<RequestEvent, Never>()
                // Combine lets any thread send to a subject, but does not declare it Sendable.
                nonisolated(unsafe) let sender = subject
                let remove = listen { event in
                    sender.send(event)
                    if case .ended = event.step { sender.send(completion: .finished) }
                }
                return subject.handleEvents(receiveCancel: remove)
            }
            .eraseToAnyPublisher()
        }
    }
#endif
