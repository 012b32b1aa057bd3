/// The members of a keyed container, in the order in which they were written. If a name is written twice, the last
/// value is kept.
final class ParameterRecord {
    struct Member {
        let name: String
        var value: ParameterNode
    }

    /// A member that an endpoint's property wrapper puts elsewhere. Several may have the same name.
    struct PlacedMember {
        let placement: ParameterPlacement
        /// The key under which the member was written. It may differ from the member's name.
        let key: String
        let member: Member
    }

    private(set) var members: [Member] = []
    private(set) var placedMembers: [PlacedMember] = []
    /// The index of each name. Only a record with many members has it, because a linear search is faster for few
    /// members.
    private var places: [String: Int]?

    private static let manyMembers = 16

    func set(_ name: String, _ value: ParameterNode) {
        if let place = place(of: name) {
            members[place].value = value
            return
        }
        places?[name] = members.count
        members.append(Member(name: name, value: value))
        if members.count == Self.manyMembers { notePlaces() }
    }

    /// Sets a member that goes elsewhere. It replaces one with the same key and place.
    func setPlaced(_ member: PlacedMember) {
        placedMembers.removeAll { $0.key == member.key && $0.placement == member.placement }
        placedMembers.append(member)
    }

    func value(_ name: String) -> ParameterNode? {
        place(of: name).map { members[$0].value }
    }

    func removeAll(where isRemoved: (String) -> Bool) {
        members.removeAll { isRemoved($0.name) }
        if places != nil { notePlaces() }
    }

    private func notePlaces() {
        places = Dictionary(uniqueKeysWithValues: members.enumerated().map { ($1.name, $0) })
    }

    private func place(of name: String) -> Int? {
        if let places { return places[name] }
        return members.firstIndex { $0.name == name }
    }
}
