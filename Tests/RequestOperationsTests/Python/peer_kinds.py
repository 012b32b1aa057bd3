"""A server of the kind that the first argument names, with the certificates of the folder that the second names.

`PythonPeer.Kind` says what each kind does. It prints its port or path first.
"""

import base64, itertools, os, signal, socket, socketserver, ssl, struct, sys, threading, time

from peer import read_head

kind = sys.argv[1]

def pump(a, b):
    try:
        while data := a.recv(65536): b.sendall(data)
    except OSError: pass
    for s in (a, b):
        try: s.shutdown(socket.SHUT_RDWR)
        except OSError: pass

def tunnel(a, b):
    threading.Thread(target=pump, args=(b, a), daemon=True).start()
    pump(a, b)

def http_proxy(c):
    while head := read_head(c):
        method, target = head.split(" ")[:2]
        if kind == "authenticatingProxy":
            wanted = "proxy-authorization: basic " + base64.b64encode(b"user:pass").decode().lower()
            if wanted not in head.lower():
                c.sendall(b"HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n")
                continue
        print(method, target)
        if method == "CONNECT":
            host, port = target.rsplit(":", 1)
            if port == "9":
                return c.sendall(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
            host = "127.0.0.1" if host.endswith(".example") else host.strip("[]")
            upstream = socket.create_connection((host, int(port)))
            c.sendall(b"HTTP/1.1 200 Go\r\n\r\n")
            return tunnel(c, upstream)
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nproxied")

def exactly(c, n):
    data = b""
    while len(data) < n:
        more = c.recv(n - len(data))
        if not more: raise EOFError
        data += more
    return data

def socks5(c):
    _, n = exactly(c, 2)
    exactly(c, n)
    c.sendall(b"\x05\x00")
    _, _, _, address_type = exactly(c, 4)
    if address_type == 3:
        host = exactly(c, exactly(c, 1)[0]).decode()
    else:
        host = socket.inet_ntoa(exactly(c, 4))
    port = struct.unpack(">H", exactly(c, 2))[0]
    print("name" if address_type == 3 else "address", host)
    upstream = socket.create_connection(("127.0.0.1" if address_type == 3 else host, port))
    c.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
    tunnel(c, upstream)

def frame(type, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([type, flags]) + struct.pack(">I", stream) + payload

# Pairs of a stream and whether its request has a body.
def begun_requests(c, settings=b""):
    exactly(c, 24)
    c.sendall(frame(4, 0, 0, settings))
    while True:
        head = exactly(c, 9)
        length, type, stream = int.from_bytes(head[:3], "big"), head[3], int.from_bytes(head[5:], "big")
        exactly(c, length)
        if type == 4 and not head[4] & 1: c.sendall(frame(4, 1, 0))
        if type == 1: yield stream, not head[4] & 1

def begun_streams(c):
    return (stream for stream, _ in begun_requests(c))

def http2(c):
    for stream in begun_streams(c):
        print("stream", stream)
        if kind == "goAway":
            c.sendall(frame(7, 0, 0, struct.pack(">II", 0, 0)))
            return
        if kind in ("streamRefused", "streamResetBeforeHead"):
            c.sendall(frame(3, 0, stream, struct.pack(">I", 7 if kind == "streamRefused" else 2)))
            continue
        # :status 200 is entry 8 of the static table.
        c.sendall(frame(1, 4, stream, b"\x88") + frame(0, 0, stream, b"12345"))
        # libcurl drops what arrives together with the end.
        time.sleep(0.3)
        if kind == "goAwayInBody":
            c.sendall(frame(7, 0, 0, struct.pack(">II", stream, 2)))
            return
        c.sendall(frame(3, 0, stream, struct.pack(">I", 2)))

numbers = itertools.count(1)

def ending_http2(c):
    number = next(numbers)
    refusals = b""
    for streams, stream in enumerate(begun_streams(c), 1):
        print("stream", stream, "of connection", number)
        if number > 1 or streams == 1:
            c.sendall(frame(1, 4, stream, b"\x88") + frame(0, 1, stream, b"12345"))
        elif kind == "refusingHTTP2":
            refusals += frame(3, 0, stream, struct.pack(">I", 7))
            if streams == 3: c.sendall(refusals)
        elif streams == 3:
            if kind == "leavingHTTP2": c.sendall(frame(7, 0, 0, struct.pack(">II", stream, 0)))
            return reset(c) if kind == "resettingHTTP2" else c.close()

def answering_http2(c):
    for count, stream in enumerate(begun_streams(c), 1):
        # A literal content-length (28) of 5.
        c.sendall(frame(1, 4, stream, b"\x88\x0f\x0d\x015") + frame(0, 1, stream, b"12345"))
        if count == 2: return reset(c)

def early_http2(c):
    for stream in begun_streams(c):
        # A literal :status (8) of 413 and a literal content-length (28) of 5.
        head = b"\x08\x03413" + (b"\x0f\x0d\x015" if stream == 1 else b"")
        c.sendall(frame(1, 4, stream, head) + frame(0, 1, stream, b"large") + frame(3, 0, stream, bytes(4)))

uploads = []

def content_http2(c):
    # SETTINGS_INITIAL_WINDOW_SIZE (4) of 1000.
    for stream, has_body in begun_requests(c, struct.pack(">HI", 4, 1000)):
        if has_body:
            uploads.append((c, stream))
        elif uploads:
            uploading, upload = uploads.pop()
            uploading.sendall(frame(3, 0, upload, bytes(4)))
        # A literal content-length (28) of 5.
        c.sendall(frame(1, 4, stream, b"\x88\x0f\x0d\x015") + frame(0, 1, stream, b"12345"))
        print("stream", stream)

def packing_http2(c):
    number = next(numbers)
    for count, stream in enumerate(begun_streams(c)):
        if kind == "holdingHTTP2" and (number, count) == (1, 0):
            print("held")
            continue
        head = frame(1, 4, stream, b"\x88") + frame(0, 0, stream, bytes(16000))
        if count % 2 == 0: c.sendall(head + frame(0, 0, stream, bytes(4000)) + frame(0, 1, stream, bytes(5000)))
        else: c.sendall(head + frame(0, 1, stream, bytes(9000)))

def pairing_http2(c):
    streams = begun_streams(c)
    c.sendall(frame(1, 5, next(streams), b"\x88"))
    for first in streams:
        second = next(streams)
        # A literal content-length (28) of 70000.
        c.sendall(frame(1, 4, first, b"\x88\x0f\x0d\x0570000") + frame(1, 4, second, b"\x88")
                  + frame(0, 0, first, bytes(15500)) * 4 + frame(0, 1, first, bytes(8000))
                  + frame(0, 1, second, bytes(1000)))

def refusing_upload_http2(c):
    for stream, has_body in begun_requests(c, struct.pack(">HI", 4, 1000)):
        if has_body:
            uploads.append((c, stream))
            print("upload")
            continue
        if not uploads:
            c.sendall(frame(1, 5, stream, b"\x88"))
            continue
        uploading, upload = uploads.pop()
        body = struct.pack(">7000I", *range(7000))
        answer = frame(1, 4, stream, b"\x88") + b"".join(
            frame(0, int(end == 28000), stream, body[end - 4000:end]) for end in range(4000, 28001, 4000))
        if isinstance(upload, threading.Event):
            uploading.sendall(b"HTTP/1.1 413 Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge")
            upload.set()
            c.sendall(answer)
            continue
        # A literal :status (8) of 413.
        refusal = frame(1, 4, upload, b"\x08\x03413")
        end = frame(0, 1, upload, b"large") + frame(3, 0, upload, bytes(4))
        if uploading is c:
            c.sendall(refusal + answer + end)
        else:
            uploading.sendall(refusal + end)
            c.sendall(answer)

def refusing_upload(c):
    c = secure(c, "h2", "http/1.1")
    if c.selected_alpn_protocol() == "h2": return refusing_upload_http2(c)
    read_head(c)
    # Two threads must not use one connection over TLS at the same time.
    refused = threading.Event()
    uploads.append((c, refused))
    print("upload")
    refused.wait()

# Reads the body of a request, if its length is told; whether it is.
def read_body(c, head):
    lower = head.lower()
    if "content-length: " not in lower: return False
    exactly(c, int(lower.split("content-length: ")[1].split("\r\n")[0]))
    return True

both = threading.Barrier(2)

def losing_requests(c):
    number = next(numbers)
    while head := read_head(c):
        path = head.split(" ")[1]
        if path == "/both": both.wait()
        else: print(path)
        if read_body(c, head): return
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        if number == 2:
            c.shutdown(socket.SHUT_WR)
            print("ended")
            return

all_three = threading.Barrier(3)
answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

def losing_connections(c):
    number = next(numbers)
    for count in itertools.count():
        if not read_head(c): return
        if number > 3: print("answered")
        elif count == 0: all_three.wait()
        else: return print("lost")
        c.sendall(answer)

crowd = []

def losing_only_connection(c):
    read_head(c)
    # Connections that nobody accepts fill the queue; the system answers no other.
    server.shutdown()
    server.socket.listen(0)
    for _ in range(4):
        crowd.append(socket.socket())
        crowd[-1].setblocking(False)
        crowd[-1].connect_ex(server.server_address)
    c.sendall(answer)
    read_head(c)

def losing_patience(c):
    head = read_head(c)
    read_body(c, head)
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\npatient")
    # It is to come to a connection that nobody uses.
    time.sleep(0.1)
    if kind == "secureHangingUp":
        pass
    elif isinstance(c, ssl.SSLSocket):
        c.setblocking(False)
        try: c.unwrap()
        except ssl.SSLWantReadError: pass
    else:
        c.sendall(b"HTTP/1.1 408 Late\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    c.shutdown(socket.SHUT_WR)
    c.close()
    print("ended")

def deferring_http2(c):
    number = next(numbers)
    for stream in begun_streams(c):
        print("stream", stream, "of connection", number)
        if (number, stream) != (1, 1):
            c.sendall(frame(1, 4, stream, b"\x88") + frame(0, 1, stream, b"12345"))

def http1(c):
    while read_head(c):
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nunix")

def without_expectations(c):
    while head := read_head(c):
        fields = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if line)
        if "expect" in fields:
            c.sendall(b"HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n")
            continue
        length = str(len(exactly(c, int(fields["content-length"])))).encode()
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(length), length))

def closing(c):
    c.recv(1000)

# Stops the process that the path names.
def stopping(c):
    pid = int(read_head(c).split(" ")[1][1:])
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
    # It is to have read that before.
    time.sleep(0.2)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(7)
    os.kill(pid, signal.SIGCONT)
    time.sleep(0.1)
    c.sendall(b"k")

def silent(c):
    c.recv(1)
    print("begin")
    try:
        while c.recv(1000): pass
    finally: print("end")

def reset(c):
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    c.close()

def resetting(c):
    c.recv(1)
    reset(c)

def secure(c, *protocols, name="good"):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{sys.argv[2]}/{name}.pem", f"{sys.argv[2]}/{name}.key")
    context.set_alpn_protocols(list(protocols))
    return context.wrap_socket(c, server_side=True)

def over_tls(handler):
    return lambda c: handler(secure(c, "h2"))

def secure_proxy(c):
    http_proxy(secure(c))

def other_secure_proxy(c):
    http_proxy(secure(c, name="other"))

handlers = {"httpProxy": http_proxy, "authenticatingProxy": http_proxy, "socks5": socks5,
            "goAway": http2, "goAwayInBody": http2, "streamReset": http2, "streamRefused": http2,
            "streamResetBeforeHead": http2, "silent": silent,
            "endingHTTP2": ending_http2, "resettingHTTP2": ending_http2, "leavingHTTP2": ending_http2,
            "refusingHTTP2": ending_http2,
            "secureEndingHTTP2": over_tls(ending_http2),
            "earlyHTTP2": early_http2, "answeringHTTP2": answering_http2,
            "contentHTTP2": content_http2, "packingHTTP2": packing_http2, "holdingHTTP2": packing_http2,
            "pairingHTTP2": pairing_http2,
            "refusingUploadHTTP2": refusing_upload_http2, "secureRefusingUpload": refusing_upload,
            "losingRequests": losing_requests,
            "secureLosingConnections": lambda c: losing_connections(secure(c, "http/1.1")),
            "losingOnlyConnection": losing_only_connection,
            "losingPatience": losing_patience, "unixLosingPatience": losing_patience,
            "secureLosingPatience": lambda c: losing_patience(secure(c, "http/1.1")),
            "secureHangingUp": lambda c: losing_patience(secure(c, "http/1.1")),
            "deferringHTTP2": deferring_http2, "secureDeferringHTTP2": over_tls(deferring_http2),
            "secureProxy": secure_proxy, "otherSecureProxy": other_secure_proxy, "resetting": resetting,
            "unixSocket": http1, "closing": closing, "stopping": stopping,
            "withoutExpectations": without_expectations}

class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        try: handlers[kind](self.request)
        except (EOFError, OSError): pass

if kind.startswith("unix"):
    path = os.path.join(sys.argv[2], "%d.socket" % os.getpid())
    server = socketserver.ThreadingUnixStreamServer(path, Handler)
    print(path)
else:
    socketserver.ThreadingTCPServer.request_queue_size = 128
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1])
server.daemon_threads = True
server.serve_forever()
threading.Event().wait()
