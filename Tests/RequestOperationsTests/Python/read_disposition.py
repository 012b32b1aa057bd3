"""Prints the names of the parameters of the first part's `Content-Disposition`, and the lengths of their values, as JSON."""

import sys, json
from email.parser import BytesParser

part = BytesParser().parsebytes(sys.stdin.buffer.read()).get_payload()[0]
read = part.get_params(header="content-disposition", unquote=True)
print(json.dumps([[name, len(value)] for name, value in read]))
