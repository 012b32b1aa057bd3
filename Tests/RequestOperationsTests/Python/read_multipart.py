"""Reads a multipart message and prints its parts as JSON, by Python's package `email`.

Its parser reads the fields of a part. It reads their quoted strings too if they are of ASCII and without a backslash, which it
takes for an escape and a browser's form does not.
"""

import sys, json, base64, re
from email.parser import BytesParser

message = BytesParser().parsebytes(sys.stdin.buffer.read())
assert message.is_multipart() and not message.defects, message.defects
parts = []
for part in message.get_payload():
    assert not part.defects, part.defects
    line = dict(part.raw_items())["Content-Disposition"].encode("utf-8", "surrogateescape").decode("utf-8")
    match = re.fullmatch(r'form-data; name="([^"\r\n]*)"(?:; filename="([^"\r\n]*)")?', line, re.DOTALL)
    if line.isascii() and "\\" not in line:
        read = [part.get_param(name, header="content-disposition") for name in ("name", "filename")]
        assert read == [match[1], match[2]], line
    plain = lambda text: text if text is None else [
        ord(c) for c in text.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n").replace("%5C", "\\")]
    parts.append({"name": plain(match[1]), "fileName": plain(match[2]), "fields": len(part.items()),
        "content": base64.b64encode(part.get_payload(decode=True)).decode()})
print(json.dumps(parts))
