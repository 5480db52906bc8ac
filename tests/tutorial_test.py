#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types what docs/tutorial.md tells its readers to type: tutorial_test.py PROGRAM [PROJECT].

Every line `$ cornea ...` is run in an empty folder, in order. It must succeed, and every line of output that the page
shows must be among what the program prints, numbers aside: the views are drawn with one ray per pixel here, which is
sixteen times as fast and gives other numbers; all else runs on two CPU threads, as on the page. Files that the output
names must be there.
"""
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

NUMBER = re.compile(r"[-+]?\d[\d,.]*(?:e[-+]?\d+)?")


def form(line):
    """A line without its numbers and its spacing."""
    return " ".join(NUMBER.sub("#", line).split())


def steps(page):
    """(words of a command, the lines of output that the page shows) of every console block."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.M | re.S):
        command = None
        for line in block.rstrip("\n").split("\n"):
            if line.startswith("$ "):
                if command:
                    yield command, shown
                command, shown = shlex.split(line[2:]), []
            else:
                shown.append(line)
        yield command, shown


def main():
    program = str(Path(sys.argv[1]).resolve())
    project = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent.parent)
    page = (project / "docs" / "tutorial.md").read_text(encoding="utf-8")
    wrong, run = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for command, shown in steps(page):
            if command[0] != "cornea":
                continue
            run += 1
            added = ["--samples", "1"] if command[1] == "scene" else ["--device", "cpu", "--threads", "2"]
            done = subprocess.run([program, *command[1:], *added], cwd=folder, capture_output=True, text=True)
            name = " ".join(command)
            if done.returncode != 0:
                wrong.append(f"'{name}' ended with {done.returncode}: {done.stderr.strip()}")
            printed = {form(line) for line in done.stdout.split("\n")}
            for line in shown:
                if line != "..." and form(line) not in printed:
                    wrong.append(f"'{name}' does not print a line like '{line}' but\n{done.stdout}")
            for file in re.findall(r"^(?:picture|page|database|pairs): (\S+\.\w+)$", "\n".join(shown), re.M):
                if not (Path(folder) / file).is_file():
                    wrong.append(f"'{name}' left no {file}")
    if run < 5:
        wrong.append(f"docs/tutorial.md has {run} commands")
    print("\n".join(wrong) or f"{run} commands work as docs/tutorial.md shows them")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
