"""Cornea's SIFT beside OpenCV's, in one run: who matches more, more correctly and more precisely, and
who is faster on this CPU at an equal number of points?

  python3 bench/compare_sift.py --cornea build/cpu/cornea [--image photo.jpg ...] [--json out.json]

Matches are judged on the Oxford sequences of planes (graf, boat, leuven, ubc: img1 .. img6 and H1toN.txt
in a folder each), looked for under --data: at most 4,000 features per image, ratio 0.8, correct within 3
pixels of the homography. Without them only the time is compared. Exits with 1 if Cornea has fewer correct
matches, a share of correct ones half a point lower, or a larger median error.
"""
import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

from compare_opencv import gray_images, processor, run, time_opencv

SEQUENCES = ("graf", "boat", "leuven", "ubc")
MOST, RATIO, NEAR = 4000, 0.8, 3.0
SIZES = [(640, 480), (1280, 960), (1920, 1080)]


def cornea_features(cornea, device, file, folder):
    run(cornea, "detect", file, "--detector", "sift", "--max-points", MOST, "--device", device, "--json",
        folder / "points.json", "--descriptors", folder / "descriptors.npy", "--quiet")
    points = np.array(json.loads((folder / "points.json").read_text())[0]["points"])
    return points[:, :2], np.load(folder / "descriptors.npy").astype(np.float32)


def opencv_features(file):
    points, descriptors = cv2.SIFT_create(nfeatures=MOST).detectAndCompute(cv2.imread(str(file), 0), None)
    return np.array([p.pt for p in points])[:MOST], descriptors[:MOST]


def judge(first, second, homography):
    """(matches, errors of the correct ones in pixels)"""
    pairs = [near for near, other in cv2.BFMatcher(cv2.NORM_L2).knnMatch(first[1], second[1], k=2)
             if near.distance < RATIO * other.distance]
    a = first[0][[m.queryIdx for m in pairs]]
    b = second[0][[m.trainIdx for m in pairs]]
    mapped = np.c_[a, np.ones(len(a))] @ homography.T
    errors = np.linalg.norm(mapped[:, :2] / mapped[:, 2:] - b, axis=1)
    return len(pairs), errors[errors < NEAR]


def compare_matches(cornea, device, data, folder):
    """A row a pair, and a row for all of them."""
    rows, errors = [], {"opencv": [], "cornea": []}
    for sequence in SEQUENCES:
        files = [next((data / sequence).glob(f"img{i}.*")) for i in range(1, 7)]
        features = {"opencv": [opencv_features(f) for f in files],
                    "cornea": [cornea_features(cornea, device, f, folder) for f in files]}
        for i in range(2, 7):
            homography = np.loadtxt(data / sequence / f"H1to{i}.txt")
            row = {"pair": f"{sequence} 1-{i}"}
            for who, sets in features.items():
                matches, near = judge(sets[0], sets[i - 1], homography)
                errors[who].append(near)
                row[who] = {"features": [len(sets[0][0]), len(sets[i - 1][0])], "matches": matches,
                            "correct": len(near),
                            "median_error": float(np.median(near)) if len(near) else None}
            rows.append(row)
    total = {"pair": "all"}
    for who in errors:
        total[who] = {"matches": sum(r[who]["matches"] for r in rows),
                      "correct": sum(r[who]["correct"] for r in rows),
                      "median_error": float(np.median(np.concatenate(errors[who])))}
    return rows, total


def compare_speed(cornea, images, folder, repeat):
    rows = []
    for name, image in images.items():
        file = folder / "speed.png"
        cv2.imwrite(str(file), image)
        # As many features from both: what the one with fewer finds.
        counts = [len(cv2.SIFT_create().detect(image, None))]
        found = json.loads(run(cornea, "detect", file, "--detector", "sift", "--device", "cpu", "--json", "-"))
        counts.append(len(found[0]["points"]))
        most = min(counts)
        sift = cv2.SIFT_create(nfeatures=most)
        opencv_ms, opencv_points = time_opencv(lambda im: sift.detectAndCompute(im, None)[0], image, repeat)
        result = json.loads(run(cornea, "bench", "--image", file, "--device", "cpu", "--threads",
                                cv2.getNumThreads(), "--repeat", repeat, "--batch", 1, "--detector", "sift",
                                "--set", f"max-points={most}", "--json", "-"))["results"][0]
        ms = result["milliseconds"]["median"]
        rows.append({"image": name, "width": image.shape[1], "height": image.shape[0],
                     "opencv_ms": opencv_ms, "opencv_points": opencv_points, "cornea_ms": ms,
                     "cornea_points": result["points"], "stages": result["stages"],
                     "ratio": ms / opencv_ms})
    return rows


def print_matches(rows, total):
    def cells(side):
        share = 100 * side["correct"] / max(side["matches"], 1)
        error = "-" if side["median_error"] is None else f"{side['median_error']:.3f}"
        return f"{side['matches']:8} {side['correct']:8} {share:7.1f}% {error:>7}"

    heads = f"{'matches':>8} {'correct':>8} {'share':>8} {'error':>7}"
    print(f"{'':12} {'OpenCV ' + cv2.__version__:^34}   {'Cornea':^34}\n{'pair':12} {heads}   {heads}")
    for row in rows + [total]:
        print(f"{row['pair']:12} {cells(row['opencv'])}   {cells(row['cornea'])}")


def is_as_good(total):
    opencv, cornea = total["opencv"], total["cornea"]
    share = {who: total[who]["correct"] / total[who]["matches"] for who in ("opencv", "cornea")}
    return (cornea["correct"] >= opencv["correct"] and share["cornea"] >= share["opencv"] - 0.005
            and cornea["median_error"] <= opencv["median_error"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cornea", default="build/cpu/cornea")
    parser.add_argument("--device", default="cpu", help="for the matches; times are the CPU's")
    parser.add_argument("--data", default=Path(os.environ.get("CORNEA_DATA", "../shared")) / "data/vgg_affine",
                        type=Path, help="folder with graf, boat, leuven and ubc")
    parser.add_argument("--image", nargs="*", default=[], help="photographs, beside the synthetic scenes")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--json")
    options = parser.parse_args()

    rows, total = [], None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        speed = compare_speed(options.cornea, gray_images(options.cornea, SIZES, options.image, folder), folder,
                              options.repeat)
        if all((options.data / s).is_dir() for s in SEQUENCES):
            rows, total = compare_matches(options.cornea, options.device, options.data, folder)
    if total:
        print_matches(rows, total)
    else:
        print(f"no image pairs with ground truth at {options.data}: matches are not compared (--data)")
    print(f"\nSIFT on {processor()}, {cv2.getNumThreads()} threads\n")
    print(f"{'image':22} {'OpenCV':>10} {'features':>9} {'Cornea':>10} {'features':>9} {'ratio':>6}")
    for row in speed:
        print(f"{row['image']:22} {row['opencv_ms']:7.1f} ms {row['opencv_points']:9} "
              f"{row['cornea_ms']:7.1f} ms {row['cornea_points']:9} {row['ratio']:6.2f}")
    if options.json:
        Path(options.json).write_text(json.dumps(
            {"processor": processor(), "threads": cv2.getNumThreads(), "opencv": cv2.__version__,
             "commit": options.commit, "repeat": options.repeat, "device_of_matches": options.device,
             "most_features": MOST, "ratio": RATIO, "correct_within_pixels": NEAR, "pairs": rows,
             "all_pairs": total, "speed": speed}, indent=2) + "\n")
    return 0 if total is None or is_as_good(total) else 1


if __name__ == "__main__":
    sys.exit(main())
