#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Creates the expected results in this folder, or checks that they still agree with the definitions.

    make.py            writes the images and the results
    make.py --check    recomputes them in memory; exits with 1 if a file differs, with 77 without NumPy

Python 3.8 or newer and NumPy; nothing else. README.md says what is in the files.
"""
import json
import math
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("skipped: this needs NumPy")
    sys.exit(77)

import foagdd
import fundamental
import harris
import matching
import sift
import svd
import trilateral

FOLDER = Path(__file__).resolve().parent


class Numbers:
    """Pseudo-random integers that are the same on every machine."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (self.state >> 33) % n

    def between(self, low, high):
        return low + self.below(high - low + 1)


# ---------------------------------------------------------------------------------------------
# Images, computed with integers only.

def board():
    """A checkerboard with slanted edges, 4 x 4 samples per pixel, under uneven light. It is placed such that FOAGDD has
    maxima in the last column that is too close to the edge and in the first row that is not."""
    width, height, side = 72, 60, 1530
    numbers = Numbers(1)
    image = np.zeros((height, width), np.uint8)
    for y in range(height):
        for x in range(width):
            bright = 0
            for i in range(4):
                for j in range(4):
                    px, py = 8 * x + 2 * i + 25, 8 * y + 2 * j + 17   # eighths of a pixel
                    bright += ((15 * px + 4 * py) // side + (14 * py - 5 * px) // side) % 2
            image[y, x] = 50 + 9 * bright + x // 3 + y // 5 + numbers.below(5)
    return image


def blobs():
    """Bright and dark blobs of many sizes and shapes on a slightly uneven background."""
    width, height = 96, 80
    numbers = Numbers(2)
    ground = [[numbers.below(25) for _ in range(14)] for _ in range(12)]
    shapes = [(numbers.between(20, 4 * width - 20), numbers.between(20, 4 * height - 20), 8 + 3 * (k % 13),
               numbers.between(50, 110) * (-1) ** k, numbers.between(2, 5), numbers.between(-2, 2),
               numbers.between(2, 5)) for k in range(34)]
    image = np.zeros((height, width), np.uint8)
    for y in range(height):
        for x in range(width):
            value = 105 + between_four(ground, x, y, 8)
            for cx, cy, radius, contrast, a, b, c in shapes:
                dx, dy = 4 * x - cx, 4 * y - cy   # quarters of a pixel
                inside = max(0, 3 * radius ** 2 - a * dx * dx - b * dx * dy - c * dy * dy)
                value += contrast * inside ** 2 // (9 * radius ** 4)
            image[y, x] = min(max(value, 0), 255)
    return image


def texture():
    """Noise of three sizes."""
    width, height = 64, 52
    numbers = Numbers(3)
    coarse = [[numbers.below(120) for _ in range(12)] for _ in range(12)]
    middle = [[numbers.below(90) for _ in range(25)] for _ in range(25)]
    return np.array([[between_four(coarse, x, y, 7) + between_four(middle, x, y, 3) + numbers.below(30)
                      for x in range(width)] for y in range(height)], np.uint8)


def between_four(lattice, x, y, side):
    """Bilinear interpolation of the lattice, whose values are `side` pixels apart, rounded down."""
    i, j, fx, fy = x // side, y // side, x % side, y % side
    above = (side - fx) * lattice[j][i] + fx * lattice[j][i + 1]
    below = (side - fx) * lattice[j + 1][i] + fx * lattice[j + 1][i + 1]
    return ((side - fy) * above + fy * below) // side ** 2


IMAGES = {"board": board, "blobs": blobs, "texture": texture}


# ---------------------------------------------------------------------------------------------
# Results.

def map_sample(response):
    """Every fifth pixel of every fifth row."""
    height, width = response.shape
    return [(x, y, response[y, x]) for y in range(2, height, 5) for x in range(2, width, 5)]


def foagdd_results(images):
    out = []
    for name, image in images.items():
        found, response = foagdd.corners(image)
        # Below 1e-3, eleven orders of magnitude under the threshold, the digits contain rounding errors of double.
        sample = [(x, y, v if abs(v) > 1e-3 else 0) for x, y, v in map_sample(response)]
        out.append({"image": name, **found, "map_sample": sample})
    return out


def harris_results(images):
    out = []
    for name, image in images.items():
        for measure, response in (("harris", harris.harris(image)), ("shi_tomasi", harris.shi_tomasi(image))):
            strongest = response.max()
            found = harris.corners(response, 0.01 * strongest, 1e-6 * strongest)
            out.append({"image": name, "measure": measure, "strongest": strongest, **found,
                        "map_sample": map_sample(response)})
        response = harris.moravec(image)
        out.append({"image": name, "measure": "moravec", "strongest": response.max(),
                    **harris.corners(response, 1500), "map_sample": map_sample(response)})
    return out


def sift_results(images):
    """The two strict settings of the texture have points within 0.1% and 0.4% on both sides of a limit."""
    strict = {"settle": "strict", "root": False}
    out = []
    for name, changes in (("board", strict), ("blobs", strict),
                          ("blobs", {"doubled": False, "intervals": 2, "contrast": 0.02, "edge_ratio": 0,
                                     "settle": "strict", "root": True}),
                          ("texture", {"contrast": 0.05104, **strict}),
                          ("texture", {"doubled": False, "contrast": 0.02, "edge_ratio": 3.106, **strict}),
                          ("board", {}), ("blobs", {}), ("texture", {"contrast": 0.02})):
        options = sift.Options(**changes)
        found, free = sift.features(images[name], options)
        for feature in found:
            feature["descriptor"] = bytes(feature["descriptor"]).hex()
        out.append({"image": name, "options": vars(options), "features": found, **free})
    return out


def matching_results():
    """Random descriptors, noisy copies of them, equal ones, and distances exactly at the limit of a test."""
    numbers = Numbers(4)
    a = np.array([[numbers.below(60) for _ in range(128)] for _ in range(48)], np.uint8)
    b = np.array([[numbers.below(60) for _ in range(128)] for _ in range(60)], np.uint8)
    for k in range(36):   # copies with increasing noise, in another order
        b[(7 * k + 3) % 60] = [min(max(int(v) + numbers.between(-k, k), 0), 255) for v in a[k]]
    a[40] = a[5]            # a tie: the lower index is the nearest
    b[59] = b[(7 * 9 + 3) % 60]
    b[58], b[57] = a[41], a[41]
    b[58, 0] += 3           # distances 3 and 4: at the limit of a ratio of 0.75
    b[57, 0] += 4
    b[56], b[55] = a[42], a[42]
    b[56, 1] += 4           # 4 and 6
    b[55, 1] += 6
    b[54] = b[53] = a[43]   # both at distance 0
    a[46], b[52], a[47] = 255, 254, 0   # the largest values
    cases = []
    for ratio, mutual, max_distance in ((0.75, True, 0), (0.75, False, 0), (0.875, True, 0), (2, True, 0),
                                        (2, False, 0), (0.875, False, 160)):
        cases.append({"ratio": ratio, "mutual": mutual, "max_distance": max_distance,
                      "matches": matching.matches(a, b, ratio, mutual, max_distance)})
    return {"a": [bytes(v).hex() for v in a], "b": [bytes(v).hex() for v in b],
            "nearest": matching.two_nearest(matching.squared_distances(a, b)), "cases": cases}


def svd_results():
    numbers = Numbers(5)
    out = []
    for rows, cols, kind in ((3, 3, "full"), (4, 4, "full"), (8, 9, "full"), (9, 9, "rank 5"), (12, 7, "full"),
                             (16, 16, "graded"), (20, 20, "full"), (30, 8, "rank 3"), (36, 34, "full")):
        matrix = np.array([[numbers.between(-99, 99) for _ in range(cols)] for _ in range(rows)])
        if kind.startswith("rank"):
            rank = int(kind[5:])
            right = np.array([[numbers.between(-3, 3) for _ in range(cols)] for _ in range(rank)])
            matrix = matrix[:, :rank] @ right
        elif kind == "graded":   # columns from 99 down to 99 / 2^15, exact in binary
            matrix = matrix / 2.0 ** np.arange(cols)
        values = svd.singular_values(matrix)
        assert np.allclose(values, np.linalg.svd(matrix, compute_uv=False), rtol=0, atol=1e-13 * values[0])
        out.append({"kind": kind, "rows": rows, "cols": cols, "matrix": matrix.flatten(),
                    "values": [v if v > 1e-12 * values[0] else 0.0 for v in values]})
    return out


def two_views(numbers, count, noise):
    """Matches of two cameras that see random points, on a lattice of 1/64 pixel, with integer noise in those units."""
    matches = []
    for _ in range(count):
        x, y, z = numbers.between(-400, 400), numbers.between(-300, 300), numbers.between(900, 1700)
        # Rotation by the angle whose cosine is 24/25, and translation, both multiplied by 25.
        x2, y2, z2 = 24 * x - 7 * z + 25 * 420, 25 * y + 25 * 35, 7 * x + 24 * z - 25 * 60
        pixels = (64 * 800 * x // z, 64 * 800 * y // z, 64 * 800 * x2 // z2, 64 * 800 * y2 // z2)
        matches.append([(v + 64 * middle + numbers.between(-noise, noise)) / 64
                        for v, middle in zip(pixels, (400, 300, 400, 300))])
    return np.array(matches)


def fundamental_results():
    numbers = Numbers(6)
    out = []
    for name, count, noise in (("eight", 8, 0), ("exact", 30, 0), ("noisy", 60, 40)):
        matches = two_views(numbers, count, noise)
        f = fundamental.eight_point(matches)
        out.append({"name": name, "matches": matches, "F": f.flatten(),
                    "distances": fundamental.epipolar_distances(f, matches)})
    # With outliers, whose second points lie more than 20 pixels from their epipolar lines.
    good = two_views(numbers, 70, 8)
    f = fundamental.eight_point(good)
    bad = []
    while len(bad) < 40:
        match = two_views(numbers, 1, 0)
        match[0, 2:] = numbers.below(800), numbers.below(600)
        if fundamental.epipolar_distances(f, match)[0] > 40:
            bad.append(match[0])
    matches = [m for pair in zip(good, bad) for m in pair] + list(good[40:])
    out.append({"name": "outliers", "matches": np.array(matches), "F": f.flatten(),
                "distances": fundamental.epipolar_distances(f, np.array(matches)),
                "inliers": [i % 2 == 0 or i >= 80 for i in range(110)]})
    return out


FILTERS = {"board_bilateral_sigma2": lambda image: trilateral.bilateral(image, 2, 20),
           "board_trilateral_sigma4": lambda image: trilateral.trilateral(image, 4),
           "blobs_trilateral_sigma4": lambda image: trilateral.trilateral(image, 4),
           "texture_bilateral_sigma2": lambda image: trilateral.bilateral(image, 2, 20),
           "texture_trilateral_sigma1.6": lambda image: trilateral.trilateral(image, 1.6)}


# ---------------------------------------------------------------------------------------------
# Files.

def pgm(image):
    return b"P5\n%d %d\n255\n" % image.shape[::-1] + image.tobytes()


def pfm(values):
    """Floats, little-endian, from the bottom row up."""
    return b"Pf\n%d %d\n-1.0\n" % values.shape[::-1] + values[::-1].astype("<f4").tobytes()


def plain(value, digits=8):
    """The value as JSON types: lists, integers, and floats with as many digits as the comparison needs."""
    if isinstance(value, dict):
        return {key: plain(v, digits) for key, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v, digits) for v in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    return float(f"{value:.{digits}g}") if isinstance(value, (float, np.floating)) else value


def as_json(value, depth=0):
    """One line per result, option and list entry, so that diffs are readable."""
    if depth < 2 and isinstance(value, dict):
        inner = [f"{json.dumps(k)}: {as_json(v, depth + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(inner) + "}"
    if depth < 3 and isinstance(value, list) and value and isinstance(value[0], (dict, list, str)):
        return "[\n" + ",\n".join(as_json(v, depth + 1) for v in value) + "]"
    return json.dumps(value)


def results():
    """The name and the contents of each file: an array, or a JSON value."""
    images = {name: make() for name, make in IMAGES.items()}
    for name, image in images.items():
        yield f"{name}.pgm", image
    for name, apply in FILTERS.items():
        yield f"{name}.pfm", apply(images[name.split("_")[0]])
    yield "foagdd.json", plain(foagdd_results(images))
    yield "harris.json", plain(harris_results(images))
    yield "sift.json", plain(sift_results(images))
    yield "matching.json", plain(matching_results())
    yield "svd.json", plain(svd_results(), 16)
    yield "fundamental.json", plain(fundamental_results(), 14)


def contents(name, value):
    return pgm(value) if name.endswith(".pgm") else pfm(value) if name.endswith(".pfm") else \
        (as_json(value) + "\n").encode()


def difference(old, new, where=""):
    """Where two results first differ by more than the rounding of another machine, or None."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        pairs = [(old[k], new[k], f"{where}.{k}") for k in old]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(old, new))]
    elif isinstance(old, float) or isinstance(new, float):
        same = isinstance(old, (int, float)) and isinstance(new, (int, float)) and \
            math.isclose(old, new, rel_tol=1e-6, abs_tol=1e-9)
        return None if same else f"{where}: {old} became {new}"
    elif where.endswith(".descriptor") and len(old) == len(new):
        apart = max(abs(a - b) for a, b in zip(bytes.fromhex(old), bytes.fromhex(new)))
        return None if apart <= 1 else f"{where}: a byte changed by {apart}"
    else:
        return None if old == new else f"{where}: {old} became {new}"
    return next((d for d in (difference(*pair) for pair in pairs) if d), None)


def check(name, value):
    """A description of the difference between a file and its definition, or None."""
    path = FOLDER / name
    if not path.is_file():
        return "is missing"
    stored = path.read_bytes()
    if name.endswith(".json"):
        return difference(json.loads(stored), json.loads(json.dumps(value)))
    if name.endswith(".pfm"):
        fresh = contents(name, value)
        head = fresh.index(b"-1.0\n") + 5
        if stored[:head] != fresh[:head] or len(stored) != len(fresh):
            return "has another size"
        apart = np.abs(np.frombuffer(stored[head:], "<f4") - np.frombuffer(fresh[head:], "<f4")).max()
        return None if apart <= 2e-5 else f"differs by {apart} gray levels"
    return None if stored == contents(name, value) else "differs"


def main():
    checking = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not checking:
        sys.exit(__doc__)
    wrong = 0
    for name, value in results():
        if not checking:
            (FOLDER / name).write_bytes(contents(name, value))
            continue
        said = check(name, value)
        wrong += said is not None
        print(f"{name}: {said or 'agrees'}")
    if wrong:
        sys.exit(f"files that differ from their definitions: {wrong}; "
                 "if a definition was meant to change, run make.py")


if __name__ == "__main__":
    main()
