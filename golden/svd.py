# SPDX-License-Identifier: Apache-2.0
"""Singular values of a matrix by one-sided Jacobi rotations (M. Hestenes 1958), in double precision.

Pairs of columns are rotated until all are orthogonal; their norms are then the singular values.
"""
import numpy as np


def singular_values(matrix):
    """The singular values in descending order, as many as the smaller side is long."""
    columns = np.array(matrix, float)
    if columns.shape[0] < columns.shape[1]:
        columns = columns.T.copy()
    count = columns.shape[1]
    floor = (1e-16 * np.linalg.norm(columns)) ** 2   # columns below this consist of rounding errors
    for _ in range(100):
        rotated = False
        for p in range(count):
            for q in range(p + 1, count):
                x, y = columns[:, p].copy(), columns[:, q].copy()
                xx, xy, yy = x @ x, x @ y, y @ y
                if abs(xy) <= 1e-15 * np.sqrt(xx * yy) + floor:
                    continue
                rotated = True
                angle = 0.5 * np.arctan2(2 * xy, xx - yy)
                columns[:, p] = np.cos(angle) * x + np.sin(angle) * y
                columns[:, q] = np.cos(angle) * y - np.sin(angle) * x
        if not rotated:
            return sorted(np.sqrt((columns ** 2).sum(axis=0)).tolist(), reverse=True)
    raise ArithmeticError("the rotations did not converge")
