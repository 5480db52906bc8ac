#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every link of the Markdown pages leads somewhere: to a file, a folder, an image or a heading.

    links.py [FOLDER]    checks the pages of the project in FOLDER; prints dead links and exits with 1

Addresses on the web are not visited. Anchors of headings are made as GitHub makes them. The site (make_site.py)
has the same anchors, so that a link which holds here holds there.
"""
import re
import sys
from pathlib import Path
from urllib.parse import unquote

# [text](target), [text](target "title"), ![text](target). Targets of this project have no parentheses.
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")


def pages(project):
    """The Markdown pages that readers are led to."""
    found = sorted(project.glob("*.md")) + sorted(project.glob("docs/*.md"))
    return found + [page for page in [project / "golden" / "README.md"] if page.exists()]


def without_code(text):
    """The lines of a page with those of code blocks blanked, so that line numbers stay."""
    fence, lines = None, []
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence):
                fence = None
            lines.append("")
        elif mark:
            fence = mark.group(1)
            lines.append("")
        else:
            lines.append(line)
    return lines


def plain(heading):
    """A heading's text without its marks."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[`*]", "", heading)


def slug(heading):
    """GitHub's anchor of a heading: small letters, spaces as hyphens, no punctuation."""
    return re.sub(r"[^\w\- ]", "", plain(heading).strip().lower()).replace(" ", "-")


def anchors(text):
    """The anchors of a page's headings, in their order; a second of one name ends in -1, and so on."""
    seen, found = {}, []
    for line in without_code(text):
        heading = HEADING.match(line)
        if heading:
            name = slug(heading.group(2))
            count = seen.get(name, 0)
            seen[name] = count + 1
            found.append(f"{name}-{count}" if count else name)
    return found


def links(text):
    """(line number, target) of every link and image."""
    # A link may stand on two lines: paragraphs are searched whole.
    body = "\n".join(re.sub(r"`[^`]*`", "", line) for line in without_code(text))
    for found in LINK.finditer(body):
        yield body.count("\n", 0, found.start()) + 1, found.group(1)


def dead_links(project):
    """A sentence for every link that leads nowhere."""
    known = {}

    def anchors_of(page):
        if page not in known:
            known[page] = set(anchors(page.read_text(encoding="utf-8")))
        return known[page]

    for page in pages(project):
        for line, target in links(page.read_text(encoding="utf-8")):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            path, _, anchor = unquote(target).partition("#")
            aim = (page.parent / path).resolve() if path else page
            place = f"{page.relative_to(project)}:{line}"
            if not aim.exists():
                yield f"{place}: there is no {target}"
            elif not aim.is_relative_to(project):
                yield f"{place}: {target} lies outside of the project"
            elif anchor and aim.suffix == ".md" and anchor not in anchors_of(aim):
                yield f"{place}: {aim.relative_to(project)} has no heading #{anchor}"


def main():
    project = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = pages(project)
    dead = list(dead_links(project))
    for sentence in dead:
        print(sentence, file=sys.stderr)
    if not found:
        print(f"{project}: no pages are here", file=sys.stderr)
    if dead or not found:
        sys.exit(1)
    count = sum(1 for page in found for _ in links(page.read_text(encoding="utf-8")))
    print(f"{count} links of {len(found)} pages lead somewhere")


if __name__ == "__main__":
    main()
