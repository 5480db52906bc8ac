#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what the program shows on a terminal of 40 columns: terminal_test.py PROGRAM."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

PROGRAM = os.path.abspath(sys.argv[1])
COLUMNS = 40


def shown(folder, *words):
    """Everything that the program writes to standard error on a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    program = subprocess.Popen([PROGRAM, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    text = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other side has closed
            break
        if not part:
            break
        text += part
    assert program.wait() == 0, f"{words} ended with {program.returncode}: {text}"
    return text.decode()


def lines(text):
    """The successive contents of the line."""
    return [part for part in re.split(r"[\r\n]|\x1b\[K", text) if part]


def main():
    with tempfile.TemporaryDirectory() as folder:
        scene = lines(shown(folder, "scene", "-o", "s", "--views", "3", "--width", "320",
                            "--height", "240"))
        assert any("3/3" in line for line in scene), f"scene shows no progress: {scene}"
        # A single call that takes seconds: the trilateral scale space.
        subprocess.run([PROGRAM, "scene", "-o", "t", "--views", "1", "--width", "720", "--height",
                        "540", "--quiet"], cwd=folder, check=True)
        detect = lines(shown(folder, "detect", "t/view_000.png", "--detector", "sift",
                             "--scale-space", "trilateral", "--device", "cpu", "--threads", "1"))
        assert any(re.search(r"\b[1-9][0-9]* s$", line) for line in detect), \
            f"a long call does not show its seconds: {detect}"
        # All stages of a folder in one display, if the build has SQLite.
        whole = []
        if "not in this build" not in subprocess.run([PROGRAM, "folder", "--help"], capture_output=True,
                                                     text=True, check=True).stdout:
            whole = lines(shown(folder, "folder", "s", "-o", "o", "--device", "cpu"))
            for stage in ("1/4 extract", "3/4 match", "4/4 verify"):
                assert any(line.startswith(stage) for line in whole), f"{stage} is not shown: {whole}"
        for line in scene + detect + whole:
            assert len(line) < COLUMNS, f"{len(line)} columns: {line}"
    print("the terminal shows progress")
    return 0


if __name__ == "__main__":
    sys.exit(main())
