#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the numbers of `cornea evaluate` by an independent computation: evaluate_test.py PROGRAM.

OpenCV's Harris corners and SIFT features are given to the program as files, and its results for them are computed
again here with NumPy: repeatability and localisation on sequences and under known changes, the matches and how
many are correct, and the error and the area of the homographies that it found. The changed images themselves are
compared with cv2.warpAffine. Uses two sequences of vgg_affine in CORNEA_DATA (default ../shared), or generated
images if these are missing. Skipped (77) without NumPy and OpenCV.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import cv2
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM = sys.argv[1]
POINTS, NEAR, MARGIN, RATIO = 400, 4.0, 16, 0.8
complaints = []


def check(holds, words):
    if not holds:
        complaints.append(words)


def close(ours, theirs, tolerance, words):
    check(abs(ours - theirs) <= tolerance, f"{words}: {ours} here, {theirs} by cornea evaluate")


# --- Images --------------------------------------------------------------------------------------

def drawn_image():
    rng = np.random.default_rng(7)
    image = np.full((480, 640), 128, np.uint8)
    for _ in range(300):
        x, y = rng.integers(0, 640), rng.integers(0, 480)
        w, h = rng.integers(5, 60, 2)
        cv2.rectangle(image, (int(x), int(y)), (int(x + w), int(y + h)), int(rng.integers(0, 256)), -1)
    return cv2.GaussianBlur(image, (0, 0), 0.8)


def draw_sequence(folder):
    """Two views of a synthetic plane."""
    folder.mkdir(parents=True)
    first = drawn_image()
    cv2.imwrite(str(folder / "img1.png"), first)
    for n, H in ((2, [[0.9, -0.2, 60], [0.15, 0.95, -20], [1e-4, 5e-5, 1]]),
                 (3, [[0.7, 0.3, 20], [-0.25, 0.8, 120], [0, 2e-4, 1]])):
        cv2.imwrite(str(folder / f"img{n}.png"), cv2.warpPerspective(first, np.array(H), (640, 480)))
        np.savetxt(folder / f"H1to{n}.txt", np.array(H))


def sequences(folder):
    """A folder of sequences with three images each, linked or generated."""
    data = Path(os.environ.get("CORNEA_DATA") or Path(__file__).resolve().parents[2] / "shared") / "data/vgg_affine"
    for name in ("graf", "boat"):
        if not (data / name / "img3.png").is_file():
            draw_sequence(folder / name)
            continue
        (folder / name).mkdir(parents=True)
        for file in ("img1.png", "img2.png", "img3.png", "H1to2.txt", "H1to3.txt"):
            (folder / name / file).symlink_to((data / name / file).resolve())
    return folder


# --- OpenCV's points -----------------------------------------------------------------------------

def harris_points(image):
    """Positions and responses, far more than requested."""
    response = cv2.cornerHarris(image, 3, 3, 0.04)
    peaks = (response == cv2.dilate(response, np.ones((3, 3)))) & (response > 0)
    y, x = np.nonzero(peaks)
    order = np.argsort(-response[y, x], kind="stable")[:4 * POINTS]
    return np.c_[x, y][order].astype(float), response[y, x][order], None


def sift_points(image):
    points, descriptors = cv2.SIFT_create(nfeatures=2 * POINTS).detectAndCompute(image, None)
    return (np.array([p.pt for p in points]).astype(np.float32).astype(float),
            np.array([p.response for p in points]), descriptors.astype(np.float32))


def write_points(folder, name, found):
    places, responses, descriptors = found
    file = folder / f"{name}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(file, np.c_[places, responses], fmt="%.9g", delimiter=",", header="x,y,response", comments="")
    if descriptors is not None:
        np.save(folder / f"{name}.npy", descriptors)


def strongest(found, most, inside=None):
    """The rows of the strongest positions inside the mask, with all their orientations, in their order."""
    places, responses, _ = found
    rows = np.arange(len(places)) if inside is None else np.flatnonzero(inside)
    # As the file has them, which the program reads as floats.
    order = np.argsort(-np.array([f"{r:.9g}" for r in responses[rows]], float).astype(np.float32), kind="stable")
    kept, seen = [], set()
    for row in rows[order]:
        if len(seen) < most or tuple(places[row]) in seen:
            seen.add(tuple(places[row]))
            kept.append(row)
    return np.sort(np.array(kept, int))


def equal_number(sets, shapes, insides=None):
    """The number of positions that all candidates have."""
    most = min([POINTS] + [h * w // 400 for h, w in shapes])
    for i, found in enumerate(sets):
        rows = strongest(found, most, insides[i] if insides else None)
        most_here = len(np.unique(found[0][rows], axis=0))
        check(4 * most_here >= most, "an image with so few points is no test")
        most = min(most, most_here)
    return most


# --- Measures ------------------------------------------------------------------------------------

def project(H, points):
    mapped = np.c_[points, np.ones(len(points))] @ np.asarray(H).reshape(3, 3).T
    return mapped[:, :2] / mapped[:, 2:]


def repeatability(expected, found):
    """(fraction, root mean square) by choosing the nearest pairs first, from the full distance matrix."""
    d = np.linalg.norm(expected[:, None] - found[None], axis=2)
    taken, squares = 0, 0.0
    for _ in range(min(d.shape)):
        i, j = np.unravel_index(d.argmin(), d.shape)
        if d[i, j] > NEAR:
            break
        taken, squares = taken + 1, squares + d[i, j] ** 2
        d[i, :] = d[:, j] = np.inf
    if taken == 0:
        return 0, 0.0, 0.0
    return taken, taken / 2 * (1 / len(expected) + 1 / len(found)), (squares / taken) ** 0.5


def holds(shape, points):
    return ((points >= 0) & (points <= [shape[1] - 1, shape[0] - 1])).all(axis=1)


def matches(a, b):
    d = np.sqrt(((a[:, None].astype(float) - b[None]) ** 2).sum(axis=2))
    nearest, back, rows = d.argmin(axis=1), d.argmin(axis=0), np.arange(len(a))
    first = d[rows, nearest]
    rest = d.copy()
    rest[rows, nearest] = np.inf
    good = (first < RATIO * rest.min(axis=1)) & (back[nearest] == rows)
    return np.flatnonzero(good), nearest[good]


def corner_error(H, truth, shape):
    h, w = shape
    corners = np.array([[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]], float)
    return min(np.linalg.norm(project(H, corners) - project(truth, corners), axis=1).mean(), 100)


# --- The two parts -------------------------------------------------------------------------------

def evaluate(data, names, part, folder, *more):
    out = folder / "out.json"
    words = [PROGRAM, "evaluate", data, "--only-theirs", "--parts", part, "--points", POINTS, "--device", "cpu",
             "--seeds", 2, "--quiet", "--json", out, *more]
    for name in names:
        words += ["--theirs", f"{name}={folder / name}"]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    check(done.returncode == 0, f"evaluate --parts {part} ended with {done.returncode}: {done.stderr}")
    if done.returncode != 0:
        print("\n".join(complaints))
        sys.exit(1)
    return json.loads(out.read_text())[part]


def check_sequences(data, folder):
    sets, images = {}, {}
    for file in sorted(data.glob("*/img*.png")):
        name = f"{file.parent.name}/{file.stem}"
        images[name] = cv2.imread(str(file), 0)
        for who, find in (("harris", harris_points), ("sift", sift_points)):
            sets[who, name] = find(images[name])
            write_points(folder / who, name, sets[who, name])
    result = evaluate(data, ("harris", "sift"), "sequences", folder)
    check(len(result["points"]) == 8 and len(result["matches"]) == 4, "pairs are missing")
    shares = {"harris": [], "sift": []}
    most = {}
    for sequence in ("graf", "boat"):
        of = [key for key in sets if key[1].startswith(sequence)]
        most[sequence] = equal_number([sets[key] for key in of], [images[name].shape for _, name in of])
    for row in result["points"]:
        who, (a, b) = row["detector"], row["pair"]
        H = np.loadtxt(data / a.split("/")[0] / f"H1to{b[-1]}.txt")
        first, second = (np.unique(sets[who, n][0][strongest(sets[who, n], most[n.split("/")[0]])], axis=0)
                         for n in (a, b))
        expected = project(H, first)
        taken, share, error = repeatability(expected[holds(images[b].shape, expected)],
                                            second[holds(images[a].shape, project(np.linalg.inv(H), second))])
        shares[who].append(share)
        words = f"{who} {a} {b}"
        # Pairs at the same distance may be chosen in another order, which affects a third point.
        close(taken, row["repeated"], 1, f"{words}, repeated")
        close(share, row["repeatability"], 0.005, f"{words}, repeatability")
        close(error, row["localisation"], 0.02, f"{words}, localisation")
    for table_row in result["tables"][0]["rows"]:
        mean = 100 * np.mean(shares[table_row["detector"]])
        close(mean, [v for k, v in table_row.items() if k.startswith("repeatability")][0], 0.5, "mean repeatability")
    errors = []
    for row in result["matches"]:
        a, b = row["pair"]
        H = np.loadtxt(data / a.split("/")[0] / f"H1to{b[-1]}.txt")
        keep = [strongest(sets["sift", n], most[n.split("/")[0]]) for n in (a, b)]
        i, j = matches(sets["sift", a][2][keep[0]], sets["sift", b][2][keep[1]])
        places = np.unique(np.c_[sets["sift", a][0][keep[0]][i], sets["sift", b][0][keep[1]][j]], axis=0)
        check(len(places) > 20, f"{a} {b}: only {len(places)} matches to compare")
        check(len(places) == row["matches"], f"{a} {b}: {len(places)} matches here, {row['matches']} there")
        off = np.linalg.norm(project(H, places[:, :2]) - places[:, 2:], axis=1)
        correct = [int((off <= limit).sum()) for limit in (1, 3, 5)]
        check(correct == row["correct"], f"{a} {b}: {correct} correct here, {row['correct']} there")
        for found in row["homographies"]:
            errors.append(corner_error(found["H"], H, images[a].shape))
            close(errors[-1], found["corner_error"], 1e-6, f"{a} {b}, corner error")
    areas = result["tables"][3]["rows"][0]
    for limit in (3, 5):
        ours = 100 * np.mean(np.clip(1 - np.array(errors) / limit, 0, 1))
        close(ours, [v for k, v in areas.items() if f"{limit}_px" in k][0], 1e-6, f"AUC at {limit} pixels")
    return len(result["points"]) + len(result["matches"])


def check_changes(data, folder):
    one = folder / "one"
    one.mkdir()
    (one / "photo.png").symlink_to((data / "graf/img1.png").resolve())
    written = folder / "images"
    subprocess.run([PROGRAM, "evaluate", str(one), "--write-images", str(written), "--device", "cpu", "--quiet"], check=True)
    sets, images = {}, {}
    for file in sorted(written.glob("*.png")):
        images[file.stem] = cv2.imread(str(file), 0)
        sets[file.stem] = harris_points(images[file.stem])
        write_points(folder / "changed", file.stem, sets[file.stem])
    result = evaluate(one, ("changed",), "changes", folder)
    maps = {t["image"]: np.array(t["from_original"]).reshape(3, 3) for t in result["transforms"]}
    kinds = {t["image"]: (t["kind"], t["level"]) for t in result["transforms"]}
    check(len(maps) == len(images) - 1 and len(maps) >= 20, f"{len(maps)} changes of {len(images)} images")
    original = images["photo"]
    h, w = original.shape

    def inside(name):
        # The value of the pixel that contains a point.
        M = maps.get(name, np.eye(3))
        back = project(np.linalg.inv(M), np.floor(sets[name][0] + 0.5))
        return ((back >= MARGIN) & (back <= [w - 1 - MARGIN, h - 1 - MARGIN])).all(axis=1)

    most = equal_number([sets["photo"]], [original.shape], [inside("photo")])
    reference = sets["photo"][0][strongest(sets["photo"], most, inside("photo"))]
    for row in result["results"]:
        name = row["image"]
        found = sets[name][0][strongest(sets[name], most, inside(name))]
        taken, share, error = repeatability(project(maps[name], reference), found)
        close(taken, row["repeated"], 1, f"{name}, repeated")
        close(share, row["repeatability"], 0.005, f"{name}, repeatability")
        close(error, row["localisation"], 0.02, f"{name}, localisation")
    for name, M in maps.items():
        size = images[name].shape[::-1]
        kind, level = kinds[name]
        scale = np.linalg.svd(M[:2, :2])[1].min()
        source = original if scale >= 1 - 1e-9 else cv2.GaussianBlur(
            original, (0, 0), 0.5 * (1 / scale ** 2 - 1) ** 0.5)
        expected = cv2.warpAffine(source, M[:2], size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        whole = cv2.warpAffine(np.full_like(original, 255), M[:2], size) == 255
        if kind == "blur":
            expected = cv2.GaussianBlur(original, (0, 0), float(level))
        off = np.abs(expected.astype(float) - images[name])[cv2.erode(whole.astype(np.uint8), np.ones((9, 9))) > 0]
        # JPEG and noise change pixels by design; everything else differs only by the sampling.
        limit = {"jpeg": 12, "noise": 15}.get(kind, 1.5)
        check(off.mean() <= limit, f"{name}: pixels differ by {off.mean():.2f} gray levels from cv2's")
        check(kind != "noise" or abs((images[name] - original.astype(float)).std() - float(level)) < 0.15 * float(level),
              f"{name}: the noise is not of that deviation")
    return len(result["results"])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = sequences(folder / "data")
        rows = check_sequences(data, folder) + check_changes(data, folder)
    print("\n".join(complaints) or f"{rows} rows agree with OpenCV {cv2.__version__} and NumPy")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
