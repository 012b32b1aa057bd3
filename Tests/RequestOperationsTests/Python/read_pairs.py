"""Reads a form and prints its pairs as JSON, by Python's `urllib`."""

import sys, json, urllib.parse

pairs = urllib.parse.parse_qsl(sys.stdin.buffer.read().decode("ascii"), keep_blank_values=True,
    strict_parsing=True, errors="strict")
assert len(pairs) == len(dict(pairs))
print(json.dumps(dict(pairs)))
