#!/usr/bin/env python3
"""Fills the tables of results.md from the committed results in bench/results.

    make_results.py            writes the tables anew
    make_results.py --check    exits with 1 if a table differs from its result file

A line `<!-- FILE: TITLE -->` stands before the table of that title of a study's JSON (`cornea study
NAME --json FILE`), and `<!-- end -->` after it; `<!-- FILE: TITLE: COLUMN; COLUMN -->` takes these columns
alone. `<!-- FILE: words: HEADING -->` takes the sentences of a section, `<!-- FILE: facts -->` the machine.
"""
import json
import math
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS.parent / "bench" / "results"
BLOCK = re.compile(r"(<!-- ([\w.-]+\.json): (.*?) -->\n).*?(<!-- end -->)", re.S)


def number(value):
    """Three digits that matter, as the program writes them; whole numbers whole."""
    if value == int(value):
        return f"{int(value):,}"
    if abs(value) < 1e-5:
        return f"{value:.1e}"
    if abs(value) < 0.9995:
        return f"{value:.3f}" if abs(value) >= 0.0005 else "<0.001"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(float(f'{value:.2e}')))))}f}"


def cell(value):
    return "–" if value is None else value if isinstance(value, str) else number(value)


def table_text(table, wanted):
    columns = [c for c in table["columns"] if not wanted or c["name"] in wanted]
    if wanted and len(columns) != len(wanted):
        sys.exit(f"{table['title']}: not all of these are columns: {wanted}")
    heads = [f"{c['name']} ({c['unit']})" if c["unit"] else c["name"] for c in columns]
    left = [all(isinstance(row[c["key"]], (str, type(None))) for row in table["rows"]) for c in columns]
    lines = ["| " + " | ".join(h.replace("|", "\\|") for h in heads) + " |",
             "|" + "|".join("---" if text else "---:" for text in left) + "|"]
    lines += ["| " + " | ".join(cell(row[c["key"]]) for c in columns) + " |" for row in table["rows"]]
    return "\n".join(lines) + "\n\n" + table["caption"] + "\n"


def block_text(file, what):
    report = json.loads((RESULTS / file).read_text())
    if what == "facts":
        return "; ".join(f"{name}: {value}" for name, value in report["facts"].items()) + "\n"
    if what.startswith("words: "):
        for section in report["sections"]:
            if section["heading"] == what[7:]:
                return "\n\n".join(section["words"]) + "\n"
    tables = [t for s in report["sections"] for t in s["tables"]]
    # The longest title first: titles may hold colons.
    for table in sorted(tables, key=lambda t: -len(t["title"])):
        if what == table["title"]:
            return table_text(table, [])
        if what.startswith(table["title"] + ": "):
            return table_text(table, what[len(table["title"]) + 2:].split("; "))
    sys.exit(f"{file} has no '{what}'")


def main():
    page = DOCS / "results.md"
    old = page.read_text()
    new = BLOCK.sub(lambda m: m[1] + "\n" + block_text(m[2], m[3]) + "\n" + m[4], old)
    if "--check" in sys.argv:
        return int(old != new)
    page.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
