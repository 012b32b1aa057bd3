"""What the servers of these tests have in common.

Importing it has the process end when its standard input does, which is with the tests at the latest. `told` is set when a line
comes there.
"""

import os
import sys
import threading

told = threading.Event()


def live_as_long_as_the_parent():
    for _ in sys.stdin: told.set()
    os._exit(0)


threading.Thread(target=live_as_long_as_the_parent, daemon=True).start()


def read_head(c):
    """The head of a request of HTTP/1.1 from a socket, byte by byte; `None` at the end of the connection."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        data = c.recv(1)
        if not data: return None
        head += data
    return head.decode("latin-1")
