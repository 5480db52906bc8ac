# SPDX-License-Identifier: Apache-2.0
"""`python -m cornea` is the program `cornea`."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    if sys.argv[1:2] == ["cluster"] and not {"-h", "--help"} & set(sys.argv[2:]):
        from .cluster import command

        sys.exit(command.main(sys.argv[2:]))
    program = Path(__file__).parent / "bin" / "cornea"
    if not program.exists():
        sys.exit("cornea: this package was built without the program; build it with CLI11 and nlohmann-json installed")
    os.execv(program, ["cornea", *sys.argv[1:]])


if __name__ == "__main__":
    main()
