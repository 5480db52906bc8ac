# SPDX-License-Identifier: Apache-2.0
"""The normalised eight-point algorithm (R. Hartley, PAMI 1997) and distances to epipolar lines, in double
precision. Matches are rows of x1, y1, x2, y2; x2' F x1 = 0."""
import numpy as np


def normalisation(points):
    """Hartley's normalisation: moves the centroid to 0 and scales the mean distance from it to sqrt(2)."""
    x, y = points.mean(axis=0)
    scale = np.sqrt(2) / np.sqrt(((points - (x, y)) ** 2).sum(axis=1)).mean()
    return np.array([[scale, 0, -scale * x], [0, scale, -scale * y], [0, 0, 1]])


def homogeneous(points):
    return np.column_stack([points, np.ones(len(points))])


def eight_point(matches):
    """F with Frobenius norm 1 and a positive largest entry."""
    first, second = matches[:, :2], matches[:, 2:]
    t1, t2 = normalisation(first), normalisation(second)
    x1, x2 = homogeneous(first) @ t1.T, homogeneous(second) @ t2.T
    # One row per match: the entries of x2 x1', times those of F, sum to 0.
    rows = np.array([np.outer(q, p).flatten() for p, q in zip(x1, x2)])
    f = np.linalg.svd(rows)[2][-1].reshape(3, 3)
    # The nearest matrix of rank 2.
    u, s, vt = np.linalg.svd(f)
    f = t2.T @ (u @ np.diag([s[0], s[1], 0]) @ vt) @ t1
    f /= np.linalg.norm(f)
    return f * np.sign(f.flatten()[np.abs(f).argmax()])


def epipolar_distances(f, matches):
    """The distance of x2 from the line F x1 plus that of x1 from the line F' x2, in pixels."""
    x1, x2 = homogeneous(matches[:, :2]), homogeneous(matches[:, 2:])
    lines2, lines1 = x1 @ f.T, x2 @ f
    error = np.abs((x2 * lines2).sum(axis=1))
    return error / np.hypot(lines2[:, 0], lines2[:, 1]) + error / np.hypot(lines1[:, 0], lines1[:, 1])
