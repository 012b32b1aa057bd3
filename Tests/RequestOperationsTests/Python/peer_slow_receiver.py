"""Takes 5,000 bytes of a body every tenth of a second; the arguments are the length of the body and how many bytes it takes at
most. It answers if it has taken all, and is silent otherwise. It prints its port first.
"""

import socket, sys, time

from peer import told

length, most = int(sys.argv[1]), int(sys.argv[2])
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
server.bind(("127.0.0.1", 0))
server.listen()
print(server.getsockname()[1])
c, _ = server.accept()
head = b""
while b"\r\n\r\n" not in head: head += c.recv(1024)
taken = len(head) - head.index(b"\r\n\r\n") - 4
while taken < min(length, most):
    time.sleep(0.1)
    piece = c.recv(5000)
    if not piece: break
    taken += len(piece)
if taken == length: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
told.wait()
