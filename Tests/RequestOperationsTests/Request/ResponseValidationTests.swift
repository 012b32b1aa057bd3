import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct ResponseValidationTests {
    private static let url = URL(string: "https://a.example/")!  // A literal that is a URL.

    private static func head(_ status: Int, _ fields: [(name: String, value: String)] = []) -> ResponseHead {
        ResponseHead(status: status, url: url, fields: fields)
    }

    private static func code(_ validation: ResponseValidation, _ head: ResponseHead) -> RequestError.Code? {
        do {
            try validation.validate(head)
            return nil
        } catch { return (error as? RequestError)?.code ?? RequestError.Code("foreign") }
    }

    @Test(arguments: [
        (199, false), (200, true), (204, true), (299, true), (300, false), (304, false), (404, false), (503, false),
    ])
    func `The statuses from 200 to 299 are accepted by default`(status: Int, isAccepted: Bool) {
        let code = Self.code(RequestConfiguration.default.validation, Self.head(status))
        #expect(code == (isAccepted ? nil : .unacceptableStatus))
    }

    @Test(arguments: [ResponseValidation.successfulStatus, .status(in: []), .contentType([])])
    func `What is not HTTP is accepted`(validation: ResponseValidation) {
        #expect(Self.code(validation, Self.head(0)) == nil)
    }

    @Test func `A set of statuses can be accepted`() {
        let validation = ResponseValidation.status(in: [200, 404])
        #expect(Self.code(validation, Self.head(404)) == nil)
        #expect(Self.code(validation, Self.head(201)) == .unacceptableStatus)
    }

    @Test func `Anything can be accepted`() {
        #expect(Self.code(.none, Self.head(599)) == nil)
    }

    @Test(arguments: [
        ("application/json", true), ("Application/JSON", true), ("application/json;", true),
        ("application/json; charset=utf-8", true), ("application/json; charset=", true), ("text/plain", true),
        ("text/plain; format=flowed", true), ("image/png", false), ("application/xml", false), ("", false),
        ("application/json, text/html", false), ("garbage", false),
    ])
    func `The content type is matched against ranges`(type: String, isAccepted: Bool) {
        let validation = ResponseValidation.contentType(["application/json", "text/*"])
        let code = Self.code(validation, Self.head(200, [("content-type", type)]))
        #expect(code == (isAccepted ? nil : .unacceptableContentType))
    }

    @Test func `A missing content type is not accepted`() {
        #expect(Self.code(.contentType(["*/*"]), Self.head(200)) == .unacceptableContentType)
    }

    @Test(arguments: [204, 205, 304])
    func `A status without content needs no content type`(status: Int) {
        #expect(Self.code(.contentType(["text/plain"]), Self.head(status)) == nil)
        #expect(Self.code(.contentType(["text/plain"]), Self.head(status, [("Content-Type", "image/png")])) == nil)
    }

    @Test(arguments: ["0", "00", " 0 ", "0, 0"])
    func `A length of zero needs no content type`(length: String) {
        #expect(Self.code(.contentType(["text/plain"]), Self.head(200, [("Content-Length", length)])) == nil)
    }

    @Test(arguments: ["1", "10", "", "-0", "0, 1", "x"])
    func `Any other length needs one`(length: String) {
        let code = Self.code(.contentType(["text/plain"]), Self.head(200, [("Content-Length", length)]))
        #expect(code == .unacceptableContentType)
    }

    @Test func `The first of two validations is asked first`() {
        let both = ResponseValidation.successfulStatus.and(.contentType(["text/plain"]))
        #expect(Self.code(both, Self.head(404)) == .unacceptableStatus)
        #expect(Self.code(both, Self.head(200)) == .unacceptableContentType)
        let reversed = ResponseValidation.contentType(["text/plain"]).and(.successfulStatus)
        #expect(Self.code(reversed, Self.head(404)) == .unacceptableContentType)
        #expect(Self.code(both, Self.head(200, [("Content-Type", "text/plain")])) == nil)
    }

    @Test func `The error keeps the head`() {
        let error = #expect(throws: RequestError.self) {
            try ResponseValidation.successfulStatus.validate(Self.head(503))
        }
        #expect(error?.head?.status == 503 && error?.stage == .validate)
    }
}
