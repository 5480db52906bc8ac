#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documentation without building its site: docs_test.py [PROJECT]. Prints what is wrong and exits 1.

1. Every link of the Markdown pages leads to a file and a heading (docs/links.py).
2. The check itself finds links that are dead.
3. Messages that docs/troubleshooting.md quotes are those of the program.
4. A figure that was edited, and one that comes from no result file, make docs/make_results.py --check fail.
5. What the C++ reference reads off the public headers (docs/site/cpp_headers.py) is all that they declare.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(PROJECT / "docs"), str(PROJECT / "docs" / "site"), str(PROJECT / "tests")]

import cpp_headers  # noqa: E402
import house_test  # noqa: E402
import links  # noqa: E402

DEAD = """# A page
## Two `words`, here
## Two words here
[good](#two-words-here) [good](#two-words-here-1) [good](https://nowhere.invalid/) ![good](docs/a.png) [good](docs/b.md#c)
[dead](#two-words) [dead](docs/c.md) ![dead](docs/b.png) [dead](docs/b.md#d) [dead](../outside.md)
[good on
two lines](docs/b.md) and [dead on
two lines](docs/e.md)
`[code](nothing.md)`
```cpp
[&](int x) { return x; }  [code](nothing.md)
```
"""


def dead_links_are_found():
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve() / "project"
        (project / "docs").mkdir(parents=True)
        (project / "README.md").write_text(DEAD)
        (project.parent / "outside.md").write_text("")
        (project / "docs" / "a.png").write_text("")
        (project / "docs" / "b.md").write_text("# c\n")
        found = [sentence.split(": ")[0] for sentence in links.dead_links(project)]
    expected = ["README.md:5"] * 5 + ["README.md:7"]
    if found != expected:
        yield f"links.py named {found} as dead instead of {expected}"


FIGURES = {  # an edit of a page or of the list of stated figures, and what the check must say about it
    "a figure of a table": ("README.md", r"(\| Cornea \| \d\d,\d\d)\d", r"\g<1>x", "README.md: this differs"),
    "a figure of a sentence": ("docs/foagdd.md", r"(\d+)(<!-- / --> calls)", r"1\1\2", "foagdd.md: this differs"),
    "a time in a sentence": ("docs/match.md", r"\Z", "It takes 1.7 ms.\n", "match.md:\\d+: .*'1.7 ms'"),
    "a count": ("README.md", r"\Z", "It finds 5,517 points.\n", "README.md:\\d+: .*'5,517'"),
    "an accuracy": ("docs/sift.md", r"\Z", "The error is 0.57 here.\n", "sift.md:\\d+: .*'0.57'"),
    "a table by hand": ("docs/svd.md", r"\Z", "\n| a | b |\n|---|---|\n| c | 1.5 |\n", "svd.md:\\d+: .*'1.5'"),
    "a figure in a template": ("docs/figures/svd-h200.md", r"\Z", "It takes 3 s.\n", "svd-h200.md:\\d+: .*'3 s'"),
    "a phrase that is not there": ("docs/figures/stated.txt", r"\Z", "docs/svd.md: in 7 ms: bound\n", "'in 7 ms'"),
    "a result file of no commit": ("bench/results/h200-svd.json", r'"commit": "\w+"', '"commit": ""', "h200-svd.json: names no commit"),
    "a reason that is none": ("docs/figures/stated.txt", r"\Z", "docs/svd.md: in 7 ms: measured\n", "no reason"),
}


def wrong_figures_are_found():
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        shutil.copytree(PROJECT / "docs", copy / "docs", ignore=shutil.ignore_patterns("images", "site", "__pycache__"))
        shutil.copytree(PROJECT / "bench" / "results", copy / "bench" / "results")
        shutil.copy(PROJECT / "bench" / "record.py", copy / "bench")
        shutil.copy(PROJECT / "README.md", copy)

        def check():
            done = subprocess.run([sys.executable, "-B", copy / "docs" / "make_results.py", "--check"],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

        if check()[0] != 0:
            yield "docs/make_results.py --check fails; what it says is the test docs.TablesAreThoseOfTheResults"
            return
        for what, (name, pattern, by, expected) in FIGURES.items():
            page = copy / name
            text = page.read_text(encoding="utf-8")
            edited = re.sub(pattern, by, text, count=1)
            page.write_text(edited, encoding="utf-8")
            code, said = check()
            if edited == text or code != 1 or not re.search(expected, said):
                yield f"make_results.py --check does not find {what} in {name}: it ends with {code} and says '{said}'"
            page.write_text(text, encoding="utf-8")


def without_flags(text):
    """The library names options (max_size, changed = redo), which the program writes as flags (--max-size, --changed
    redo)."""
    text = re.sub(r"--([a-z-]+)", lambda flag: flag.group(1).replace("-", "_"), text)
    return re.sub(r"\b(changed) = ", r"\1 ", text)


def messages_are_those_of_the_program():
    """Of a quoted message every phrase, between dots and punctuation, must stand in one string of the sources."""
    literal = re.compile(r'"((?:\\.|[^"\\\n])*)"(\s*)')
    strings = []
    for path in sorted((PROJECT / "src" / "cornea").rglob("*")):
        if path.suffix not in (".cc", ".cu", ".h") or "_test" in path.name:
            continue
        text, end = path.read_text(encoding="utf-8"), -1
        for found in literal.finditer(text):
            if found.start() == end:  # the compiler joins strings that follow each other
                strings[-1] += found.group(1)
            else:
                strings.append(found.group(1))
            end = found.end()
    known = without_flags("\n".join(strings)) + "\nNo space left on device\n"  # which the system says
    page = (PROJECT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```text\n(.*?)^```", page, re.M | re.S)
    for line in "".join(blocks).split("\n"):
        line = without_flags(line.removeprefix("cornea: "))
        for part in re.split(r"…|[:;,()](?=\s|$)|(?<=[\s:])\(|\)", line):
            part = part.strip()
            if len(part) > 8 and part not in known:
                yield f"docs/troubleshooting.md: no string of the program holds '{part}'"
    if len(blocks) < 10:
        yield "docs/troubleshooting.md: quotes no messages"


def declared(text):
    """Names that a header gives to users, found by another way than the reference does: what is exported, and every
    struct and enum at the beginning of a line."""
    text = re.sub(r"//[^\n]*", "", text)
    body = "\n".join(part for part in re.split(r"^namespace (?!cornea\b)\w+ \{.*?^\}", text, flags=re.S | re.M))
    names = set(re.findall(r"^(?:class|struct|enum class)(?: CORNEA_API)? (\w+)[^;{()]*\{", body, re.M))
    for statement in re.findall(r"^CORNEA_API [^;{]*", body, re.M):
        while re.search(r"<[^<>]*>", statement):
            statement = re.sub(r"<[^<>]*>", "", statement)
        called = re.search(r"([\w:]+)\s*\(", statement)
        if called:
            names.add(called.group(1))
    return names


def headers_are_read_whole():
    cmake = (PROJECT / "src" / "cornea" / "CMakeLists.txt").read_text()
    count = 0
    for name in sorted(house_test.public_headers(cmake)[0] - {"core/build.h"}):
        text = (PROJECT / "src" / "cornea" / name).read_text()
        header = cpp_headers.read_header(text, f"cornea/{name}")
        names = {one.name for one in header.declarations()}
        missing = sorted(declared(text) - names)
        count += len(names)
        if missing:
            yield f"{name}: the reference lacks {', '.join(missing)}"
        if not header.comment:
            yield f"{name}: has no opening comment"
        for one in header.declarations():
            if one.kind == "type" and ("private:" in one.code or any(
                    member.name.endswith("_") for group in one.groups for member in group.declarations)):
                yield f"{name}: the reference shows private members of {one.name}"
    if count < 100:
        yield f"the reference found {count} names in all public headers"


def main():
    wrong = [*links.dead_links(PROJECT), *dead_links_are_found(), *wrong_figures_are_found(),
             *messages_are_those_of_the_program(), *headers_are_read_whole()]
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    if not links.pages(PROJECT):
        wrong.append(f"{PROJECT} has no pages")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
