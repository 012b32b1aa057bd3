/// A value that code inherits from the Task that it runs on.
enum Inherited {
    @TaskLocal static var value = 0
}
