"""Reads pairs as JSON and prints them as a form, by Python's `urllib`."""

import sys, json, urllib.parse

print(urllib.parse.urlencode(json.load(sys.stdin)), end="")
