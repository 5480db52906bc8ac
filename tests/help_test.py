#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the help, the manual pages and the completion scripts of a built program: help_test.py PROGRAM."""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = sys.argv[1]
complaints = []


def check(holds, words):
    if not holds:
        complaints.append(words)


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    check(done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def commands():
    """The commands listed in the program's own help."""
    return re.findall(r"^  ([a-z-]+)  ", run("--help").split("\nOptions:")[0], re.MULTILINE)


def check_help(words, text):
    name = " ".join(words)
    for line in text.splitlines():
        check(len(line) <= 80, f"{name}: {len(line)} columns: {line}")
    for artefact in ("{false}", "{true}", " in [", "NONNEGATIVE", "REQUIRED", "TEXT", "INT", "......",
                     "[["):
        check(artefact not in text, f"{name}: the parser's own words are shown: {artefact}")
    check(text.split("\n\n")[1].startswith("Example"), f"{name}: does not start with an example")


def main():
    names = commands()
    check({"detect", "pair", "verify"} <= set(names), f"commands are missing: {names}")
    top = run("--help")
    check_help([], top)
    check(top.index("  verify") < top.index("Measurements") < top.index("  bench"),
          "bench is not listed apart from the commands")
    for name in names:
        text = run(name, "--help")
        if "not in this build" in text:
            continue
        check_help([name], text)
        check(run("help", name) == text, f"help {name} is not {name} --help")
    sift, harris = run("detect", "--detector", "sift", "--help"), run("detect", "--help")
    for text, has, has_not in ((sift, "--contrast", "--window-shape"),
                               (harris, "--window-shape", "--contrast")):
        check(has in text and has_not not in text, f"{has} and not {has_not} belongs to this help")

    with tempfile.TemporaryDirectory() as folder:
        run("manual", folder)
        for name in names:
            check((Path(folder) / f"man/man1/cornea-{name}.1").is_file(), f"{name} has no manual page")
        scripts = {"bash": "bash-completion/completions/cornea", "zsh": "zsh/site-functions/_cornea",
                   "fish": "fish/vendor_completions.d/cornea.fish"}
        for shell, file in scripts.items():
            file = Path(folder) / file
            check(file.read_text() == run("completion", shell), f"{file} is not 'completion {shell}'")
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", file], capture_output=True, text=True)
                check(done.returncode == 0, f"{shell}: {done.stderr}")
        words = ("COMP_WORDS=(cornea detect --subp); COMP_CWORD=2; _cornea; echo ${COMPREPLY[@]}; "
                 "COMP_WORDS=(cornea detect --subpixel q); COMP_CWORD=3; _cornea; echo ${COMPREPLY[@]}")
        done = subprocess.run(["bash", "-c", f"source {folder}/{scripts['bash']}; {words}"],
                              capture_output=True, text=True)
        check(done.stdout.split() == ["--subpixel", "--subpixel-radius", "quadratic"],
              f"bash completes to {done.stdout}{done.stderr}")

    print("\n".join(complaints) or f"the help of {len(names)} commands reads well")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
