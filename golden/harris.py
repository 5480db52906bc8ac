# SPDX-License-Identifier: Apache-2.0
"""Harris, Shi-Tomasi and Moravec corners, in double precision and integers.

Harris and Stephens 1988; Shi and Tomasi 1994; Moravec 1980. A corner is above a threshold and the largest of its 3 x 3
square; ties keep the first in reading order.
"""
import numpy as np

MARGIN = 2   # pixels at the image's edge whose support leaves the image, for a 3 x 3 window


def windows(values):
    """The 3 x 3 box sum around each pixel; at the border the values are mirrored without repeating the edge."""
    height, width = values.shape
    p = np.pad(values, 1, mode="reflect")
    return sum(p[i:i + height, j:j + width] for i in range(3) for j in range(3))


def structure_tensor(gray):
    """The means of Ix Ix, Ix Iy and Iy Iy over 3 x 3 pixels; derivatives by Sobel over 4, gray 0..1."""
    height, width = gray.shape
    p = np.pad(gray.astype(float) / 255, 1, mode="reflect")
    at = lambda dy, dx: p[1 + dy:1 + dy + height, 1 + dx:1 + dx + width]  # noqa: E731
    ix = (at(-1, 1) - at(-1, -1) + 2 * (at(0, 1) - at(0, -1)) + at(1, 1) - at(1, -1)) / 4
    iy = (at(1, -1) - at(-1, -1) + 2 * (at(1, 0) - at(-1, 0)) + at(1, 1) - at(-1, 1)) / 4
    return windows(ix * ix) / 9, windows(ix * iy) / 9, windows(iy * iy) / 9


def harris(gray, k=0.04):
    xx, xy, yy = structure_tensor(gray)
    return xx * yy - xy ** 2 - k * (xx + yy) ** 2


def shi_tomasi(gray):
    xx, xy, yy = structure_tensor(gray)
    return (xx + yy) / 2 - np.sqrt(((xx - yy) / 2) ** 2 + xy ** 2)


def moravec(gray):
    """The minimum over 8 shifts of the sum of squared differences over 3 x 3 pixels; integers."""
    image = gray.astype(int)
    height, width = image.shape
    out = np.zeros(image.shape, int)
    for y in range(MARGIN, height - MARGIN):
        for x in range(MARGIN, width - MARGIN):
            here = image[y - 1:y + 2, x - 1:x + 2]
            out[y, x] = min(((image[y - 1 + dy:y + 2 + dy, x - 1 + dx:x + 2 + dx] - here) ** 2).sum()
                            for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx)
    return out


def corners(response, threshold, uncertainty=0.0):
    """(x, y, response) of the corners, and the corners decided by less than the uncertainty, by reason."""
    height, width = response.shape
    found = {"points": [], "near_threshold": [], "near_tie": []}
    for y in range(MARGIN, height - MARGIN):
        for x in range(MARGIN, width - MARGIN):
            own = response[y, x]
            if own <= threshold - uncertainty:
                continue
            square = response[y - 1:y + 2, x - 1:x + 2].flatten()
            before, after = max(square[:4]), max(square[5:])
            if own - max(before, after) < -uncertainty:
                continue
            if abs(own - max(before, after)) < uncertainty:
                found["near_tie"].append((x, y))
            elif abs(own - threshold) < uncertainty:
                found["near_threshold"].append((x, y))
            elif own > threshold and own > before and own >= after:
                found["points"].append((x, y, own))
    return found
