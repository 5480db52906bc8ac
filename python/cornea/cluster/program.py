# SPDX-License-Identifier: Apache-2.0
"""Calls of the program on the local node."""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class ProgramFailed(Exception):
    def __init__(self, reason: str, killed: bool):
        super().__init__(reason)
        self.reason, self.killed = reason, killed


def find_program(given: str = "") -> str:
    """The path of the program on the local node."""
    for candidate in (given, os.environ.get("CORNEA_PROGRAM", ""), str(Path(__file__).parent.parent / "bin" / "cornea"),
                      shutil.which("cornea") or ""):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise FileNotFoundError("the program cornea is not on this node; install the package there, or name it by CORNEA_PROGRAM")


def local_folder(local: str) -> str:
    """The folder for temporary files on this node; "", the system's, if the name has a variable that is not set here."""
    expanded = os.path.expandvars(local)
    return "" if re.search(r"\$(\w|\{)", expanded) else expanded


def _die_with_parent() -> None:
    """Makes the kernel kill the program when its worker dies."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def call(program: str, words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The program's JSON and its lines on standard error."""
    done = subprocess.run([program, *words, "--quiet", "--json", "-"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", preexec_fn=_die_with_parent)
    lines = done.stderr.strip().splitlines()
    if done.returncode in (0, 1) and done.stdout.strip():
        found: dict[str, Any] = json.loads(done.stdout)
        return found, lines
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise ProgramFailed(f"the program was ended by {name}", done.returncode == -signal.SIGKILL)
    raise ProgramFailed(lines[-1] if lines else f"the program ended with {done.returncode}", False)


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
