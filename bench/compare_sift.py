# SPDX-License-Identifier: Apache-2.0
"""Compares Cornea's SIFT with COLMAP's (VLFeat's, on the CPU) and OpenCV's, in one run: which has more matches, more
correct and more precise ones, and which is faster on this CPU at an equal number of features?

  python3 bench/compare_sift.py --cornea build/cpu/cornea [--image photo.jpg ...] [--json out.json]

Matches are judged on the Oxford sequences of planes (graf, boat, leuven, ubc: img1 .. img6 and H1toN.txt in one
folder each), which are expected in --data; without them only times are compared. Equal for all: the maximum number
of points per image (--most), the contrast threshold (0.02, COLMAP's), RootSIFT, and the matcher: nearest neighbour
by Euclidean distance, ratio 0.8, mutual. Matches between the same two positions, of points with several
orientations, count once; a match is correct within 3 pixels of the homography. Everything else is each library's
own: the limits of COLMAP and Cornea count points with all their orientations, and COLMAP keeps whole levels of
scale, so that it has more points than requested; OpenCV's limit counts features.

COLMAP is compared if pycolmap can be imported. Exits with 1 if Cornea has fewer correct matches in total than
another library at any number of points, or a larger mean error of the correct ones than COLMAP. (OpenCV's error is
that of fewer and different matches: those of small scales and small changes, which are more precise.)
"""
import argparse
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

from compare_opencv import gray_images, processor, run, time_opencv

try:
    import pycolmap
except ImportError:
    pycolmap = None

SEQUENCES = ("graf", "boat", "leuven", "ubc")
RATIO, NEAR, CONTRAST = 0.8, 3.0, 0.02
SIZES = [(640, 480), (1280, 960), (1920, 1080)]


# ---------------------------------------------------------------------------------------------
# Features: (positions, descriptors) per image, n x 2 with pixel centres at integers and n x 128.

def cornea_features(program, device, flags, files, most):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(program, "detect", *files, "--detector", "sift", "--max-points", most, "--contrast", CONTRAST,
            "--root", *flags, "--device", device, "--csv", folder, "--descriptors", folder, "--quiet")
        return [(np.loadtxt(folder / f"{f.stem}_sift.csv", delimiter=",", skiprows=1, usecols=(0, 1), ndmin=2),
                 np.load(folder / f"{f.stem}_sift.npy").astype(np.float32)) for f in files]


def colmap_features(files, most):
    options = pycolmap.FeatureExtractionOptions()
    options.use_gpu = False
    options.sift.max_num_features = most
    options.sift.peak_threshold = CONTRAST / options.sift.octave_resolution
    options.sift.normalization = pycolmap.Normalization.L1_ROOT
    sift = pycolmap.Sift(options, device=pycolmap.Device.cpu)
    out = []
    for file in files:
        points, descriptors = sift.extract(cv2.imread(str(file), 0))
        out.append((points[:, :2].astype(float) - 0.5, descriptors.astype(np.float32)))
    return out


def opencv_features(files, most):
    sift = cv2.SIFT_create(nfeatures=most, contrastThreshold=CONTRAST)
    out = []
    for file in files:
        points, descriptors = sift.detectAndCompute(cv2.imread(str(file), 0), None)
        root = np.sqrt(descriptors / np.maximum(descriptors.sum(axis=1, keepdims=True), 1e-9))
        out.append((np.array([p.pt for p in points]), 512 * root.astype(np.float32)))
    return out


# ---------------------------------------------------------------------------------------------
# Matches.

def nearest_two(a, b):
    """For each row of a: the nearest row of b, its squared distance, and that of the second nearest."""
    index, first, second = [], [], []
    squares = (b * b).sum(axis=1)
    for begin in range(0, len(a), 2000):
        part = a[begin:begin + 2000]
        d = (part * part).sum(axis=1, keepdims=True) + squares - 2 * (part @ b.T)
        rows = np.arange(len(part))
        best = d.argmin(axis=1)
        index.append(best)
        first.append(d[rows, best])
        d[rows, best] = np.inf
        second.append(d.min(axis=1))
    return np.concatenate(index), np.concatenate(first), np.concatenate(second)


def matches_of(a, b):
    """Pairs of rows that pass the ratio test and are mutual nearest neighbours."""
    index, first, second = nearest_two(a, b)
    back = nearest_two(b, a)[0]
    near = first < RATIO ** 2 * second
    mutual = back[index] == np.arange(len(a))
    at = np.flatnonzero(near & mutual)
    return at, index[at]


def judge(first, second, homography):
    """(pairs of positions as n x 4, their errors in pixels)"""
    i, j = matches_of(first[1], second[1])
    places = np.unique(np.c_[first[0][i], second[0][j]], axis=0)
    mapped = np.c_[places[:, :2], np.ones(len(places))] @ homography.T
    return places, np.linalg.norm(mapped[:, :2] / mapped[:, 2:] - places[:, 2:], axis=1)


def corner_error(places, homography, shape):
    """The mean error, in pixels, of the image's corners under the homography estimated from the matches."""
    if len(places) < 4:
        return np.inf
    cv2.setRNGSeed(1)
    found, _ = cv2.findHomography(places[:, :2], places[:, 2:], cv2.USAC_MAGSAC, 2.0, maxIters=10000,
                                  confidence=0.9999)
    if found is None:
        return np.inf
    height, width = shape
    corners = np.array([[[0, 0]], [[width - 1, 0]], [[width - 1, height - 1]], [[0, height - 1]]], float)
    mapped = [cv2.perspectiveTransform(corners, h)[:, 0] for h in (found, homography)]
    return float(np.linalg.norm(mapped[0] - mapped[1], axis=1).mean())


def compare_matches(who, data, most):
    """Rows for one number of points, one row per pair."""
    rows = []
    for sequence in SEQUENCES:
        files = [next((data / sequence).glob(f"img{i}.*")) for i in range(1, 7)]
        shape = cv2.imread(str(files[0]), 0).shape
        sets = {name: features(files, most) for name, features in who.items()}
        for i in range(2, 7):
            homography = np.loadtxt(data / sequence / f"H1to{i}.txt")
            row = {"most": most, "sequence": sequence, "pair": f"{sequence} 1-{i}"}
            for name, images in sets.items():
                places, errors = judge(images[0], images[i - 1], homography)
                correct = errors < NEAR
                row[name] = {"points": [len(np.unique(images[k][0], axis=0)) for k in (0, i - 1)],
                             "features": [len(images[k][0]) for k in (0, i - 1)],
                             "matches": len(places), "correct": int(correct.sum()),
                             "error": float(errors[correct].mean()) if correct.any() else None,
                             "corner_error": corner_error(places, homography, shape)}
            rows.append(row)
    return rows


def summary(rows, name):
    """For some pairs: sums, the mean error over all correct matches, the median corner error."""
    of = [row[name] for row in rows]
    matches, correct = (sum(r[k] for r in of) for k in ("matches", "correct"))
    return {"points": float(np.mean([r["points"] for r in of])),
            "features": float(np.mean([r["features"] for r in of])), "matches": matches, "correct": correct,
            "precision": correct / max(matches, 1),
            "error": sum(r["correct"] * (r["error"] or 0) for r in of) / max(correct, 1),
            "corner_error": float(np.median([r["corner_error"] for r in of]))}


def print_matches(rows, names):
    head = f"{'points':>7} {'features':>8} {'matches':>8} {'correct':>8} {'share':>6} {'error':>6} {'corners':>8}"
    for most in dict.fromkeys(row["most"] for row in rows):
        print(f"\nat most {most} points per image\n{'':8} {'':8} {head}")
        some = [row for row in rows if row["most"] == most]
        for sequence in (*SEQUENCES, "all"):
            for name in names:
                s = summary([r for r in some if sequence in (r["sequence"], "all")], name)
                print(f"{sequence if name == names[0] else '':8} {name:8} {s['points']:7.0f} {s['features']:8.0f} "
                      f"{s['matches']:8} {s['correct']:8} {100 * s['precision']:5.1f}% {s['error']:6.3f} "
                      f"{s['corner_error']:8.2f}")


def failures(rows, names):
    out = []
    for most in dict.fromkeys(row["most"] for row in rows):
        sums = {name: summary([r for r in rows if r["most"] == most], name) for name in names}
        for name in names[1:]:
            if sums["cornea"]["correct"] < sums[name]["correct"]:
                out.append(f"{most} points: fewer correct matches than {name}")
            if name == "colmap" and sums["cornea"]["error"] > sums[name]["error"]:
                out.append(f"{most} points: a larger mean error than {name}")
    return out


# ---------------------------------------------------------------------------------------------
# Time.

def compare_speed(cornea, images, folder, repeat):
    rows = []
    for name, image in images.items():
        file = folder / "speed.png"
        cv2.imwrite(str(file), image)
        # The same number of features for both: what the one with fewer finds. Cornea's limit counts
        # points.
        found = json.loads(run(cornea, "detect", file, "--detector", "sift", "--device", "cpu", "--json", "-"))
        found = np.array(found[0]["points"])[:, :2]
        features = min(len(cv2.SIFT_create().detect(image, None)), len(found))
        points = round(features * len(np.unique(found, axis=0)) / len(found))
        sift = cv2.SIFT_create(nfeatures=features)
        opencv_ms, opencv_points = time_opencv(lambda im: sift.detectAndCompute(im, None)[0], image, repeat)
        result = json.loads(run(cornea, "bench", "--image", file, "--device", "cpu", "--threads",
                                cv2.getNumThreads(), "--repeat", repeat, "--batch", 1, "--detector", "sift",
                                "--set", f"max-points={points}", "--json", "-"))["results"][0]
        ms = result["milliseconds"]["median"]
        rows.append({"image": name, "width": image.shape[1], "height": image.shape[0],
                     "opencv_ms": opencv_ms, "opencv_points": opencv_points, "cornea_ms": ms,
                     "cornea_points": result["points"], "stages": result["stages"],
                     "ratio": ms / opencv_ms})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cornea", default="build/cpu/cornea")
    parser.add_argument("--device", default="cpu", help="device for the matches; times are measured on the CPU")
    parser.add_argument("--data", default=Path(os.environ.get("CORNEA_DATA", "../shared")) / "data/vgg_affine",
                        type=Path, help="folder with graf, boat, leuven and ubc")
    parser.add_argument("--most", type=int, nargs="*", default=[2000, 4000, 8000], help="points per image")
    parser.add_argument("--flags", type=shlex.split, default=[], help="further flags of cornea detect")
    parser.add_argument("--alone", action="store_true", help="without other libraries and times")
    parser.add_argument("--no-times", action="store_true", help="matches only")
    parser.add_argument("--image", nargs="*", default=[], help="photographs, in addition to the synthetic scenes")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--json")
    options = parser.parse_args()

    who = {"cornea": lambda files, most: cornea_features(options.cornea, options.device, options.flags, files, most)}
    if not options.alone:
        if pycolmap:
            who["colmap"] = colmap_features
        else:
            print("no pycolmap: COLMAP is not compared (pip install pycolmap)")
        who["opencv"] = opencv_features
    rows, speed = [], []
    if all((options.data / s).is_dir() for s in SEQUENCES):
        for most in options.most:
            rows += compare_matches(who, options.data, most)
        print_matches(rows, list(who))
    else:
        print(f"no image pairs with ground truth at {options.data}: matches are not compared (--data)")
    if not options.alone and not options.no_times:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            speed = compare_speed(options.cornea, gray_images(options.cornea, SIZES, options.image, folder), folder,
                                  options.repeat)
        print(f"\nSIFT on {processor()}, {cv2.getNumThreads()} threads\n")
        print(f"{'image':22} {'OpenCV':>10} {'features':>9} {'Cornea':>10} {'features':>9} {'ratio':>6}")
    for row in speed:
        print(f"{row['image']:22} {row['opencv_ms']:7.1f} ms {row['opencv_points']:9} "
              f"{row['cornea_ms']:7.1f} ms {row['cornea_points']:9} {row['ratio']:6.2f}")
    if options.json:
        totals = [{"most": most, "sequence": sequence,
                   **{name: summary([r for r in rows if r["most"] == most and sequence in (r["sequence"], "all")],
                                    name) for name in who}}
                  for most in options.most for sequence in (*SEQUENCES, "all")] if rows else []
        Path(options.json).write_text(json.dumps(
            {"processor": processor(), "threads": cv2.getNumThreads(), "opencv": cv2.__version__,
             "pycolmap": pycolmap.__version__ if pycolmap else None, "commit": options.commit,
             "repeat": options.repeat, "device_of_matches": options.device, "flags": options.flags,
             "contrast": CONTRAST, "ratio": RATIO, "correct_within_pixels": NEAR, "totals": totals, "pairs": rows,
             "speed": speed}, indent=2) + "\n")
    failed = failures(rows, list(who))
    for line in failed:
        print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
