# SPDX-License-Identifier: Apache-2.0
"""The bilateral filter, and the trilateral filter (P. Choudhury and J. Tumblin, 2003), in double precision.

Both replace a pixel by itself plus a weighted mean of differences; pixels outside the image are skipped.
"""
import numpy as np


def moved(values, dy, dx):
    """The values at (y + dy, x + dx), NaN outside the image."""
    height, width = values.shape
    out = np.full((height, width), np.nan)
    for y in range(max(0, -dy), min(height, height - dy)):
        left, right = max(0, -dx), min(width, width - dx)
        out[y, left:right] = values[y + dy, left + dx:right + dx]
    return out


def window(half):
    return [(n, m) for n in range(-half, half + 1) for m in range(-half, half + 1)]


def bilateral(gray, sigma, sigma_range):
    image = gray.astype(float)
    total, norm = np.zeros(image.shape), np.zeros(image.shape)
    for n, m in window(int(np.ceil(3 * sigma))):
        d = moved(image, n, m) - image
        w = np.exp(-(m * m + n * n) / (2 * sigma ** 2)) * np.exp(-d ** 2 / (2 * sigma_range ** 2))
        total += np.nan_to_num(w * d)
        norm += np.nan_to_num(w)
    return image + total / norm


def levels_of(magnitude, sigma_range):
    """How often the 3 x 3 minimum and maximum filters can be applied while both stay within sigma_range."""
    height, width = magnitude.shape
    count = int(np.floor(np.log2(min(height, width)))) + 1
    least = largest = magnitude
    level = np.full(magnitude.shape, count - 1)
    open_still = np.ones(magnitude.shape, bool)
    for k in range(count):
        leaves = (largest > magnitude + sigma_range) | (least < magnitude - sigma_range)
        level[open_still & leaves] = k - 1
        open_still &= ~leaves
        least = np.nanmin([moved(least, n, m) for n, m in window(1)], axis=0)
        largest = np.nanmax([moved(largest, n, m) for n, m in window(1)], axis=0)
    return level


def trilateral(gray, sigma):
    image = gray.astype(float)
    gx = np.diff(image, axis=1, append=image[:, -1:])
    gy = np.diff(image, axis=0, append=image[-1:, :])
    magnitude = np.sqrt(gx ** 2 + gy ** 2)
    sigma_range = 0.15 * (magnitude.max() - magnitude.min())
    if sigma_range == 0:
        return image
    level = levels_of(magnitude, sigma_range)

    # The gradients, smoothed with weights from their magnitude: the plane of each pixel.
    a, b, norm = np.zeros(image.shape), np.zeros(image.shape), np.zeros(image.shape)
    for n, m in window((int(sigma) - 1) // 2):
        d = moved(magnitude, n, m) - magnitude
        w = np.exp(-(m * m + n * n) / (2 * sigma ** 2)) * np.exp(-d ** 2 / (2 * sigma_range ** 2))
        a += np.nan_to_num(w * moved(gx, n, m))
        b += np.nan_to_num(w * moved(gy, n, m))
        norm += np.nan_to_num(w)
    a, b = a / norm, b / norm

    # The differences to the plane, over a window as wide as the level allows.
    half = 2 ** level // 2
    total, norm = np.zeros(image.shape), np.zeros(image.shape)
    for n, m in window(half.max()):
        d = moved(image, n, m) - image - a * m - b * n
        w = np.exp(-(m * m + n * n) / (2 * sigma ** 2)) * np.exp(-d ** 2 / (2 * sigma_range ** 2))
        w = np.where(half >= max(abs(n), abs(m)), w, 0)
        total += np.nan_to_num(w * d)
        norm += np.nan_to_num(w)
    return image + total / norm
