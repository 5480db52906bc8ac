# SPDX-License-Identifier: Apache-2.0
"""Compares Cornea's matcher with OpenCV's brute force, in one run on this CPU: are the neighbours the same, and how
much faster is it?

  python3 bench/compare_match.py --cornea build/cpu/cornea [--sizes 5000x7000,...] [--json out.json]

SIFT descriptors of two views of a synthetic scene show whether both find the same matches; times are measured on
random descriptors with a similar distribution, as many as requested. OpenCV's knnMatch finds the two nearest in
one direction (float32, as its SIFT returns them, and uint8 if it accepts them); Cornea finds them in both
directions and tests them. Exits with 1 if Cornea is less than 5 times as fast as the faster of the two, or if
matches differ.
"""
import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np

from compare_opencv import processor, run

LEAST = 5.0  # minimum speed-up
RATIO = 0.8


def opencv_ms(a, b, repeat):
    matcher = cv2.BFMatcher(cv2.NORM_L2)
    times = []
    for _ in range(repeat + 1):
        begin = time.perf_counter()
        matcher.knnMatch(a, b, k=2)
        times.append(1000 * (time.perf_counter() - begin))
    return float(np.median(times[1:])), float(np.min(times[1:]))


def sift_like(count, random):
    values = random.random((count, 128), np.float32) ** 2
    return np.minimum(values * (512 / np.linalg.norm(values, axis=1, keepdims=True)), 255).astype(np.uint8)


def compare_speed(cornea, sizes, repeat, threads):
    random = np.random.default_rng(1)
    bench = json.loads(run(cornea, "bench", "--match", sizes, "--device", "cpu", "--threads", threads,
                           "--repeat", repeat, "--json", "-"))
    rows = []
    for result in bench["matches"]:
        if result["pairs"] > 1:
            continue
        a, b = sift_like(result["a"], random), sift_like(result["b"], random)
        row = {"a": result["a"], "b": result["b"], "kernel": result["kernel"],
               "cornea_ms": result["milliseconds"]["median"], "cornea_least_ms": result["milliseconds"]["least"],
               "gmac_per_second": result["gmac_per_second"]}
        row["float32_ms"], row["float32_least_ms"] = opencv_ms(a.astype(np.float32), b.astype(np.float32), repeat)
        try:
            row["uint8_ms"], row["uint8_least_ms"] = opencv_ms(a, b, repeat)
        except cv2.error:
            row["uint8_ms"] = row["uint8_least_ms"] = None
        fastest = min(v for v in (row["float32_ms"], row["uint8_ms"]) if v is not None)
        row["times_as_fast"] = fastest / row["cornea_ms"]
        rows.append(row)
    return rows


def compare_matches(cornea, folder):
    """Are the matches of real descriptors the same? Those that depend on OpenCV's rounding are left out."""
    run(cornea, "scene", "-o", folder, "--kind", "plane", "--views", 2, "--width", 800, "--height", 600, "--quiet")
    views = [folder / "view_000.png", folder / "view_001.png"]
    points, sets = [], []
    for view in views:
        run(cornea, "detect", view, "--detector", "sift", "--device", "cpu", "--quiet", "--json", folder / "p.json",
            "--descriptors", folder / "d.npy")
        points.append(np.array(json.loads((folder / "p.json").read_text())[0]["points"])[:, :2])
        sets.append(np.load(folder / "d.npy"))
    found = json.loads(run(cornea, "match", *views, "--device", "cpu", "--no-mutual", "--ratio", RATIO, "--json", "-"))
    ours = {tuple(m[:4]) for m in found["matches"]}
    pairs = cv2.BFMatcher(cv2.NORM_L2).knnMatch(*(s.astype(np.float32) for s in sets), k=2)
    theirs = {tuple(np.concatenate([points[0][m.queryIdx], points[1][m.trainIdx]]))
              for m, other in pairs if m.distance < RATIO * other.distance}
    return {"features": [len(s) for s in sets], "cornea": len(ours), "opencv": len(theirs),
            "differ": len(ours ^ theirs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cornea", default="build/cpu/cornea")
    parser.add_argument("--sizes", default="2000x2000,4954x7584,9453x11285")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2, help="of both")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--json")
    options = parser.parse_args()
    cv2.setNumThreads(options.threads)

    with tempfile.TemporaryDirectory() as name:
        same = compare_matches(options.cornea, Path(name))
    rows = compare_speed(options.cornea, options.sizes, options.repeat, options.threads)
    print(f"{same['features'][0]} x {same['features'][1]} SIFT features: {same['cornea']} matches, OpenCV "
          f"{same['opencv']}, {same['differ']} differ")
    print(f"{'descriptors':>15} {'Cornea':>10} {'OpenCV f32':>12} {'OpenCV u8':>12} {'times':>7} {'GMAC/s':>7}")
    for row in rows:
        uint8 = "-" if row["uint8_ms"] is None else f"{row['uint8_ms']:.1f} ms"
        print(f"{row['a']:>7}x{row['b']:<7} {row['cornea_ms']:7.2f} ms {row['float32_ms']:9.1f} ms {uint8:>12} "
              f"{row['times_as_fast']:6.1f}x {row['gmac_per_second']:7.0f}")
    print(f"{processor()}, {options.threads} threads, kernel {rows[0]['kernel']}, OpenCV {cv2.__version__}")
    if options.json:
        Path(options.json).write_text(json.dumps(
            {"commit": options.commit, "processor": processor(), "threads": options.threads,
             "repeat": options.repeat, "opencv": cv2.__version__, "matches": same, "speed": rows}, indent=1) + "\n")
    slow = [r for r in rows if r["times_as_fast"] < LEAST]
    return 1 if slow or same["differ"] > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
