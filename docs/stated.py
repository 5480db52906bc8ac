#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds figures in Markdown text that look measured and do not come from a result file.

What make_results.py fills in is left out, and so are code, formulas, links, versions, and tables of options, which
have a column "default". What remains looks measured if it is

- a number with a unit of time, memory, rate or share: 5 ms, 0.3 GB, 20 images/s, 4%, 3 times as fast;
- a fraction of a pixel: 0.05 pixel;
- a count in thousands that is neither round nor a power of two: 5,516;
- a fraction of three digits or more, 0.57 or 12.3, in a table any fraction;
- a power of ten below one: 4e-5.

Such a figure must stand in a phrase that figures/stated.txt lists, with the reason why it is not a measured one of
ours. A line of that file is `PAGE: PHRASE: REASON`.
"""
import re
from pathlib import Path

STATED = Path(__file__).resolve().parent / "figures" / "stated.txt"
REASON = re.compile(r"definition|bound|arithmetic|example|data|limit of a test|published by .+")

LEFT_OUT = [
    re.compile(r"^ *```.*?^ *```", re.S | re.M),
    re.compile(r"(?<=\n\n)(?: {4}[^\n]*\n)+"),  # formulas
    re.compile(r"<!-- (?:figures/[\w-]+\.md|[\w.-]+\.json: [^\n]*?) -->\n.*?<!-- end -->", re.S),
    re.compile(r"<!-- [\w.-]+\.json [^\n]*? -->.*?<!-- / -->"),
    re.compile(r"\{\{.*?\}\}"),
    re.compile(r"<!--.*?-->", re.S),
    re.compile(r"`[^`]*`"),
    re.compile(r"(?<=\])\([^)]*\)"),  # links
    re.compile(r"^\|(?:.*\|)? default \|\n\|[-:| ]+\|\n(?:\|.*\n)*", re.M),  # options
    re.compile(r"\b(?:Python|CMake|CUDA|SQLite|OpenCV|COLMAP|pycolmap|Ubuntu|Debian)\s+\d[\d.]*(?:'s)?"),  # versions
]
NUMBER = r"(?<![\w.,^])\d+(?:,\d{3})*(?:\.\d+)?"
UNIT = (r"(?:ms|µs|us|ns|s|seconds?|minutes?|min|hours?|days?|years?|[kMGT]B(?:/s)?|\w*/s|per\s+second|percent|"
        r"times\s+(?:as|the|faster|slower|longer|more|fewer))(?!\w)|%")
POWER_OF_TWO = "1,024|2,048|4,096|8,192|16,384|32,768|65,536"
MEASURED = re.compile(rf"""
    {NUMBER}\s*(?:{UNIT})
  | {NUMBER}\s+h\b
  | (?<![\w.,])\d*\.\d+\s+(?:of\s+a\s+)?pixels?\b
  | (?<![\w.,])(?!(?:{POWER_OF_TWO})\b)\d{{1,3}}(?:,\d{{3}})+(?<!00)(?!\w)
  | (?<![\w.,^])(?:\d+\.\d{{2,}}|\d{{2,}}\.\d+)(?![\w.])
  | (?<![\w.])\d(?:\.\d+)?e-\d+
""", re.X)
TABLE = re.compile(r"^\|.*\n\|[-:| ]+\|\n(?:\|.*\n)*", re.M)
FRACTION = re.compile(r"(?<![\w.,])\d+\.\d+(?![\w.])")


def blank(text, pattern):
    """The text with every match as spaces, so that lines keep their numbers."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def listed():
    """(page, phrase) of every line of stated.txt."""
    for line in STATED.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            page, rest = line.split(": ", 1)
            phrase, reason = rest.rsplit(": ", 1)
            if not REASON.fullmatch(reason):
                raise SystemExit(f"{STATED.name}: '{reason}' is no reason for '{phrase}'")
            yield page, phrase


def unlisted(page, text, stated):
    """Sentences about figures of this page that look measured and are neither filled in nor stated, and about phrases
    that are stated for nothing."""
    for pattern in LEFT_OUT:
        text = blank(text, pattern)
    for of_page, phrase in stated:
        if of_page == page:
            pattern = re.compile(r"(?<!\w)" + r"\s+".join(map(re.escape, phrase.split())))
            if not pattern.search(text):
                yield f"{page}: figures/stated.txt lists '{phrase}', which is not there"
            elif not MEASURED.search(phrase) and not FRACTION.search(phrase):
                yield f"{page}: figures/stated.txt lists '{phrase}', which needs no reason"
            text = blank(text, pattern)
    found = list(MEASURED.finditer(text))
    taken = {m.start() for m in found}
    for table in TABLE.finditer(text):
        found += [m for m in FRACTION.finditer(text, table.start(), table.end()) if m.start() not in taken]
    for match in sorted(found, key=lambda m: m.start()):
        line = text.count("\n", 0, match.start()) + 1
        words = " ".join(text[max(0, match.start() - 40):match.end() + 20].split())
        yield f"{page}:{line}: no result file holds '{' '.join(match[0].split())}': … {words} …"
