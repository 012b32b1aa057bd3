"""A server that speaks HTTP/2 without TLS, frame by frame, and answers each request by the code in its first argument.

`HTTP2Peer` says what that code may use. It prints its port first.
"""

import itertools, os, socketserver, struct, sys, textwrap, threading

from peer import told

def tell(*words):
    sys.stdout.write(" ".join(str(word) for word in words) + "\n")

# The codes of up to eight bits (RFC 7541, appendix B), of which each length has those that follow a first one.
codes = {(bits, first + offset): symbol for bits, first, symbols in (
    (5, 0, "012aceiost"), (6, 20, " %-./3456789=A_bdfghlmnpru"),
    (7, 92, ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz"), (8, 248, "&*,;XZ")) for offset, symbol in enumerate(symbols)}

def decoded(data):
    text, bits, code = "", 0, 0
    for byte in data:
        for shift in range(7, -1, -1):
            bits, code = bits + 1, code << 1 | byte >> shift & 1
            if (bits, code) in codes: text, bits, code = text + codes[bits, code], 0, 0
    # The rest is padding.
    assert bits < 8, data
    return text

# The entries of the static table (RFC 7541, appendix A) that anybody asks for.
static = {2: (":method", "GET"), 3: (":method", "POST"), 4: (":path", "/"), 28: ("content-length", "")}

# The fields of the requests of a connection.
class Decoder:
    def __init__(self):
        self.dynamic = []

    def fields(self, block):
        self.rest, fields = iter(block), {}
        for first in self.rest:
            if first & 0xe0 == 0x20:
                self.integer(first, 5)
                continue
            if first & 0x80:
                name, value = self.entry(self.integer(first, 7))
            else:
                index = self.integer(first, 6 if first & 0x40 else 4)
                name, value = self.entry(index)[0] if index else self.text(), self.text()
                # Those that the client forgets it does not name again.
                if first & 0x40: self.dynamic.insert(0, (name, value))
            fields[name] = value
        return fields

    def entry(self, index):
        return static.get(index, ("", "")) if index < 62 else self.dynamic[index - 62]

    def integer(self, first, bits):
        value, shift = first & (1 << bits) - 1, 0
        if value < (1 << bits) - 1: return value
        while True:
            byte = next(self.rest)
            value, shift = value + ((byte & 0x7f) << shift), shift + 7
            if byte < 0x80: return value

    def text(self):
        first = next(self.rest)
        data = bytes(itertools.islice(self.rest, self.integer(first, 7)))
        return decoded(data) if first & 0x80 else data.decode()

# The length of a text in ASCII (RFC 7541, section 5.1).
def length(text):
    rest = len(text) - 127
    if rest < 0: return bytes([len(text)])
    encoded = b"\x7f"
    while rest >= 128: encoded, rest = encoded + bytes([rest & 127 | 128]), rest >> 7
    return encoded + bytes([rest])

class Reset(Exception): pass

period = bytes(range(251)) * 70

class Stream:
    def __init__(self, connection, id, fields, has_ended):
        self.connection, self.id, self.fields, self.has_ended = connection, id, fields, has_ended
        self.method, self.path = fields[":method"], fields[":path"]
        self.window, self.sent, self.received, self.error = connection.initial_window, 0, b"", None

    def head(self, status, *fields, ends=False):
        # The name of the first is entry 8 of the static table.
        self.fields_frame(b"\x08\x03%d" % status, fields, ends)

    def trailers(self, *fields):
        self.fields_frame(b"", fields, True)

    def fields_frame(self, block, fields, ends):
        for name, value in fields:
            block += b"\0%b%b%b%b" % (length(name), name.encode(), length(value), value.encode())
        frames = [block[start:start + 16384] for start in range(0, max(len(block), 1), 16384)]
        for number, frame in enumerate(frames):
            is_last = number == len(frames) - 1
            self.connection.send(9 if number else 1, 4 * is_last | (0 if number else int(ends)), self.id, frame)

    def send(self, data, ends=True):
        self.pieces(len(data), lambda start, count: data[start:start + count], ends)

    # The bytes of `LoopbackServer.Response.large`.
    def pattern(self, count, ends=True):
        self.pieces(count, lambda start, count: period[start % 251:start % 251 + count], ends)

    def pieces(self, length, piece, ends):
        start = 0
        if ends and length == 0: self.connection.send(0, 1, self.id)
        while start < length:
            count = self.take(min(length - start, 16384))
            self.connection.send(0, int(ends and start + count == length), self.id, piece(start, count))
            start += count

    # Waits until flow control lets something out.
    def take(self, most):
        connection = self.connection
        with connection.changed:
            connection.changed.wait_for(
                lambda: self.error is not None or min(self.window, connection.window) > 0)
            if self.error is not None: raise Reset
            count = min(most, self.window, connection.window)
            self.window, connection.window, self.sent = self.window - count, connection.window - count, self.sent + count
            return count

    def body(self):
        body = bytearray()
        while True:
            with self.connection.changed:
                self.connection.changed.wait_for(
                    lambda: self.error is not None or self.received or self.has_ended)
                if self.error is not None: raise Reset
                if not self.received: return body
                count = len(self.received)
                body += self.received
                self.received = b""
            if not self.has_ended: self.connection.send(8, 0, self.id, struct.pack(">I", count))

    def reset(self):
        with self.connection.changed:
            self.connection.changed.wait_for(lambda: self.error is not None)
        return self.error

numbers = itertools.count(1)
door = threading.Event()

class Connection:
    def __init__(self, socket):
        self.socket, self.number, self.streams = socket, next(numbers), {}
        self.window = self.initial_window = 65535
        self.changed, self.sending, self.decoder = threading.Condition(), threading.Lock(), Decoder()

    def send(self, type, flags, stream, payload=b""):
        with self.sending:
            self.socket.sendall(
                struct.pack(">I", len(payload))[1:] + bytes([type, flags]) + struct.pack(">I", stream) + payload)

    def exactly(self, count):
        data = bytearray()
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more: raise EOFError
            data += more
        return bytes(data)

    def run(self):
        try:
            self.exactly(24)
            self.send(4, 0, 0)
            while True:
                head = self.exactly(9)
                self.take(head[3], head[4], int.from_bytes(head[5:], "big"),
                          self.exactly(int.from_bytes(head[:3], "big")))
        except (EOFError, OSError): pass
        with self.changed:
            for stream in self.streams.values(): stream.error = stream.error or "end"
            self.changed.notify_all()

    def take(self, type, flags, id, payload):
        if type == 0 and payload: self.send(8, 0, 0, struct.pack(">I", len(payload)))
        with self.changed:
            stream = self.streams.get(id)
            if type == 0 and stream:
                stream.received += payload
                stream.has_ended = bool(flags & 1)
            elif type == 1 and not stream:
                # There may be a priority before the fields; no client of ours pads them or goes on in a second frame.
                fields = self.decoder.fields(payload[5:] if flags & 0x20 else payload)
                stream = self.streams[id] = Stream(self, id, fields, bool(flags & 1))
                threading.Thread(target=self.answer, args=(stream,), daemon=True).start()
            elif type == 3 and stream:
                stream.error = int.from_bytes(payload, "big")
            elif type == 4 and not flags & 1:
                for setting, value in struct.iter_unpack(">HI", payload):
                    if setting == 4: self.initial_window = value
            elif type == 8:
                credit = int.from_bytes(payload, "big")
                if id == 0: self.window += credit
                elif stream: stream.window += credit
            self.changed.notify_all()
        if type == 4 and not flags & 1: self.send(4, 1, 0)
        if type == 6 and not flags & 1: self.send(6, 1, 0, payload)

    def answer(self, stream):
        try: answer(stream)
        except (Reset, OSError): pass
        except Exception as error: tell("error", repr(error))

exec("def answer(s):\n" + textwrap.indent(sys.argv[1], "    "))

class Handler(socketserver.BaseRequestHandler):
    def handle(self): Connection(self.request).run()

socketserver.ThreadingTCPServer.request_queue_size = 128
server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
tell(server.server_address[1])
server.serve_forever()
