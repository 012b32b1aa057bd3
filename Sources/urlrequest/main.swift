import RequestOperations

#if CommandLineTool
    let status = await Tool.runCommand()
#else
    let status = ExitStatus.unusable
    Console().print("swift build -c release --traits CommandLineTool --product urlrequest\n")
#endif

exit(status)
