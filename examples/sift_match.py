#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIFT features of two images and the matches between them: for each descriptor of the first image the
exact nearest one of the second, if it passes Lowe's ratio test and the mutual check.

  python sift_match.py a.jpg b.jpg [matches.png]

With a third argument both images are drawn side by side with lines between matched features.
"""

import argparse
import sys

import cornea


def main():
    parser = argparse.ArgumentParser(description="SIFT features of two images and their matches.")
    parser.add_argument("images", metavar="IMAGE", nargs=2)
    parser.add_argument("picture", metavar="PICTURE", nargs="?", help="file for a picture of the matches")
    arguments = parser.parse_args()

    sift = cornea.Sift(max_points=8000)
    first, second = (cornea.read(file) for file in arguments.images)
    a, b = sift.detect(first), sift.detect(second)

    # A point with several orientations may be matched several times: it counts once.
    matches = cornea.one_per_place(cornea.match(a, b, ratio=0.8), a, b)
    print(f"{len(a)} and {len(b)} features, {len(matches)} matches on {sift.device}")
    print("x1,y1,x2,y2 of the first matches:")
    for row in matches.points(a, b)[:5]:  # n x 4, float32
        print(",".join(f"{value:.6g}" for value in row))

    if arguments.picture:
        cornea.write(arguments.picture, cornea.draw_matches(first, second, a, b, matches))
        print(f"drawn in {arguments.picture}")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"sift_match: {error}")
