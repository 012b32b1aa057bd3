/// State of a program, on the main actor by default.
final class Session {
    var token = "token"
    var hasFinished = false
    var made = 0
}
