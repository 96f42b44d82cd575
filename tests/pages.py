"""What is in an explorer page: its elements, and the data its script is given, read back in Python."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np


class Elements(HTMLParser):
    """All elements of a page, and its text without that of scripts and styles."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.inside = [], "", None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag if tag in ("script", "style") else self.inside

    def handle_endtag(self, tag):
        self.inside = None if tag == self.inside else self.inside

    def handle_data(self, data):
        self.text += "" if self.inside else data


def data_of(page):
    """Description and arrays, as packing.py wrote them, of a page or its file."""
    html = page.html if hasattr(page, "html") else Path(page).read_text(encoding="utf-8")
    text = re.search(r'id="data">([^<]*)<', html).group(1)
    whole = gzip.decompress(base64.b64decode(text))
    size = int.from_bytes(whole[:4], "little")
    content = json.loads(whole[4 : 4 + size])
    for name, (kind, start, length) in content["arrays"].items():
        content["arrays"][name] = np.frombuffer(whole, f"<{kind}", length, 4 + size + start)
    return content
