#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the options of detectors find on photographs with known geometry: the counts and errors behind the advice of the
documentation, which are the same on every machine.

  python3 bench/choices.py build/cpu/cornea DATA [--json out.json]

DATA holds vgg_affine, fountain_p11 and chessboards. Matches are those of compare_sift.py: ratio 0.8, mutual, one per
pair of positions, correct within 3 pixels. Needs NumPy, OpenCV and, for COLMAP's row, pycolmap.

  options   matches with affine shape and pooling, per pair or sequence
  keep      which points stay when there are more than allowed: both, contrast or scale; also with blurred photographs
  settle    lenient and strict on exact warps: four photographs, each seen twice through homographies that rotate it
  memory    of SIFT by image size
  corners   Harris corners found again between photographs, and on labelled chessboards, by --subpixel
  fountain  inliers of `cornea pair` and their distances to the true epipolar lines
"""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

import compare_sift
from compare_sift import SEQUENCES, colmap_features, cornea_features, judge, opencv_features, pycolmap, summary

PLAIN = ("--orientations", "2", "--keep", "scale")
OPTIONS = {"plain": (), "affine_shape": ("--affine-shape",), "pooling": ("--domain-size-pooling",),
           "both": ("--affine-shape", "--domain-size-pooling")}
GRAF = {2: "viewpoint 20°", 3: "30°", 4: "40°", 5: "50°", 6: "60°"}
REST = {"boat": "zoom and rotation", "leuven": "light", "ubc": "JPEG"}
KEEPS = ("both", "contrast", "scale")
# Runs a program and prints its peak memory in KiB; in a process of its own, because a child's peak is at least what its
# parent has at the fork.
PEAK = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""


def features_of(program, *flags):
    return lambda files, most: cornea_features(program, "cpu", flags, files, most)


def options(program, data):
    rows = compare_sift.compare_matches({name: features_of(program, *PLAIN, *more) for name, more in OPTIONS.items()},
                                        data / "vgg_affine", 4000)
    out = [{"pair": f"graf 1-{i}, {GRAF[i]}", **{name: row[name]["correct"] for name in OPTIONS}}
           for i, row in zip(GRAF, (r for r in rows if r["sequence"] == "graf"))]
    for sequence, what in REST.items():
        of = [row for row in rows if row["sequence"] == sequence]
        out.append({"pair": f"{sequence}, {what}, all five", **{name: sum(r[name]["correct"] for r in of) for name in OPTIONS}})
    return {"rows": out}


def keep(program, data):
    who = {name: features_of(program, "--settle", "lenient", "--keep", name) for name in KEEPS}
    rows = []
    for most in (1000, 2000, 4000, 8000, 16000):
        pairs = compare_sift.compare_matches(who, data / "vgg_affine", most)
        sums = {name: summary(pairs, name) for name in who}
        rows.append({"most": most, **{name: {"correct": s["correct"], "share": 100 * s["precision"], "error": s["error"],
                                             "corner_error": s["corner_error"]} for name, s in sums.items()}})
    return {"rows": rows, "blurred": blurred(who, data)}


def blurred(who, data):
    """Correct matches with 2,000 points where the second photograph of each pair is blurred."""
    found = dict.fromkeys(who, 0)
    with tempfile.TemporaryDirectory() as folder:
        for sequence in SEQUENCES:
            files = [next((data / "vgg_affine" / sequence).glob(f"img{i}.*")) for i in range(1, 7)]
            for k, sigma in enumerate((1.5, 2, 2.5, 3, 4), start=1):
                file = Path(folder, f"{sequence}{k}.png")
                cv2.imwrite(str(file), cv2.GaussianBlur(cv2.imread(str(files[k]), 0), (0, 0), sigma))
                homography = np.loadtxt(data / "vgg_affine" / sequence / f"H1to{k + 1}.txt")
                for name, features in who.items():
                    errors = judge(*features([files[0], file], 2000), homography)[1]
                    found[name] += int((errors < compare_sift.NEAR).sum())
    return found


def warps(data):
    """Four photographs of the fountain, each seen twice: (two 8-bit images, the homography between them)."""
    rng, size = np.random.default_rng(1), (800, 600)
    for file in sorted((data / "fountain_p11" / "images").glob("*.jpg"))[::3][:4]:
        pixels = cv2.imread(str(file), 0)
        views = []
        for turn in rng.uniform(20, 35, 2) * (1, -1):
            centre = np.array(pixels.shape[::-1]) / 2
            h = np.eye(3)
            h[:2] = cv2.getRotationMatrix2D(tuple(centre), turn, 1.0)
            h = np.array([[1, 0, size[0] / 2 - centre[0]], [0, 1, size[1] / 2 - centre[1]], [0, 0, 1]]) @ h
            tilt = np.eye(3)
            tilt[2, :2] = rng.uniform(-2e-4, 2e-4, 2)
            views.append(tilt @ h)
        images = [cv2.warpPerspective(pixels, h, size, flags=cv2.INTER_CUBIC) for h in views]
        yield images, views[1] @ np.linalg.inv(views[0])


def settle(program, data):
    files = [next((data / "vgg_affine" / s).glob(f"img{i}.*")) for s in SEQUENCES for i in range(1, 7)]
    points = {}
    for name in ("lenient", "strict"):
        with tempfile.TemporaryDirectory() as folder:
            found = json.loads(compare_sift.run(program, "detect", *files, "--detector", "sift", "--settle", name, "--device",
                                                "cpu", "--json", "-", "--quiet"))
        points[name] = sum(len({tuple(p[:2]) for p in image["points"]}) for image in found)
    who = {f"`{k}`, {s}": features_of(program, "--keep", k, "--settle", s)
           for k in ("both", "contrast") for s in ("lenient", "strict")}
    if pycolmap:
        who["COLMAP"] = colmap_features
    who["OpenCV"] = opencv_features
    errors, most = {name: [] for name in who}, {name: 0 for name in who}
    with tempfile.TemporaryDirectory() as folder:
        for k, (images, homography) in enumerate(warps(data)):
            pair = [Path(folder, f"warp{k}{side}.png") for side in "ab"]
            for file, pixels in zip(pair, images):
                cv2.imwrite(str(file), pixels)
            for name, features in who.items():
                sets = features(pair, 4000)
                most[name] = max(most[name], *(len(s[0]) for s in sets))
                off = judge(*sets, homography)[1]
                errors[name].append(off[off < compare_sift.NEAR])
    rows = []
    for name, parts in errors.items():
        off = np.concatenate(parts)
        rows.append({"what": name, "correct": len(off), "mean": float(off.mean()), "median": float(np.median(off))})
    return {"points_of_24_oxford_images": points, "colmap_most_features": most.get("COLMAP"), "rows": rows}


def memory(program, _data):
    """Gigabytes that SIFT needs, as `cornea detect` reports them, and the peak of the whole program."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for width, height in ((640, 480), (1920, 1080), (3840, 2160), (6000, 4000), (12000, 9000)):
            file, row = Path(folder, "image.pgm"), {"image": f"{width}x{height}"}
            pixels = cv2.resize(np.random.default_rng(1).integers(0, 256, (height // 40, width // 40), np.uint8),
                                (width, height), interpolation=cv2.INTER_CUBIC)
            cv2.imwrite(str(file), pixels)
            for name, flag in (("doubled", "--doubled"), ("not_doubled", "--no-doubled")):
                peak = compare_sift.run(sys.executable, "-c", PEAK, program, "detect", file, "--detector", "sift", flag,
                                        "--device", "cpu", "--json", Path(folder, "out.json"), "-q")
                row[name] = json.loads(Path(folder, "out.json").read_text())[0]["memory_bytes"] * 1e-9
                row[f"peak_{name}"] = int(peak) * 1024e-9
            rows.append(row)
    return {"rows": rows}


def corner_places(program, file, *flags):
    found = json.loads(compare_sift.run(program, "detect", file, *flags, "--device", "cpu", "--json", "-", "--quiet"))
    return np.array(found[0]["points"])[:, :2]


def distances(a, b):
    """From every place of a to the nearest one of b."""
    return np.array([np.sqrt(((b - place) ** 2).sum(axis=1).min()) for place in a])


def corners(program, data):
    out = {"limits": (0.5, 1, 1.5)}
    for subpixel in ("quadratic", "none", "gradient"):
        off = []
        for sequence in SEQUENCES:
            files = [next((data / "vgg_affine" / sequence).glob(f"img{i}.*")) for i in (1, 2, 3)]
            height, width = cv2.imread(str(files[0]), 0).shape
            places = [corner_places(program, f, "--detector", "harris", "--max-points", "1000", "--subpixel", subpixel)
                      for f in files]
            for i in (1, 2):
                mapped = cv2.perspectiveTransform(places[0][:, None].astype(float),
                                                  np.loadtxt(data / "vgg_affine" / sequence / f"H1to{i + 1}.txt"))[:, 0]
                inside = (mapped >= 0).all(axis=1) & (mapped <= (width - 1, height - 1)).all(axis=1)
                off.append(distances(mapped[inside], places[i]))
        off = np.concatenate(off)
        out[subpixel] = [100 * float((off <= limit).mean()) for limit in out["limits"]]
    return out


def chessboards(program, data):
    out = {}
    for subpixel in ("none", "quadratic", "gradient"):
        medians, within = [], []
        for labels in sorted((data / "chessboards").glob("*.csv")):
            with open(labels, newline="") as lines:
                truth = np.array([[float(row["x"]), float(row["y"])] for row in csv.DictReader(lines)])
            off = distances(truth, corner_places(program, labels.with_suffix(".png"), "--detector", "harris", "--subpixel",
                                                 subpixel))
            medians.append(float(np.median(off)))
            within.append(int((off <= 2).sum()))
        out[subpixel] = {"least": min(medians), "most": max(medians), "within_2_pixels": min(within), "corners": len(truth)}
    return out


def fountain(program, data):
    folder = data / "fountain_p11"
    cameras = json.loads((folder / "cameras.json").read_text())
    rows = []
    for a, b in ((0, 1), (1, 2), (4, 5)):
        names = [f"{k:04d}.jpg" for k in (a, b)]
        one, two = (cameras[name] for name in names)
        R1, R2 = (np.array(c["R_cam_from_world"]) for c in (one, two))
        t1, t2 = (np.array(c["t_cam_from_world"]) for c in (one, two))
        R, t = R2 @ R1.T, t2 - R2 @ R1.T @ t1
        cross = np.array([[0, -t[2], t[1]], [t[2], 0, -t[0]], [-t[1], t[0], 0]])
        F = np.linalg.inv(np.array(two["K"])).T @ cross @ R @ np.linalg.inv(np.array(one["K"]))
        with tempfile.TemporaryDirectory() as out:
            compare_sift.run(program, "pair", *(folder / "images" / name for name in names), "-o", out, "--device", "cpu", "-q")
            with open(Path(out, "matches.csv"), newline="") as lines:
                matches = [row for row in csv.DictReader(lines) if int(row["inlier"])]
        x1, x2 = (np.array([[float(m[f"x{k}"]), float(m[f"y{k}"]), 1] for m in matches]) for k in (1, 2))
        l2, l1 = x1 @ F.T, x2 @ F
        off = np.abs((x2 * l2).sum(axis=1)) * (1 / np.hypot(l2[:, 0], l2[:, 1]) + 1 / np.hypot(l1[:, 0], l1[:, 1]))
        rows.append({"photographs": f"{a}, {b}", "inliers": len(matches), "median": float(np.median(off))})
    return {"pairs": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", help="make these sections of an existing FILE again")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    result = {"opencv": cv2.__version__, "pycolmap": pycolmap.__version__ if pycolmap else None}
    if given.only:
        result = json.loads(given.json.read_text())
    for section in (fountain, chessboards, corners, options, keep, settle, memory):
        if not given.only or section.__name__ in given.only:
            result[section.__name__] = section(given.program, given.data)
            print(section.__name__, json.dumps(result[section.__name__]), flush=True)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
