#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two-view geometry: compares Cornea with OpenCV, PoseLib, pycolmap and pydegensac on the same matches.

    bench/compare_two_view.py --cornea build/cpu/cornea --json RESULT.json [--only SECTION...]

Peers come from PyPI (numpy opencv-python-headless poselib pycolmap pydegensac); one that is missing is
skipped. Photographs and labelled matches are in CORNEA_DATA; a section without them is skipped.

Rules. Everything runs on one core. All have the same confidence (0.999) and the same maximum number of
samples (--budget; `unlimited` is 300,000); other settings are each library's own. Every estimator but
"Cornea, defaults" runs at the threshold of its grid that is best on the pairs themselves: for labelled
pairs the one with the smallest mean error, chosen per set; for generated pairs and planes the smallest
mean over both labelled sets; for poses and homographies the largest area at the first limit.

Sections
  f-labelled   F on AdelaideRMF and kusvod2: per seed the median over the matches with label 1 of the
               symmetric epipolar distance (sum over both lines); a failure is a median over 3 pixels
  f-generated  F on generated pairs: noise 0.3, 1 and 2 pixels, 30, 50 and 70% outliers; success is a
               median distance of the true points without noise below max(3, 2 noise) pixels
  planes       85% of the inliers on a plane, 400 matches, 50 and 35% inliers, noise 0.5 pixel; success
               is a median distance of the true points off the plane below 3 pixels
  pose         the fountain's 55 pairs: the larger of the errors of rotation and translation direction,
               and the area under its recall curve up to 1, 5 and 10 degrees
  homography   the affine sequences' 20 pairs: mean error of the four corners, area up to 3 and 5 pixels
  planar-kind  how many of these 20 pairs `cornea fundamental` classifies as planar
  time         milliseconds per pair of each estimator on these photographs
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

from two_view import peers  # noqa: E402  (after the environment sets one thread)
from two_view.fundamental import FundamentalBench  # noqa: E402
from two_view.measure import UNLIMITED  # noqa: E402
from two_view.photographs import PhotographBench  # noqa: E402

SECTIONS = ("f-labelled", "f-generated", "planes", "pose", "homography", "planar-kind", "time")
MODELS = ("fundamental", "essential", "two_view", "shared_focal")


class AllSections(FundamentalBench, PhotographBench):
    pass


def hardware():
    lines = subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines()
    about = dict(line.split(":", 1) for line in lines if ":" in line)
    return {"model": about.get("Model name", "unknown").strip(), "cores": os.cpu_count(),
            "used": 1, "load": os.getloadavg()[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cornea", default="build/cpu/cornea")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--peers", nargs="+", help="only estimators whose name contains one of these")
    parser.add_argument("--defaults", action="store_true", help="Cornea at its defaults alone")
    parser.add_argument("--budget", default="10000", help="maximum number of samples, or `unlimited`")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--grid-seeds", type=int, default=5, help="per threshold of a grid, F")
    parser.add_argument("--pose-grid-seeds", type=int, default=2, help="the same, poses and H")
    parser.add_argument("--generated", type=int, default=112,
                        help="generated pairs per noise level and outlier ratio, for Cornea")
    parser.add_argument("--generated-peers", type=int, default=25, help="the same for the peers")
    parser.add_argument("--planes", type=int, default=100, help="scenes with a plane, per inlier ratio")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS,
                        help="models of the section pose")
    parser.add_argument("--matches", help="folder that keeps the photographs' matches between runs")
    parser.add_argument("--features", type=str.split, default=[], metavar="OPTIONS",
                        help="options of `cornea match` on photographs, instead of --max-features 8192 "
                             "--contrast 0.02 (sequences: --max-features 4000); --matches needs a "
                             "folder for each")
    parser.add_argument("--core", type=int, help="run on this core; default: the last one")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--json")
    args = parser.parse_args()
    os.sched_setaffinity(0, {max(peers.ALL_CORES) if args.core is None else args.core})
    with tempfile.TemporaryDirectory() as folder:
        bench = AllSections(args, folder)
        about = {"hardware": hardware(), "commit": args.commit, "budget": args.budget,
                 "unlimited": UNLIMITED, "confidence": peers.CONFIDENCE, "seeds": args.seeds,
                 "features": " ".join(args.features),
                 "versions": {e.name: e.version for e in bench.estimators}}
        print(json.dumps(about))
        for section in args.only:
            begin = time.perf_counter()
            about[section] = getattr(bench, section.replace("-", "_"))()
            print(f"({section}: {time.perf_counter() - begin:.0f} s)", flush=True)
            if args.json:
                about["bars"] = bench.bars
                with open(args.json, "w") as f:
                    json.dump(about, f, indent=1)
    print()
    for bar, reached in bench.bars.items():
        print(f"{bar}: {'yes' if reached else 'NO'}")
    return 0 if all(bench.bars.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
