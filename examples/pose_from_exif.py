#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The relative pose of two photographs whose EXIF holds a focal length: X2 = R X1 + t for a point in the
coordinates of the first and of the second camera (x right, y down, z forward), |t| = 1.

  python pose_from_exif.py a.jpg b.jpg

EXIF's focal length is rounded and ignores cropping, so it is taken as a guess: where the matches clearly
speak for another one, it is corrected by a factor.
"""

import argparse
import sys

import numpy as np

import cornea


def main():
    parser = argparse.ArgumentParser(description="The relative pose of two photographs with EXIF.")
    parser.add_argument("photographs", metavar="PHOTOGRAPH", nargs=2)
    first, second = parser.parse_args().photographs

    pair = cornea.pair(first, second)  # takes EXIF's focal lengths where both files have one
    if pair.two_view is None:
        raise ValueError(f"{first} or {second} has no focal length in EXIF")
    if not pair.by_essential:
        raise ValueError(f"no pose fits the {len(pair.matches)} matches")

    pose = pair.two_view.essential
    angle = np.degrees(np.arccos(np.clip((np.trace(pose.R) - 1) / 2, -1, 1)))
    print(f"focal lengths corrected by a factor of {pose.focal_factor:.6g}")
    print(f"{pose.inlier_count} of {len(pair.matches)} matches are inliers")
    print(f"median angle between rays {pose.median_angle_degrees:.6g} degrees")
    print(f"rotation by {angle:.6g} degrees, R =")
    for row in pose.R:
        print(*(f"{value:.6g}" for value in row))
    print("t =")
    print(*(f"{value:.6g}" for value in pose.t))


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"pose_from_exif: {error}")
