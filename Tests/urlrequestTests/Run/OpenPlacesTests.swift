import RequestOperationsTesting
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(15))) struct OpenPlacesTests {
    @Test func `Places that are open are taken at once`() async throws {
        try await OpenPlaces(3).take(3)
    }

    @Test func `Places that were given back are open again`() async throws {
        let places = OpenPlaces(2)
        try await places.take(2)
        places.giveBack(2)
        try await places.take(2)
    }

    @Test func `While no place is open, none is taken`() async throws {
        let (places, taken) = (OpenPlaces(1), Collector<Int>())
        try await places.take(1)
        let taking = Task {
            try await places.take(2)
            taken.append(1)
        }
        places.giveBack(1)
        #expect(taken.elements.isEmpty)
        places.giveBack(1)
        try await taking.value
    }

    @Test func `Being cancelled ends the wait for a place`() async throws {
        let places = OpenPlaces(1)
        try await places.take(1)
        let taking = Task { try await places.take(1) }
        taking.cancel()
        await #expect(throws: CancellationError.self) { try await taking.value }
    }

    @Test func `All are open when the last one was given back`() async throws {
        let (places, opened) = (OpenPlaces(2), Collector<Int>())
        try await places.take(2)
        let waiting = Task {
            try await places.allOpen()
            opened.append(1)
        }
        places.giveBack(1)
        #expect(opened.elements.isEmpty)
        places.giveBack(1)
        try await waiting.value
        try await places.take(2)
    }
}
