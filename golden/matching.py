# SPDX-License-Identifier: Apache-2.0
"""Exact matching of descriptors of 128 bytes, in integers (D. Lowe, IJCV 60, 2004)."""
import numpy as np


def squared_distances(a, b):
    """The squared distances of every descriptor of A (rows) to every descriptor of B (columns)."""
    return ((a[:, None, :].astype(int) - b[None, :, :].astype(int)) ** 2).sum(axis=2)


def two_nearest(distances):
    """The nearest and the second nearest of each row, ties in the order of indices, as (index, squared distance, index,
    squared distance)."""
    nearest = []
    for row in distances:
        first, second = sorted(range(len(row)), key=lambda j: (row[j], j))[:2]
        nearest.append((first, int(row[first]), second, int(row[second])))
    return nearest


def matches(a, b, ratio, mutual, max_distance):
    """(index in A, index in B, squared distance, squared distance of the second nearest) in the order of A.

    d1 < ratio d2 is evaluated as d1^2 < ratio^2 d2^2. A ratio of 1 or more and a largest distance of 0 turn the
    respective test off."""
    distances = squared_distances(a, b)
    nearest_in_a = [min(range(len(a)), key=lambda i: (distances[i, j], i)) for j in range(len(b))]
    kept = []
    for i, (j, d2, _, second_d2) in enumerate(two_nearest(distances)):
        if ratio < 1 and not d2 < ratio ** 2 * second_d2:
            continue
        if mutual and nearest_in_a[j] != i:
            continue
        if max_distance > 0 and np.sqrt(d2) > max_distance:
            continue
        kept.append((i, j, d2, second_d2))
    return kept
