"""A server of HTTP/1.1 whose first answers wait for one another; see `HTTP1Peer`.

Its arguments are the folder of the certificates, how many requests wait for one another, the number of the connection that
waits until it is told, and the options, in one word each. It prints its port first.
"""

import itertools, select, socketserver, ssl, sys, threading

from peer import read_head, told

folder, count, gated, options = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split()
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(folder + "/good.pem", folder + "/good.key")
connections, requests = itertools.count(1), itertools.count(1)
meeting = threading.Barrier(count)

def secure(c):
    c = context.wrap_socket(c, server_side=True, do_handshake_on_connect=False)
    if next(connections) == gated:
        select.select([c], [], [])
        print("begun")
        told.wait()
        c.setblocking(False)
        try: c.do_handshake()
        except ssl.SSLWantReadError: print("shaken")
        c.setblocking(True)
    c.do_handshake()
    return c

class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        c = secure(self.request) if "secure" in options else self.request
        while head := read_head(c):
            print(head.split(" ")[1])
            if next(requests) <= count or "always" in options: meeting.wait()
            end = b"Connection: close\r\n" if "closing" in options else b""
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + end + b"\r\nok")
            if end: return c.close()

class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128
    # Clients go away as they like.
    def handle_error(self, request, address): pass

server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1])
server.serve_forever()
