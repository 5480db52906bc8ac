#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a bound on hypotheses cost if there are few matches? Compares two builds of cornea on the same
sets.

Draws sets of 20 to 50 matches from labelled pairs (CSV with x1,y1,x2,y2,label), with the smallest number
of inliers that `cornea fundamental` accepts as a geometry, or 2 or 5 more, and uses the whole pairs as
well. Prints where kind, inliers or F differ, and per build how many geometries are found, how many of
these are within 3 pixels of the labelled matches (median), hypotheses and milliseconds.

    bench/few_matches.py --cornea build/cpu/cornea --other /path/to/another/cornea
"""
import argparse
import csv
import json
import os
import pathlib
import random
import subprocess
import tempfile

import numpy as np


def load(file):
    """The matches of a file, each position once: some of these files repeat many."""
    with open(file, newline="") as lines:
        rows = {tuple(float(row[k]) for k in ("x1", "y1", "x2", "y2")): float(row["label"])
                for row in csv.DictReader(lines)}
    return np.array([[*place, label] for place, label in rows.items()])


def median_distance(F, matches):
    """The median of the sums of both distances to epipolar lines."""
    ones = np.ones((len(matches), 1))
    first, second = np.hstack([matches[:, :2], ones]), np.hstack([matches[:, 2:4], ones])
    l2, l1 = first @ F.T, second @ F
    e = np.abs((second * l2).sum(1))
    return float(np.median(e / np.hypot(l2[:, 0], l2[:, 1]) + e / np.hypot(l1[:, 0], l1[:, 1])))


def fewest_inliers(matches):
    return max(8, min(15, -(-matches // 2)))


def sets_of(files, trials, seed):
    """(name, matches, labelled inliers of the pair, seed of the search)"""
    chosen = random.Random(seed)
    for file in files:
        pair = load(file)
        inliers, outliers = pair[pair[:, 4] == 1], pair[pair[:, 4] == 0]
        for trial in range(trials):
            yield file.stem + ", all", pair, inliers, trial
            count = chosen.choice([20, 26, 32, 38, 43, 50])
            good = fewest_inliers(count) + chosen.choice([0, 2, 5])
            if good > len(inliers) or count - good > len(outliers):
                continue
            part = np.vstack([inliers[chosen.sample(range(len(inliers)), good)],
                              outliers[chosen.sample(range(len(outliers)), count - good)]])
            chosen.shuffle(order := list(range(count)))
            yield f"{file.stem}, {good} of {count}", part[order], inliers, trial


def run(program, file, seed):
    done = subprocess.run([program, "fundamental", file, "--device", "cpu", "--json", "-",
                           "--seed", str(seed)], capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cornea", required=True, help="the program")
    parser.add_argument("--other", required=True, help="another build of it")
    parser.add_argument("--data", default=os.environ.get("CORNEA_DATA", "../shared"),
                        help="folder with data/correspondences/*/*.csv [CORNEA_DATA, ../shared]")
    parser.add_argument("--trials", type=int, default=12, help="trials per pair [12]")
    parser.add_argument("--seed", type=int, default=5, help="seed of the choice of matches [5]")
    args = parser.parse_args()
    files = sorted(pathlib.Path(args.data).glob("data/correspondences/*/*.csv"))
    if not files:
        parser.error(f"no data/correspondences/*/*.csv in {args.data}")
    totals = {program: {"few": [0] * 5, "all": [0] * 5} for program in (args.cornea, args.other)}
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "matches.csv")
        for name, matches, inliers, seed in sets_of(files, args.trials, args.seed):
            np.savetxt(file, matches[:, :4], delimiter=",", header="x1,y1,x2,y2", fmt="%.9g",
                       comments="")
            answers = []
            for program in totals:
                result = run(program, file, seed)
                found = result["kind"] in ("general", "planar")
                near = found and median_distance(np.array(result["F"]), inliers) < 3
                row = totals[program]["all" if name.endswith("all") else "few"]
                for i, value in enumerate((1, found, near, result["hypotheses"],
                                           result["milliseconds"])):
                    row[i] += value
                answers.append((result["kind"], result["inlier_count"], result["F"]))
            if answers[0] != answers[1]:
                different += 1
                print(f"{name}, seed {seed}: {answers[0][:2]} and {answers[1][:2]}")
    for program, kinds in totals.items():
        for kind, (sets, found, near, hypotheses, ms) in kinds.items():
            print(f"{program}: {sets} sets ({kind}), {found} found, {near} within 3 pixels, "
                  f"{hypotheses:,} hypotheses, {ms:,.0f} ms")
    print(f"{different} results differ")


if __name__ == "__main__":
    main()
