# SPDX-License-Identifier: Apache-2.0
"""``cornea cluster``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Optional

from .collection import run


def main(words: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(
        "cornea cluster", description="All steps of a collection of photographs over a Ray cluster.",
        epilog="Options of `cornea shard plan` are taken too.", allow_abbrev=False)
    parser.add_argument("photographs")
    parser.add_argument("-o", "--out", required=True, metavar="WORK")
    parser.add_argument("--address")
    parser.add_argument("--gpus-per-worker", type=float, default=1)
    parser.add_argument("--cpus-per-worker", type=float, default=1)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--retries", type=int, default=3)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--db")
    parser.add_argument("--by-component", metavar="DIR")
    parser.add_argument("--no-descriptors", action="store_true")
    parser.add_argument("--local", default="", metavar="DIR")
    parser.add_argument("-q", "--quiet", action="store_true")
    given, options = parser.parse_known_args(words)
    try:
        summary = run(given.photographs, given.out, given.address, given.gpus_per_worker,
                      cpus_per_worker=given.cpus_per_worker, workers=given.workers, retries=given.retries,
                      size=given.size, options=options, db=given.db, by_component=given.by_component,
                      no_descriptors=given.no_descriptors, local=given.local, quiet=given.quiet)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"cornea: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("cornea: interrupted; all items that are done are kept, and the same command goes on", file=sys.stderr)
        return 130
    print(summary)
    return summary.exit_code
