import Testing

@Suite(.timeLimit(.minutes(10))) struct PageTests {
    @Test func `A block has its language lines and place`() throws {
        let page = try Page(path: "a.md", text: "Text\n\n```swift\nlet a = 1\n\nlet b = 2\n```\n")
        let block = try #require(page.blocks.first)
        #expect(page.blocks.count == 1 && block.language == "swift" && block.line == 4)
        #expect(block.lines == ["let a = 1", "", "let b = 2"])
    }

    @Test func `An indented block loses its indentation`() throws {
        let page = try Page(path: "a.md", text: "1. Do\n   ```swift\n   if a {\n       b()\n   }\n   ```\n")
        #expect(page.samples.first?.lines == ["if a {", "    b()", "}"])
    }

    @Test func `A longer fence holds a shorter one`() throws {
        let page = try Page(path: "a.md", text: "````text\n```swift\n```\n````\n```sh\nls\n```\n")
        #expect(page.blocks.map(\.language) == ["text", "sh"])
        #expect(page.commands == ["ls"])
    }

    @Test func `A sample does not escape by its spelling`() throws {
        let page = try Page(path: "a.md", text: "```Swift title\nlet a = 1\n```\n``` swift\nlet b = 2\n```\n")
        #expect(page.samples.count == 2)
    }

    @Test func `A block that is not closed is an error`() {
        #expect(throws: Page.UnclosedBlock.self) { try Page(path: "a.md", text: "```swift\nlet a = 1\n") }
    }

    @Test func `Links and pictures are those outside of code`() throws {
        let text = """
            [a](LICENSE) ![b](b.svg "B") [`c`](#part) `[d](d)`
            ```text
            [e](e)
            ```
            [f]: https://f.example/
            """
        #expect(try Page(path: "a.md", text: text).links == ["LICENSE", "b.svg", "#part", "https://f.example/"])
    }

    @Test func `An anchor is a heading without its punctuation and with a number if there are several`() throws {
        let page = try Page(path: "a.md", text: "# A `b`: c-d\n## Why?\n```sh\n# no\n```\n## Why?\n")
        #expect(page.anchors == ["a-b-c-d", "why", "why-1"])
    }
}
