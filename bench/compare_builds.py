#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two builds of the program in one run: compare_builds.py OLD NEW [--device D] [--rounds N].

Runs `cornea bench` of both alternately, so that other load on the machine disturbs both. Prints for each
row the median over the rounds of the ratio of the two neighbouring runs, the median of each build, and
the lowest of each. Use it to check a change that should cost no time. Builds of different versions may
draw different images to measure on; --image gives both the same one.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CALLS = {
    "cuda": {"detect": ["--sizes", "640x480,1920x1080", "--repeat", "200"],
             "filter": ["--filter", "gaussian", "bilateral", "trilateral",
                        "--sizes", "640x640,1920x1080", "--repeat", "60"],
             "match": ["--match", "5700x7400,16700x20700", "--repeat", "60"],
             "fundamental": ["--fundamental", "--repeat", "30"]},
    "cpu": {"detect": ["--sizes", "640x480,1920x1080", "--repeat", "8", "--batch", "1"],
            "filter": ["--filter", "gaussian", "bilateral", "trilateral",
                       "--sizes", "640x640", "--repeat", "6"],
            "match": ["--match", "5700x7400", "--repeat", "6"],
            "fundamental": ["--fundamental", "--repeat", "20"]},
}


def rows(report):
    """Name and median milliseconds of every row of a report of `cornea bench`."""
    for part in ("results", "filters", "matches", "fundamental"):
        for row in report.get(part) or []:
            if not isinstance(row, dict):
                continue
            what = row.get("detector") or row.get("filter") or row.get("case") or "match"
            size = (f"{row['a']}x{row['b']}" if "a" in row else
                    f"{row['width']}x{row['height']}" if "width" in row else f"{row['pairs']} pairs")
            for key in ("milliseconds", "milliseconds_resident"):
                if isinstance(row.get(key), dict):
                    suffix = ", resident" if key.endswith("resident") else ""
                    pairs = f", {row['pairs']} pairs" if "a" in row else ""
                    yield f"{what} {size}{pairs}{suffix}", row[key]["median"]


def measure(program, device, threads, call, folder):
    out = Path(folder) / "report.json"
    subprocess.run([program, "bench", "--device", device, "--threads", str(threads), "--json", str(out),
                    "--quiet", *call], check=True)
    return json.loads(out.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--device", choices=CALLS, default="cpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=CALLS["cpu"], default=list(CALLS["cpu"]))
    parser.add_argument("--threads", type=int, default=0, help="CPU threads of both; 0: as each decides")
    parser.add_argument("--image", help="detectors and filters are measured on this image, at its size")
    parser.add_argument("--json", help="keep the medians of all rounds")
    options = parser.parse_args()
    calls = [list(CALLS[options.device][name]) for name in options.only]
    if options.image:
        for call in calls:
            if "--sizes" in call:
                at = call.index("--sizes")
                call[at:at + 2] = ["--image", options.image]
    times = {"old": {}, "new": {}}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            for call in calls:
                # The build that runs first alternates from round to round.
                for side in ("old", "new") if number % 2 == 0 else ("new", "old"):
                    report = measure(getattr(options, side), options.device, options.threads, call, folder)
                    for name, median in rows(report):
                        times[side].setdefault(name, []).append(median)
    print(f"{'ratio':>6} {'old':>9} {'new':>9}   lowest of each, and their ratio")
    for name, old in times["old"].items():
        new = times["new"][name]
        a, b = statistics.median(old), statistics.median(new)
        ratio = statistics.median(y / x for x, y in zip(old, new))
        print(f"{ratio:6.3f} {a:9.4f} {b:9.4f}   {min(old):.4f} {min(new):.4f} "
              f"{min(new) / min(old):.3f}  {name}")
    if options.json:
        Path(options.json).write_text(json.dumps({"device": options.device, "milliseconds": times},
                                                 indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
