import RequestOperations

#if CommandLineTool
    // This comes before anything asynchronous: the first Task makes Dispatch open descriptors of its own.
    let isOutputOpen = Descriptors.secureStandardOnes()
    // Nothing is buffered. `exit` would run the destructors of libraries while other threads still use these.
    Task { _exit(await Tool.runCommand(isOutputOpen: isOutputOpen)) }
    dispatchMain()
#else
    TerminalScreen().print("swift build -c release --traits CommandLineTool --product urlrequest\n")
    exit(ExitStatus.unusable)
#endif
