#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives nonsense for options and images: nonsense_test.py PROGRAM [--runs N] [--images N] [--seed S].

Every flag of detect, filter, match, fundamental, essential, homography and pair is given values that make no
sense, and images of odd sizes and contents are read. In every case the program must end with 0, 1 or 2 within ten
seconds, say why on one line if it fails, and write no number that is not finite.
"""
import argparse
import json
import math
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

VALUES = ["", "0", "-0", "1", "-1", "2", "3", "7", "nan", "inf", "-inf", "1e308", "1e-308", "-1e308", "0.5",
          "1.5", "99999999999999999999", "2147483647", "2147483648", "-2147483649", "4294967296", "1e9",
          "abc", "1,2", "1,2,3", ",", "1;2", "3x", "0x10", " 4", "4 ", "yes", "no", "auto", "none", "all",
          "first", "gaussian", "gradient", "quadratic", "é", "\t", "--", "-", "%s%n", "a" * 5000, "255", "256",
          "90,90,32,24", "1e308,1e-308,0,0", "90,90,1e300,24,9,9,9,9", "PINHOLE:90,90,32,24", "OPENCV:1,2,3"]
# Flags that may take long for good reasons, wait for input, or affect files outside of the folder.
LEFT_OUT = {"--open", "--help", "-h", "--device"}
SECONDS = 10


def flags_of(program, command):
    """Every flag of a command, and whether it takes a value."""
    text = subprocess.run([program, "completion", "fish"], capture_output=True, text=True).stdout
    flags = {}
    for line in text.splitlines():
        if f"seen_subcommand_from {command}'" not in line:
            continue
        words = line.split(" -d ")[0]
        for name in re.findall(r" -l (\S+)", words):
            if f"--{name}" not in LEFT_OUT:
                flags[f"--{name}"] = " -r" in words
    return flags


def bad_numbers(value):
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(bad_numbers(v) for v in value.values())
    if isinstance(value, list):
        return any(bad_numbers(v) for v in value)
    return False


class Runner:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.complaints, self.codes, self.slowest = [], {}, 0

    def run(self, words):
        report = Path(self.folder) / "report.json"
        report.unlink(missing_ok=True)
        call = [self.program, *words]
        if "--json" not in words:
            call += ["--json", "report.json"]
        try:
            done = subprocess.run(call, cwd=self.folder, capture_output=True, timeout=SECONDS,
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            self.complain(words, f"took more than {SECONDS} s")
            return
        self.codes[done.returncode] = self.codes.get(done.returncode, 0) + 1
        if done.returncode not in (0, 1, 2):
            self.complain(words, f"ended with {done.returncode}: {done.stderr[-300:]}")
        elif done.returncode != 0 and not done.stderr.strip():
            self.complain(words, f"ended with {done.returncode} and without a word")
        elif re.search(rb"(^|[\s,\[])-?(nan|inf)\b", done.stdout, re.IGNORECASE):
            self.complain(words, "writes a number that is not finite to standard output")
        if report.exists() and bad_numbers(json.loads(report.read_text(errors="replace"))):
            self.complain(words, "writes a number that is not finite to its JSON")

    def complain(self, words, sentence):
        self.complaints.append(f"{' '.join(repr(w)[:60] for w in words)}: {sentence}")


def nonsense(runner, rng, runs):
    commands = {
        "detect": [["a.pgm"], ["a.pgm", "b.pgm"]],
        "filter": [["a.pgm", "-o", "out.png"]],
        "match": [["a.pgm", "b.pgm"]],
        "fundamental": [["matches.csv"]],
        "essential": [["matches.csv"], ["matches.csv", "--camera", "500,500,320,240"]],
        "homography": [["matches.csv"]],
        "pair": [["a.pgm", "b.pgm", "-o", "out"]],
    }
    flags = {command: flags_of(runner.program, command) for command in commands}
    for command in commands:
        assert len(flags[command]) > 5, f"flags of {command} were not found"
    for _ in range(runs):
        command = rng.choice(list(commands))
        words = [command, *rng.choice(commands[command])]
        if command == "detect" and rng.random() < 0.8:
            words += ["--detector", rng.choice(["harris", "foagdd", "moravec", "sift"])]
        if command == "filter" and rng.random() < 0.8:
            words += ["--filter", rng.choice(["gaussian", "bilateral", "trilateral"])]
        for _ in range(rng.randint(1, 3)):
            flag = rng.choice(list(flags[command]))
            words.append(flag)
            if flags[command][flag]:
                words.append(rng.choice(VALUES))
        runner.run(words)


def image(rng):
    """An odd image as the bytes of a PGM or PFM file, and its ending."""
    width, height = (rng.choice([1, 2, 3, 5, 8, 13, 31, 40, 64, 100]) for _ in range(2))
    kind = rng.choice(["flat", "noise", "ramp", "board", "dots", "extremes", "wild"])
    form = rng.choice(["8", "16", "float"])
    top = {"8": 255, "16": 65535, "float": 1.0}[form]

    def value(x, y):
        if kind == "flat":
            return top * level
        if kind == "noise":
            return top * rng.random()
        if kind == "ramp":
            return top * x / width
        if kind == "board":
            return top * ((x // 4 + y // 4) % 2)
        if kind == "dots":
            return top * (x % 7 == 3 and y % 7 == 3)
        if kind == "extremes":
            return top * rng.choice([0, 1])
        if form != "float":
            return top * rng.choice([0, 1 / 16, 1 / 65535, 1])
        return rng.choice([0, 1, -1, 1e-40, 1e30, -1e30, float("nan"), float("inf"), 50, 255])

    level = rng.choice([0, 0.5, 1])
    pixels = [value(x, y) for y in range(height) for x in range(width)]
    if form == "float":
        return f"Pf\n{width} {height}\n-1\n".encode() + struct.pack(f"<{len(pixels)}f", *pixels), ".pfm"
    head = f"P5\n{width} {height}\n{top}\n".encode()
    code = f">{len(pixels)}{'B' if form == '8' else 'H'}"
    data = head + struct.pack(code, *(int(p) for p in pixels))
    if rng.random() < 0.1:
        data = data[:rng.randint(0, len(data))]
    return data, ".pgm"


def odd_images(runner, rng, images):
    calls = [["detect", "--detector", "harris"], ["detect", "--detector", "harris", "--subpixel", "gradient"],
             ["detect", "--detector", "foagdd"], ["detect", "--detector", "moravec"],
             ["detect", "--detector", "sift"], ["filter", "-o", "out.pfm", "--filter", "gaussian"],
             ["filter", "-o", "out.pfm", "--filter", "bilateral"],
             ["filter", "-o", "out.pfm", "--filter", "trilateral"]]
    for number in range(images):
        data, ending = image(rng)
        file = Path(runner.folder) / f"odd{ending}"
        file.write_bytes(data)
        for call in rng.sample(calls, 3):
            runner.run([call[0], file.name, *call[1:]])
            out = Path(runner.folder) / "out.pfm"
            if call[0] == "filter" and out.exists():
                pixels = out.read_bytes().split(b"\n", 3)[3]
                values = struct.unpack(f"<{len(pixels) // 4}f", pixels[:len(pixels) // 4 * 4])
                given = b"nan" if ending == ".pgm" else None
                if given and any(not math.isfinite(v) for v in values):
                    runner.complain([*call, f"image {number}"], "filters to a number that is not finite")
                out.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--images", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(str(Path(options.program).resolve()), folder)
        for name in ("a", "b"):
            pixels = bytes(rng.randrange(256) if (x // 6 + y // 6) % 3 else 128
                           for y in range(60) for x in range(80))
            (Path(folder) / f"{name}.pgm").write_bytes(b"P5\n80 60\n255\n" + pixels)
        rows = [f"{rng.uniform(0, 640):.3f},{rng.uniform(0, 480):.3f},{rng.uniform(0, 640):.3f},"
                f"{rng.uniform(0, 480):.3f}" for _ in range(60)]
        (Path(folder) / "matches.csv").write_text("x1,y1,x2,y2\n" + "\n".join(rows) + "\n")
        nonsense(runner, rng, options.runs)
        odd_images(runner, rng, options.images)
    print("\n".join(runner.complaints[:20]))
    print(f"{sum(runner.codes.values())} runs (seed {options.seed}), exit codes "
          f"{dict(sorted(runner.codes.items()))}, {len(runner.complaints)} complaints")
    return 1 if runner.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
