# SPDX-License-Identifier: Apache-2.0
"""Whether every link of a built site leads to a file and an anchor of it."""
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Addresses(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.targets = [], []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "src") and value:
                self.targets.append(value)


def dead_links(site):
    """A sentence for every link that leads nowhere, every anchor that stands twice, and what needs a network."""
    site = Path(site).resolve()
    pages = {}
    for path in sorted(site.rglob("*.html")):
        parser = Addresses()
        parser.feed(path.read_text(encoding="utf-8"))
        pages[path] = parser
    for path, page in pages.items():
        name = path.relative_to(site)
        for twice in sorted({one for one in page.ids if page.ids.count(one) > 1}):
            yield f"{name}: the anchor #{twice} stands there twice"
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "mailto"):
                continue
            if parts.scheme or parts.netloc or target.startswith("/"):
                yield f"{name}: {target} would not work from disk"
                continue
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not aim.is_file() or not aim.is_relative_to(site):
                yield f"{name}: there is no {target}"
            elif parts.fragment and (aim not in pages or unquote(parts.fragment) not in pages[aim].ids):
                yield f"{name}: {target} has no such anchor"
