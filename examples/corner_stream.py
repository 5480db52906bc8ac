#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Corners of a stream of frames. The detector is made once and then takes frame after frame. It runs on
the first NVIDIA GPU, or on the CPU where there is none; the corners are the same on both.

  python corner_stream.py frame_000.png frame_001.png frame_002.png

Frames of a camera arrive one by one. Frames of a recording are all there already: a list of them goes
through the detector in one call, which on a GPU takes less time per frame.
"""

import argparse
import sys

import cornea


def main():
    parser = argparse.ArgumentParser(description="Corners of a stream of frames.")
    parser.add_argument("frames", metavar="FRAME", nargs="+", help="image files of one size")
    frames = parser.parse_args().frames

    harris = cornea.Harris(threshold=0.01, relative=True, max_points=500, subpixel="quadratic")
    why = "" if harris.device.startswith("cuda") else f", because there is no GPU: {cornea.info()['why_no_cuda']}"
    print(f"Harris corners on {harris.device}{why}")

    # One by one. After the first frame of a size the detector allocates no image memory.
    images = []
    for frame in frames:
        images.append(cornea.read(frame))
        corners = harris.detect(images[-1])  # corners.x, corners.y, corners.response: NumPy arrays
        print(f"{frame}: {len(corners)} corners, {harris.milliseconds:.3g} ms")

    if len({(image.shape, image.dtype) for image in images}) > 1:
        raise ValueError("the frames differ in size or type, so that they are no batch")
    # All in one call: the same corners.
    total = sum(len(corners) for corners in harris.detect(images))
    per_frame = harris.milliseconds / len(images)
    print(f"batch of {len(images)}: {total} corners, {per_frame:.3g} ms per frame")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"corner_stream: {error}")
