#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the plane step harm F? focal_from_f.py [--program P] [--data DIR] [--json FILE].

Focal lengths are computed from F (Bougnoux 1998, principal points known), with and without the step that detects
planes and recovers F from plane and parallax (`check_plane`), on the 55 pairs of fountain-P11 and on rendered
boxes, whose cameras are known. Such a step can do harm to the F of a pair whose points lie near a plane, and focal
lengths are the most sensitive measure of it.
"""
import argparse
import itertools
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np


def squared_focal(f):
    """Of the first camera, with principal points at 0."""
    e = np.linalg.svd(f.T)[2][2]
    row = np.array([-e[1], e[0], 0])
    g = f.T @ row
    return -g[2] * f[2, 2] / (g[0] * f[2, 0] + g[1] * f[2, 1])


def focal_lengths(f, centre):
    """Both focal lengths, in pixels; NaN if F has no such cameras."""
    scale = max(centre)
    k = np.array([[scale, 0, centre[0]], [0, scale, centre[1]], [0, 0, 1]])
    g = k.T @ f @ k
    squares = np.array([squared_focal(g), squared_focal(g.T)])
    return scale * np.sqrt(np.where(squares > 0, squares, np.nan))


def fundamental(program, matches, check):
    flag = "--check-plane" if check else "--no-check-plane"
    done = subprocess.run([program, "fundamental", matches, flag, "--device", "cpu", "--json", "-"],
                          capture_output=True, text=True)
    found = json.loads(done.stdout)
    return found["kind"], np.array(found["F"]) if found["F"] else None


def auc(errors, limit):
    """Area under the recall curve (the fraction of errors below x) for x up to `limit`, in percent."""
    return 100 * float(np.mean(np.clip(1 - np.nan_to_num(errors, nan=np.inf) / limit, 0, 1)))


def measure(program, pairs, folder):
    """Relative errors of focal lengths, the worse of the two views, per pair."""
    errors = {"with": [], "without": []}
    kinds = {"with": {}, "without": {}}
    for first, second, focal, centre in pairs:
        matches = str(Path(folder) / "matches.csv")
        subprocess.run([program, "match", first, second, "--csv", matches, "--device", "cpu", "-q"],
                       check=True)
        for name, check in (("with", True), ("without", False)):
            kind, f = fundamental(program, matches, check)
            kinds[name][kind] = kinds[name].get(kind, 0) + 1
            found = focal_lengths(f, centre) if f is not None and kind == "general" else np.array([np.nan])
            errors[name].append(float(np.max(np.abs(found / focal - 1))))
    return errors, kinds


def fountain(data):
    folder = Path(data) / "data/fountain_p11"
    cameras = json.loads((folder / "cameras.json").read_text())
    for a, b in itertools.combinations(sorted(cameras), 2):
        k = np.array(cameras[a]["K"])
        yield (str(folder / "images" / a), str(folder / "images" / b), (k[0, 0] + k[1, 1]) / 2,
               (k[0, 2], k[1, 2]))


def boxes(program, folder, scenes):
    """Cameras that deviate from the arc: if the optical axes meet, F does not determine the focal length."""
    for seed in range(1, scenes + 1):
        out = Path(folder) / f"boxes{seed}"
        subprocess.run([program, "scene", "-o", str(out), "--views", "4", "--width", "640", "--height", "480",
                        "--seed", str(seed), "--step", "9", "--jitter", "0.12", "--focal", "560", "-q"], check=True)
        for a, b in itertools.combinations(range(4), 2):
            yield (str(out / f"view_{a:03d}.png"), str(out / f"view_{b:03d}.png"), 560.0, (319.5, 239.5))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/cpu/cornea")
    parser.add_argument("--data", default=os.environ.get("CORNEA_DATA", "../shared"))
    parser.add_argument("--scenes", type=int, default=10, help="scenes of boxes, 6 pairs each")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    report = {}
    with tempfile.TemporaryDirectory() as folder:
        sets = {"boxes": boxes(options.program, folder, options.scenes)}
        if (Path(options.data) / "data/fountain_p11").exists():
            sets["fountain-P11"] = fountain(options.data)
        for name, pairs in sets.items():
            errors, kinds = measure(options.program, list(pairs), folder)
            report[name] = {}
            for step, values in errors.items():
                report[name][step] = {
                    "pairs": len(values), "auc_5_percent": round(auc(values, 0.05), 1),
                    "auc_20_percent": round(auc(values, 0.2), 1),
                    "median_error": round(float(np.nanmedian(values)), 4),
                    "without_focal": int(np.isnan(values).sum()), "kinds": kinds[step]}
                print(f"{name:13} {step:8} the plane step:", report[name][step], flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
