/// The elements of an unkeyed container.
final class ParameterList {
    var elements: [ParameterNode] = []
}
