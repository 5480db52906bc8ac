#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills tables and figures of README.md and of the pages beside this file from the committed results in bench/results.

    make_results.py            writes them anew
    make_results.py --check    exits with 1 if one differs from its result file, if a figure looks measured and comes
                               from no result file (stated.py), or if a result file is none of those that
                               bench/record.py makes; says which

A line `<!-- FILE: TITLE -->` stands before the table of that title of a study's JSON (`cornea study
NAME --json FILE`), and `<!-- end -->` after it; `<!-- FILE: TITLE: COLUMN; COLUMN -->` takes these columns
alone. `<!-- FILE: words: HEADING -->` takes the sentences of a section, `<!-- FILE: facts -->` the machine.

`<!-- figures/NAME.md -->` .. `<!-- end -->` takes that file's text, in which `{{FILE PATH = FORMAT}}` stands for a
figure. A figure in a sentence is `<!-- FILE PATH = FORMAT -->figure<!-- / -->`, not at the beginning of a line, which
Markdown would take for HTML.

PATH leads through the result's objects by their keys, and through its lists by an index or by what an entry holds:
`results[detector=sift,width=1920].points`. `max results[*].points` is the largest of all entries, `[*detector=sift]`
takes those that hold this; min, sum, mean, median and count likewise. `PATH / PATH` divides, where the second may
begin with another FILE; `more PATH / PATH` is by how many percent the first exceeds the second, `less` by how many
it stays below.

FORMAT is Python's for one number, as `.2f`; `ms` writes milliseconds as s, ms or µs; `3` three digits that matter;
`s` a text; `.1f*1e-6` scales. What was not measured (null) is written as a dash.

A line that begins with `{{each FILE PATH}}` is written once per entry of that list, or per entry that holds what a last
`[..]` says, and in it `{{PATH = FORMAT}}` leads on from the entry.
"""
import functools
import json
import math
import re
import statistics
import sys
from pathlib import Path

import stated

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "bench"))
import record  # noqa: E402

RESULTS = DOCS.parent / "bench" / "results"
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]
FIGURE = re.compile(r"(<!-- ([\w.-]+\.json) ([^\n]*?) = ([^\n]*?) -->)(.*?)(<!-- / -->)")
EACH = re.compile(r"^\{\{each ([\w.-]+\.json) (.*?)\}\} (.*)$", re.M)
OWN = re.compile(r"\{\{([^{}]*?) = (.*?)\}\}")
PLACE = re.compile(r"\{\{([\w.-]+\.json) (.*?) = (.*?)\}\}")
TEXT = re.compile(r"(<!-- figures/([\w-]+\.md) -->\n).*?(<!-- end -->)", re.S)
STEP = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")
OVER = {"max": max, "min": min, "sum": sum, "mean": statistics.mean, "median": statistics.median, "count": len}
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
    report = result(file)
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


def entries(at, selector):
    """Those of a list that hold what "key=value,key=value" says."""
    wanted = [condition.split("=", 1) for condition in selector.split(",")]
    return [entry for entry in at if all(str(entry.get(k)) == v for k, v in wanted)]


def follow(at, path, where):
    """What a path leads to; a list, where it has a [*]."""
    front, star, rest = path.partition("[*")
    if star:
        selector, _, rest = rest.partition("]")
        all_of_them = follow(at, front, where)
        if isinstance(all_of_them, dict):
            all_of_them = list(all_of_them.values())
        return [follow(entry, rest, where) for entry in (entries(all_of_them, selector) if selector else all_of_them)]
    for key, selector in STEP.findall(path):
        try:
            if key:
                at = at[key]
            elif selector.lstrip("-").isdigit():
                at = at[int(selector)]
            else:
                (at,) = entries(at, selector)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            sys.exit(f"{where}: {path} leads to nothing, or to more than one, at {key or selector} ({error})")
    return at


@functools.cache
def result(file):
    return json.loads((RESULTS / file).read_text())


def duration(milliseconds):
    """Two digits that matter, all of a number above 100."""
    unit, scale = ("s", 1e3) if milliseconds >= 999.5 else ("ms", 1) if milliseconds >= 0.00995 else ("µs", 1e-3)
    value = milliseconds / scale
    return f"{value:.{max(0, 1 - math.floor(math.log10(float(f'{value:.1e}'))))}f} {unit}"


def term(at, path, where):
    """The value of "PATH", "FILE PATH", "max PATH" and the like."""
    first, _, rest = path.partition(" ")
    if first.endswith(".json"):
        return term(result(first), rest, first)
    return OVER[first](follow(at, rest, where)) if rest and first in OVER else follow(at, path, where)


def value_of(at, path, where):
    """The value of a term, or of two divided."""
    first, slash, second = path.partition(" / ")
    if not slash:
        return term(at, path, where)
    word, _, rest = first.partition(" ")
    ratio = term(at, rest if word in ("more", "less") else first, where) / term(at, second, where)
    return 100 * (ratio - 1) if word == "more" else 100 * (1 - ratio) if word == "less" else ratio


def figure_text(at, path, form, where):
    value = value_of(at, path, where)
    if value is None:
        return "–"
    if form == "s" and isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        sys.exit(f"{where}: {path} is no number")
    if form == "ms":
        return duration(value)
    if form == "3":
        return number(float(value))
    form, _, factor = form.partition("*")
    return format(value * float(factor) if factor else value, form)


def row_text(file, path, row):
    """The row once per entry of a list."""
    front, _, selector = path.rpartition("[") if path.endswith("]") else (path, "", "")
    chosen = follow(result(file), front, file)
    if selector:
        chosen = entries(chosen, selector[:-1])
    if not chosen:
        sys.exit(f"{file}: {path} has no entry")
    return "\n".join(OWN.sub(lambda f: figure_text(entry, f[1], f[2], file), row) for entry in chosen)


def template_text(name):
    text = (DOCS / "figures" / name).read_text()
    text = EACH.sub(lambda m: row_text(m[1], m[2], m[3]), text)
    text = PLACE.sub(lambda f: figure_text(result(f[1]), f[2], f[3], f[1]), text)
    left = re.search(r"\{\{.*", text)
    if left:
        sys.exit(f"figures/{name}: {left[0][:60]} is no figure")
    return text


def filled(text):
    text = BLOCK.sub(lambda m: m[1] + "\n" + block_text(m[2], m[3]) + "\n" + m[4], text)
    text = TEXT.sub(lambda m: m[1] + "\n" + template_text(m[2]) + "\n" + m[3], text)
    return FIGURE.sub(lambda m: m[1] + figure_text(result(m[2]), m[3], m[4], m[2]) + m[6], text)


def strays():
    """Result files that record.py does not make, and those that name no commit."""
    for file in sorted(RESULTS.glob("*.json")):
        machine, _, name = file.stem.partition("-")
        if name not in record.names("cuda" if machine == "h200" else "cpu"):
            yield f"bench/results/{file.name}: bench/record.py does not make it"
        report = result(file.name)
        runs = report["runs"] if isinstance(report.get("runs"), list) else []
        if not any(isinstance(part, dict) and part.get("commit") for part in (report, report.get("facts"), *runs)):
            yield f"bench/results/{file.name}: names no commit"


def complaints():
    """Figures that come from no result file, those that Markdown would not show, and result files made by hand."""
    yield from strays()
    known = list(stated.listed())
    for page in [*PAGES, *sorted((DOCS / "figures").glob("*.md"))]:
        name, text = str(page.relative_to(DOCS.parent)), page.read_text()
        yield from stated.unlisted(name, text, known)
        for line, words in enumerate(text.split("\n"), 1):
            if FIGURE.match(words.lstrip()):
                yield f"{name}:{line}: begins with a figure, and Markdown takes the line for HTML; begin with a word"


def main():
    differ = False
    for page in PAGES:
        old = page.read_text()
        new = filled(old)
        if "--check" not in sys.argv:
            page.write_text(new)
        elif old != new:
            differ = True
            for was, wanted in zip(old.splitlines(), new.splitlines()):
                if was != wanted:
                    print(f"{page.name}: this differs from the result files:\n  {was}\n  they say:\n  {wanted}")
                    break
    if "--check" in sys.argv:
        for sentence in complaints():
            differ = True
            print(sentence)
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
