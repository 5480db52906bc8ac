# SPDX-License-Identifier: Apache-2.0
"""SIFT (D. Lowe, IJCV 60, 2004) over a Gaussian scale space, in double precision.

The steps are those of docs/sift.md, in its order: scale space, points, orientations, descriptors. Every decision within
the rounding error of a float is recorded, and the feature is then excluded from the comparison ("free").
"""
import numpy as np

BORDER = 5          # pixels at an octave's borders without points
FIT_STEPS = 5
LENIENT_MOVE, LENIENT_MOST = 0.6, 1.5   # pixels; pixels and levels
BINS = 36           # of the orientation histogram
FURTHER_PEAK = 0.8  # orientation threshold, relative to the highest peak
ORIENTATIONS = 4    # most features per point
CELLS, DIRECTIONS = 4, 8
PER_CELL = 4        # samples per side of a cell
GRID = (CELLS + 1) * PER_CELL
CELL_SCALES = 3     # side of a cell, in scales of the point
CUT = 0.2

# Decisions closer than these margins make a feature free.
TIE = 1e-6          # between two values of D, where black to white is 1
RELATIVE = 1e-4     # of |D| to the contrast, of the curvatures to their limit, of a sample to the level's edge
HALF_PIXEL = 1e-3   # of a position to the middle between two pixels
PEAK_HEIGHT = 1e-3  # of a peak to another one or to 0.8 of the highest, relative to that


class Options:
    def __init__(self, doubled=True, intervals=3, sigma=1.6, blur=0.5, contrast=0.04, edge_ratio=10,
                 settle="lenient", root=True):
        self.doubled, self.intervals, self.sigma, self.blur = doubled, intervals, sigma, blur
        self.contrast, self.edge_ratio, self.settle, self.root = contrast, edge_ratio, settle, root


def near_half(v):
    return abs(v - np.floor(v) - 0.5) < HALF_PIXEL


# ---------------------------------------------------------------------------------------------
# 1. Scale space.

def blurred(image, sigma):
    """Gaussian blur of radius ceil(4 sigma), mirrored at the border without repeating the edge."""
    r = int(np.ceil(4 * sigma))
    weights = np.exp(-np.arange(-r, r + 1) ** 2 / (2 * sigma ** 2))
    weights /= weights.sum()
    for _ in range(2):   # along one axis, then along the other
        p = np.pad(image, ((r, r), (0, 0)), mode="reflect")
        image = sum(w * p[k:k + len(image)] for k, w in enumerate(weights)).T
    return image


def doubled(image):
    """Pixels 2x and 2x + 1 lie a quarter of a pixel before and after pixel x."""
    for _ in range(2):
        p = np.pad(image, ((1, 1), (0, 0)), mode="edge")
        out = np.empty((2 * len(image), image.shape[1]))
        out[0::2] = 0.75 * image + 0.25 * p[:-2]
        out[1::2] = 0.75 * image + 0.25 * p[2:]
        image = out.T
    return image


class Octave:
    """Levels of the same size. Pixel x of an octave lies at step x + origin in the image."""

    def __init__(self, index, base, options):
        self.index, self.step = index, 2.0 ** index
        self.origin = -0.25 if options.doubled else 0.0
        self.levels = [base]
        n = options.intervals
        for l in range(1, n + 3):
            added = options.sigma * 2 ** ((l - 1) / n) * np.sqrt(2 ** (2 / n) - 1)
            self.levels.append(blurred(self.levels[-1], added))
        self.d = np.diff(np.array(self.levels), axis=0)   # D[l, y, x]
        self.height, self.width = base.shape

    def has_points_at(self, l, y, x):
        return (1 <= l <= len(self.d) - 2 and BORDER <= y < self.height - BORDER
                and BORDER <= x < self.width - BORDER)


def scale_space(gray, options):
    image = gray / 255.0
    if options.doubled:
        image = doubled(image)
    blur = options.blur * (2 if options.doubled else 1)
    base = blurred(image, np.sqrt(options.sigma ** 2 - blur ** 2))
    octaves = []
    while min(base.shape) >= 2 * BORDER + 1:
        octaves.append(Octave(len(octaves) - options.doubled, base, options))
        base = octaves[-1].levels[options.intervals][::2, ::2]
    return octaves


# ---------------------------------------------------------------------------------------------
# 2. Points.

class Doubt:
    """The reasons why a feature is free."""

    def __init__(self):
        self.reasons = []

    def passes(self, margin, uncertainty, reason):
        """Whether the margin is positive; margins within the uncertainty pass, and the reason is recorded."""
        if abs(margin) <= uncertainty:
            self.reasons.append(reason)
        return margin > -uncertainty


def is_extremum(d, l, y, x, contrast, doubt):
    """Positive and the largest, or negative and the smallest, of its 3 x 3 x 3 neighbourhood, and far enough from 0."""
    own = abs(d[l, y, x])
    if not doubt.passes(own / (contrast / 2) - 1, RELATIVE, "near_threshold"):
        return False
    around = d[l - 1:l + 2, y - 1:y + 2, x - 1:x + 2] * np.sign(d[l, y, x])
    rival = np.delete(around.flatten(), 13).max()
    return doubt.passes(own - rival, TIE, "near_tie")


def fit(d, l, y, x):
    """The quadratic fit to D around a pixel: the offset (l, y, x) of its extremum, D there, and the curvatures in y and
    x."""
    c = d[l - 1:l + 2, y - 1:y + 2, x - 1:x + 2]
    one = np.eye(3, dtype=int)
    at = lambda offset: c[tuple(1 + offset)]  # noqa: E731
    centre = at(one[0] * 0)
    gradient = np.array([(at(one[i]) - at(-one[i])) / 2 for i in range(3)])
    hessian = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            if i == j:
                hessian[i, j] = at(one[i]) - 2 * centre + at(-one[i])
            else:
                hessian[i, j] = (at(one[i] + one[j]) - at(one[i] - one[j])
                                 - at(one[j] - one[i]) + at(-one[i] - one[j])) / 4
    offset = -np.linalg.solve(hessian, gradient)
    return offset, centre + gradient @ offset / 2, hessian[1:, 1:]


def settle_strictly(octave, l, y, x, doubt):
    """Follows the fits to a pixel that contains its own extremum; None if there is none."""
    for _ in range(FIT_STEPS):
        offset, value, curvatures = fit(octave.d, l, y, x)
        if any(near_half(v) for v in offset):
            doubt.reasons.append("near_tie")
        moves = np.sign(offset) * np.floor(np.abs(offset) + 0.5)
        if not moves.any():
            return (l, y, x), offset, value, curvatures
        if np.abs(offset).max() > 1e6:
            return None
        l, y, x = (int(v) for v in np.array([l, y, x]) + moves)
        if not octave.has_points_at(l, y, x):
            return None
    return None


def settle_in_level(octave, l, y, x, doubt):
    """Follows the fits within a level, one pixel at a time; None if the last one is too far away."""
    for step in range(FIT_STEPS):
        offset, value, curvatures = fit(octave.d, l, y, x)
        moves = np.where(np.abs(offset[1:]) > LENIENT_MOVE, np.sign(offset[1:]), 0)
        if step == FIT_STEPS - 1:
            break
        if np.any(np.abs(np.abs(offset[1:]) - LENIENT_MOVE) < HALF_PIXEL):
            doubt.reasons.append("near_tie")
        if not moves.any():
            break
        y, x = (int(v) for v in np.array([y, x]) + moves)
        if not octave.has_points_at(l, y, x):
            return None
    within = doubt.passes(LENIENT_MOST - np.abs(offset).max(), HALF_PIXEL, "near_threshold")
    return ((l, y, x), offset, value, curvatures) if within else None


def settle(octave, l, y, x, options, doubt):
    settled = settle_strictly(octave, l, y, x, doubt)
    if settled is None and options.settle == "lenient":
        settled = settle_in_level(octave, l, y, x, doubt)
    return settled


def is_stable(value, curvatures, options, doubt):
    """The contrast test and the edge test."""
    if not doubt.passes(abs(value) / (options.contrast / options.intervals) - 1, RELATIVE, "near_threshold"):
        return False
    r = options.edge_ratio
    if r == 0:
        return True
    limit = np.linalg.det(curvatures) * (r + 1) ** 2 / r
    return doubt.passes(limit / np.trace(curvatures) ** 2 - 1, RELATIVE, "near_threshold")


# ---------------------------------------------------------------------------------------------
# 3. Orientations.

def angles(level, px, py, scale, doubt):
    """The orientations of a point (x, y in pixels of the level), the highest peak first."""
    height, width = level.shape
    sigma = 1.5 * scale
    if near_half(px) or near_half(py) or near_half(3 * sigma):
        doubt.reasons.append("near_tie")   # uncertain which pixels the disc contains
    cx, cy, radius = int(px + 0.5), int(py + 0.5), int(3 * sigma + 0.5)
    raw = np.zeros(BINS)
    for y in range(max(cy - radius, 1), min(cy + radius, height - 2) + 1):
        for x in range(max(cx - radius, 1), min(cx + radius, width - 2) + 1):
            if (x - cx) ** 2 + (y - cy) ** 2 > radius ** 2:
                continue
            gx, gy = level[y, x + 1] - level[y, x - 1], level[y + 1, x] - level[y - 1, x]
            weight = np.exp(-((x - px) ** 2 + (y - py) ** 2) / (2 * sigma ** 2))
            turn = np.arctan2(gy, gx) / (2 * np.pi) % 1
            raw[int(BINS * turn + 0.5) % BINS] += np.hypot(gx, gy) * weight
    bins = sum(w * np.roll(raw, k) for k, w in zip(range(-2, 3), (1, 4, 6, 4, 1))) / 16
    highest = bins.max()
    peaks = []
    for b in range(BINS):
        before, own, after = bins[b - 1], bins[b], bins[(b + 1) % BINS]
        if min(own - before, own - after) > -TIE * highest and \
                doubt.passes(own / highest - FURTHER_PEAK, PEAK_HEIGHT, "near_threshold"):
            doubt.passes(min(own - before, own - after) / highest, TIE, "near_tie")
            top = b + 0.5 * (before - after) / (before - 2 * own + after)
            peaks.append((own, 2 * np.pi * (top / BINS % 1)))
    peaks.sort(reverse=True)
    for (first, _), (second, _) in zip(peaks, peaks[1:]):
        doubt.passes((first - second) / highest, PEAK_HEIGHT, "near_tie")   # uncertain which peak comes first
    return [angle for _, angle in peaks[:ORIENTATIONS]]


# ---------------------------------------------------------------------------------------------
# 4. Descriptors.

def mixed(level, y, x):
    """Bilinear interpolation."""
    row, column = int(np.floor(y)), int(np.floor(x))
    fy, fx = y - row, x - column
    above = (1 - fx) * level[row, column] + fx * level[row, column + 1]
    below = (1 - fx) * level[row + 1, column] + fx * level[row + 1, column + 1]
    return (1 - fy) * above + fy * below


def descriptor(level, px, py, scale, angle, root, doubt):
    """128 integers of 0..255: rows of cells, their cells, directions."""
    height, width = level.shape
    c, s = np.cos(angle), np.sin(angle)
    values = np.zeros((CELLS, CELLS, DIRECTIONS))
    for j in range(GRID):
        for i in range(GRID):
            # The position in cells from the middle of the descriptor, and then in pixels of the level.
            u, v = (i - (GRID - 1) / 2) / PER_CELL, (j - (GRID - 1) / 2) / PER_CELL
            x = px + CELL_SCALES * scale * (c * u - s * v)
            y = py + CELL_SCALES * scale * (s * u + c * v)
            edge = min(x - 1, y - 1, width - 2 - x, height - 2 - y)
            doubt.passes(edge, RELATIVE, "near_threshold")
            if edge <= 0:
                continue   # a gradient needs the 4 x 4 pixels around it
            gx = mixed(level, y, x + 1) - mixed(level, y, x - 1)
            gy = mixed(level, y + 1, x) - mixed(level, y - 1, x)
            direction = (np.arctan2(gy, gx) - angle) / (2 * np.pi) % 1 * DIRECTIONS
            magnitude = np.hypot(gx, gy) * np.exp(-(u * u + v * v) / 8)
            # Distributed between the neighbouring cells and directions (trilinear interpolation).
            cu, cv = u + (CELLS - 1) / 2, v + (CELLS - 1) / 2
            for row in (int(np.floor(cv)), int(np.floor(cv)) + 1):
                for column in (int(np.floor(cu)), int(np.floor(cu)) + 1):
                    if not (0 <= row < CELLS and 0 <= column < CELLS):
                        continue
                    share = (1 - abs(cv - row)) * (1 - abs(cu - column)) * magnitude
                    whole = int(direction)
                    values[row, column, whole % DIRECTIONS] += share * (1 - (direction - whole))
                    values[row, column, (whole + 1) % DIRECTIONS] += share * (direction - whole)
    values = np.minimum(values, CUT * np.linalg.norm(values)).flatten()
    values = np.sqrt(values / values.sum()) if root else values / np.linalg.norm(values)
    return np.minimum(np.floor(512 * values + 0.5), 255).astype(np.uint8)


def features(gray, options):
    """Features as dicts, ordered by octave, level, y and x of their pixel and height of the orientation's peak; and the
    discs (x, y, radius) in which features are free, by reason."""
    found, free = [], {"near_threshold": [], "near_tie": []}
    contrast = options.contrast / options.intervals
    for octave in scale_space(gray, options):
        points = {}   # by level, y and x: two extrema may converge to the same pixel
        for l in range(1, len(octave.d) - 1):
            for y in range(BORDER, octave.height - BORDER):
                for x in range(BORDER, octave.width - BORDER):
                    doubt = Doubt()
                    if not is_extremum(octave.d, l, y, x, contrast, doubt):
                        continue
                    settled = settle(octave, l, y, x, options, doubt)
                    if settled is None or not is_stable(*settled[2:], options, doubt):
                        if doubt.reasons and settled is None:
                            # Its fit might have converged to a nearby pixel.
                            free[doubt.reasons[0]].append((octave.step * x + octave.origin,
                                                           octave.step * y + octave.origin, 3 * octave.step))
                        continue
                    if settled[0] not in points or not doubt.reasons:
                        points[settled[0]] = settled, doubt
        for (l, y, x), (settled, doubt) in sorted(points.items(), key=lambda item: item[0]):
            offset, value = settled[1], settled[2]
            px, py = x + offset[2], y + offset[1]
            scale = options.sigma * 2 ** ((l + offset[0]) / options.intervals)
            nearest = l + (1 if offset[0] >= 0.5 else -1 if offset[0] <= -0.5 else 0)
            level = octave.levels[min(max(nearest, 1), options.intervals)]
            place = octave.step * px + octave.origin, octave.step * py + octave.origin
            if doubt.reasons:
                free[doubt.reasons[0]].append((*place, 3 * octave.step))
                continue
            for angle in angles(level, px, py, scale, doubt):
                found.append({"octave": octave.index, "x": place[0], "y": place[1], "scale": octave.step * scale,
                              "angle": angle, "response": abs(value),
                              "descriptor": descriptor(level, px, py, scale, angle, options.root, doubt)})
            if doubt.reasons:
                free[doubt.reasons[0]].append((*place, 0.05))
    return found, free
