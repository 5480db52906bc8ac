# SPDX-License-Identifier: Apache-2.0
"""FOAGDD corners (W. Zhang and C. Sun, IJCV 128, 2020), in double precision.

A pixel is a corner if the derivatives around it vary along all eight directions, at every scale.
Coordinates: x down and y right, as in the paper; results are (column, row).
"""
import numpy as np

SCALES = (1.5, 3.0, 4.5)
DIRECTIONS = 8
RHO = 1.5          # width to length of the filters
LATTICE = 31       # side of the filters, pixels
MIRRORED = 7       # width of the mirrored border, pixels; beyond it the image is zero
THRESHOLD = 10 ** 8.4
SQUARE = 5         # side of the square in which a corner is the largest
DISC = [(dy, dx) for dy, reach in zip(range(-3, 4), (1, 2, 3, 3, 3, 2, 1)) for dx in range(-reach, reach + 1)]


def kernel(scale, direction):
    """The anisotropic Gaussian derivative along one direction, minus its mean."""
    t = np.pi * direction / DIRECTIONS
    lattice = np.arange(LATTICE) - LATTICE // 2
    x, y = lattice[:, None], lattice[None, :]
    u = x * np.cos(t) + y * np.sin(t)
    v = -x * np.sin(t) + y * np.cos(t)
    k = -RHO * u / (2 * np.pi * scale ** 2) * np.exp(-(RHO * u ** 2 + v ** 2 / RHO) / (2 * scale))
    return k - k.mean()


def convolved(image, k):
    """image * k, a true convolution of the size of the image, with zero padding."""
    height, width = image.shape
    r = LATTICE // 2
    around = np.pad(image, r)
    out = np.zeros(image.shape)
    for i in range(-r, r + 1):
        for j in range(-r, r + 1):
            out += k[r + i, r + j] * around[r - i:r - i + height, r - j:r - j + width]
    return out


def measure(gray, scale):
    """det M / trace M at every pixel, where M sums g g' over the disc and g holds the 8 derivatives."""
    height, width = gray.shape
    mirrored = np.pad(gray.astype(float), MIRRORED, mode="symmetric")
    g = np.stack([np.abs(convolved(mirrored, kernel(scale, d))) for d in range(DIRECTIONS)], axis=-1)
    m = np.zeros((height, width, DIRECTIONS, DIRECTIONS))
    for dy, dx in DISC:
        there = g[MIRRORED + dy:MIRRORED + dy + height, MIRRORED + dx:MIRRORED + dx + width]
        m += there[..., :, None] * there[..., None, :]
    return np.linalg.det(m) / (np.trace(m, axis1=2, axis2=3) + 2.22e-16)


def corners(gray, uncertainty=1e-3):
    """The corners as (x, y, measure at each scale); the uncertain ones, decided by less than the uncertainty (relative
    to the measure), by reason; and the measure of the first scale at every pixel."""
    maps = [measure(gray, scale) for scale in SCALES]
    first = maps[0]
    height, width = gray.shape
    found = {"points": [], "near_threshold": [], "near_tie": []}
    for y in range(SQUARE + 1, height - SQUARE):
        for x in range(SQUARE + 1, width - SQUARE):
            r = SQUARE // 2
            square = first[max(y - r, 0):y + r + 1, max(x - r, 0):x + r + 1]
            rivals = np.sort(square, axis=None)[::-1]
            own = first[y, x]
            rival = rivals[1] if own == rivals[0] else rivals[0]
            values = [float(m[y, x]) for m in maps]
            lowest = min(values)
            if own < rival * (1 - uncertainty) or lowest < THRESHOLD * (1 - uncertainty):
                continue
            if own < rival * (1 + uncertainty):
                found["near_tie"].append((x, y))
            elif lowest < THRESHOLD * (1 + uncertainty):
                found["near_threshold"].append((x, y))
            else:
                found["points"].append((x, y, *values))
    return found, first
