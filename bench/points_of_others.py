#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes points of OpenCV and COLMAP for `cornea evaluate`, so that they appear in the same tables.

  cornea evaluate vgg_affine --write-images images
  python3 bench/points_of_others.py images points
  cornea evaluate vgg_affine --theirs opencv-sift=points/opencv-sift --theirs colmap-sift=points/colmap-sift ...

For every image of the first folder (as --write-images writes it) the second one receives, per method, a CSV of
points (x,y,scale,angle,response) and, if the method describes them, an .npy of descriptors. Methods: opencv-harris
(cornerHarris, 3 x 3 non-maximum suppression, described by OpenCV's SIFT at the scale of 2.5 pixels that Cornea
gives to corners), opencv-sift and colmap-sift (both RootSIFT with a contrast threshold of 0.01; COLMAP's only if
pycolmap is installed). Half a pixel is subtracted from COLMAP's coordinates, in which the centre of the first
pixel is (0.5, 0.5).
"""
import argparse
import sys
from pathlib import Path

import cv2
import numpy as np

try:
    import pycolmap
except ImportError:
    pycolmap = None


def rooted(descriptors):
    sums = np.maximum(descriptors.sum(axis=1, keepdims=True), 1e-9)
    return np.rint(512 * np.sqrt(descriptors / sums)).clip(0, 255).astype(np.uint8)


def opencv_harris(image, most):
    response = cv2.cornerHarris(image, 3, 3, 0.04)
    y, x = np.nonzero((response == cv2.dilate(response, np.ones((3, 3)))) & (response > 0))
    order = np.argsort(-response[y, x], kind="stable")[:most]
    # The size of a cv2.KeyPoint is the diameter, twice sigma.
    points = [cv2.KeyPoint(float(x[i]), float(y[i]), 5.0, 0.0, float(response[y[i], x[i]])) for i in order]
    points, descriptors = cv2.SIFT_create().compute(image, points)
    return [(*p.pt, 2.5, 0, p.response) for p in points], rooted(descriptors)


def opencv_sift(image, most):
    points, descriptors = cv2.SIFT_create(nfeatures=most, contrastThreshold=0.01).detectAndCompute(image, None)
    return [(*p.pt, p.size / 2, np.radians(p.angle), p.response) for p in points], rooted(descriptors)


def colmap_sift(image, most):
    options = pycolmap.FeatureExtractionOptions()
    options.use_gpu = False
    options.sift.max_num_features = most
    options.sift.peak_threshold = 0.01 / options.sift.octave_resolution
    options.sift.normalization = pycolmap.Normalization.L1_ROOT
    points, descriptors = pycolmap.Sift(options, device=pycolmap.Device.cpu).extract(image)
    # Descriptors that are floats have norm 1; COLMAP stores them times 512. It keeps the largest
    # scales and has no response.
    bytes_of = descriptors if descriptors.dtype == np.uint8 else np.rint(512 * descriptors).clip(0, 255).astype(np.uint8)
    return [(p[0] - 0.5, p[1] - 0.5, p[2], p[3], p[2]) for p in points.astype(float)], bytes_of


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", type=Path)
    parser.add_argument("points", type=Path)
    parser.add_argument("--most", type=int, default=2000, help="points per image to write")
    parser.add_argument("--methods", nargs="*", default=["opencv-harris", "opencv-sift", "colmap-sift"])
    options = parser.parse_args()
    methods = {"opencv-harris": opencv_harris, "opencv-sift": opencv_sift, "colmap-sift": colmap_sift}
    files = sorted(options.images.rglob("*.png"))
    if not files:
        print(f"no images in {options.images}; cornea evaluate DATA --write-images {options.images} makes them")
        return 1
    for method in options.methods:
        if method == "colmap-sift" and pycolmap is None:
            print("no pycolmap: COLMAP's points are not written (pip install pycolmap)")
            continue
        for file in files:
            points, descriptors = methods[method](cv2.imread(str(file), 0), options.most)
            name = options.points / method / file.relative_to(options.images).with_suffix("")
            name.parent.mkdir(parents=True, exist_ok=True)
            np.savetxt(f"{name}.csv", np.array(points).reshape(-1, 5), fmt="%.9g", delimiter=",",
                       header="x,y,scale,angle,response", comments="")
            np.save(f"{name}.npy", descriptors)
        print(f"{method}: {len(files)} images")
    return 0


if __name__ == "__main__":
    sys.exit(main())
