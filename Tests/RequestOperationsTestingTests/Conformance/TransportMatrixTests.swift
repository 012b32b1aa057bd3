import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct TransportMatrixTests {
    @Test func `It has a table for each subject and the reasons for what is lacking`() {
        let matrix = TransportMatrix(
            [
                TransportMatrix.Column("Strong", lacking: [:]),
                TransportMatrix.Column("Weak", lacking: [.lifting: "It is weak.", .unknown: "Nobody asks."]),
            ],
            expectations: [
                TransportExpectation("It runs", .running) { _ in }, TransportExpectation("It lifts", .lifting) { _ in },
                TransportExpectation("It lifts twice", .lifting) { _ in },
                TransportExpectation("It sings", .singing) { _ in },
            ])
        #expect(
            matrix.markdown == """
                ## Sports

                |  | Proofs | Strong | Weak |
                | --- | ---: | :---: | :---: |
                | running | 1 | yes | yes |
                | lifting | 2 | yes | **no** |

                ## Arts

                |  | Proofs | Strong | Weak |
                | --- | ---: | :---: | :---: |
                | singing | 1 | yes | yes |

                ## What Weak lacks, and why

                - lifting: It is weak.

                """)
    }
}

extension TransportCapability {
    fileprivate static let running = Self("running", in: "Sports")
    fileprivate static let lifting = Self("lifting", in: "Sports")
    fileprivate static let singing = Self("singing", in: "Arts")
    fileprivate static let unknown = Self("unknown", in: "Arts")
}
