#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does it save to decode a colour JPEG as its luma instead of as RGB, and how do the gray values differ?

  python3 bench/jpeg_gray.py DATA [--json out.json]

DATA holds the folders fountain_p11 and photos, whose colour JPEGs are decoded from memory by OpenCV (libjpeg-turbo) on
one thread: processor time per megapixel, best of five calls.
"""
import argparse
import json
import time
from pathlib import Path

import cv2
import numpy as np


def best(call, repeat=5):
    """The result, and the least processor time of all calls in milliseconds."""
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        result = call()
        times.append(1e3 * (time.process_time() - begin))
    return result, min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    times, pixels, differ, worst, levels, images = np.zeros(3), 0, 0, 0.0, 0, 0
    for file in sorted([*(given.data / "fountain_p11").rglob("*.jpg"), *(given.data / "photos").glob("*.jpg")]):
        jpeg = np.fromfile(file, np.uint8)
        colour, decode_colour = best(lambda: cv2.imdecode(jpeg, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION))
        if (colour == colour[..., :1]).all():
            continue
        gray, convert = best(lambda: cv2.cvtColor(colour, cv2.COLOR_BGR2GRAY))
        luma, decode_luma = best(lambda: cv2.imdecode(jpeg, cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION))
        off = np.abs(gray.astype(int) - luma)
        times += (decode_colour, convert, decode_luma)
        images, pixels, differ = images + 1, pixels + off.size, differ + np.count_nonzero(off)
        worst, levels = max(worst, np.count_nonzero(off) / off.size), max(levels, int(off.max()))
    per_megapixel = times / pixels * 1e6
    result = {"images": images, "megapixels": pixels * 1e-6, "opencv": cv2.__version__, "decode_rgb": per_megapixel[0],
              "gray_of_rgb": per_megapixel[1], "decode_y": per_megapixel[2], "pixels_that_differ": 100 * differ / pixels,
              "most_of_an_image": 100 * worst, "most_levels": levels}
    print(json.dumps(result, indent=1))
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
