#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the evaluations that docs/evaluate.md shows and writes them to one file.

  python3 bench/evaluate.py build/cpu/cornea DATA --commit 1a2b3c --machine "two idle cores of .." --json RESULT.json

DATA holds the folders vgg_affine, chessboards, correspondences and fountain_p11. The points of OpenCV and COLMAP
are those of bench/points_of_others.py, which needs opencv-python and pycolmap.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cv2
import pycolmap

METHODS = ("opencv-harris", "opencv-sift", "colmap-sift")
THEIRS = [word for method in METHODS for word in ("--theirs", f"{method}=...")]
RUNS = (
    ["vgg_affine", "chessboards"],
    ["correspondences", "fountain_p11", "--parts", "labelled,poses", "--with", "fundamental", "--with",
     "seven: fundamental sample=7"],
    ["vgg_affine", "--parts", "sequences", *THEIRS],
    [],
    ["chessboards", "--parts", "corners", "--with", "harris", "--with", "harris window=5", "--with", "harris window=7",
     "--with", "harris window=9", "--with", "harris subpixel=gradient", "--with", "moravec"],
)


def run(words, folder):
    done = subprocess.run([str(word) for word in words], cwd=folder, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--machine", required=True)
    parser.add_argument("--json", type=Path, required=True)
    given = parser.parse_args()
    program = given.program.resolve()
    result = {"machine": given.machine, "peers": f"OpenCV {cv2.__version__}, pycolmap {pycolmap.__version__}", "runs": []}
    with tempfile.TemporaryDirectory() as folder:
        images, points = Path(folder, "images"), Path(folder, "points")
        run([program, "evaluate", "vgg_affine", "--parts", "sequences", "--write-images", images, "-q"], given.data)
        run([sys.executable, Path(__file__).parent.resolve() / "points_of_others.py", images, points], given.data)
        for words in RUNS:
            filled = [word.replace("...", str(points / word.split("=")[0])) for word in words]
            began = time.perf_counter()
            found = json.loads(run([program, "evaluate", *filled, "--device", "cpu", "--label", f"commit={given.commit}",
                                    "--json", "-", "-q"], given.data))
            seconds = round(time.perf_counter() - began, 1)
            shown = " ".join(f'"{word}"' if " " in word else word for word in ["cornea", "evaluate", *words])
            # The tables are enough; what they are computed from has megabytes.
            tables = {key: part["tables"] if isinstance(part, dict) and "tables" in part else part
                      for key, part in found.items()}
            result["runs"].append({**tables, "command": shown, "commit": given.commit, "seconds": seconds})
            print(f"{seconds:7.1f} s  {shown}", flush=True)
    text = json.dumps(result, indent=1)
    if folder in text or str(given.data.resolve()) in text:
        sys.exit("the result holds paths of this machine")
    given.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
