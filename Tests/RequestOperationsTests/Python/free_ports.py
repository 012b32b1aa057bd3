"""Prints as many free ports as its argument says.

They are none of those that the system gives to connections, since one of the tests' own might take it first.
"""

import random, socket, sys

sockets = []
while len(sockets) < int(sys.argv[1]):
    sockets.append(socket.socket())
    try: sockets[-1].bind(("127.0.0.1", random.randrange(10000, 30000)))
    except OSError: sockets.pop()
for s in sockets: print(s.getsockname()[1])
