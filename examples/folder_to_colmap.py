#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A folder of photographs into a COLMAP database: features, matches of all pairs, and verified two-view
geometries. `colmap mapper`, pycolmap or GLOMAP go on from it.

  python folder_to_colmap.py photographs database.db

A run that was stopped, by Ctrl-C for example, is continued by the next one; what is done is kept. For
more than some hundred photographs `cornea folder` chooses the pairs that are worth matching.
"""

import argparse
import sys
from pathlib import Path

import cornea


def main():
    parser = argparse.ArgumentParser(description="A folder of photographs into a COLMAP database.")
    parser.add_argument("photographs", metavar="PHOTOGRAPHS", type=Path)
    parser.add_argument("database", metavar="DATABASE", type=Path)
    arguments = parser.parse_args()
    # Before the database is made, which would stay behind.
    if not arguments.photographs.is_dir() or not any(arguments.photographs.iterdir()):
        raise ValueError(f"{arguments.photographs}: is no folder that holds images")

    # Photographs that cannot be read are named and left out.
    note = {"note": lambda sentence: print(sentence, file=sys.stderr)}
    extracted = cornea.colmap.extract(arguments.database, arguments.photographs, **note)
    print(f"{extracted['images']} images, {extracted['features']} new features")
    matched = cornea.colmap.match(arguments.database, **note)  # or sequential=10, or pairs_path=FILE
    print(f"{matched['pairs']} pairs, {matched['matches']} new matches")
    verified = cornea.colmap.verify(arguments.database, **note)
    print(f"{verified['verified']} pairs have a new geometry, {verified['inliers']} inliers")
    if extracted["failed"]:
        raise ValueError(f"{extracted['failed']} photographs could not be read")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"folder_to_colmap: {error}")
