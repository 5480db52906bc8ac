# SPDX-License-Identifier: Apache-2.0
"""Compares Cornea with OpenCV, in one run: do the Harris responses agree, and which is faster on this CPU, for Harris
corners and for FOAGDD corners against SIFT?

  python3 bench/compare_opencv.py --cornea build/cpu/cornea [--image photo.jpg ...] [--json out.json]

Exits with 1 if a response differs from OpenCV's by more than 1e-5 of the largest one.
"""
import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np

TOLERANCE = 1e-5  # relative to the largest response
SIZES = [(640, 480), (1280, 960), (1920, 1080)]


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def read_pfm(path):
    with open(path, "rb") as f:
        assert f.readline().strip() == b"Pf"
        width, height = map(int, f.readline().split())
        scale = float(f.readline())
        pixels = np.frombuffer(f.read(), "<f4" if scale < 0 else ">f4")
    return pixels.reshape(height, width)[::-1]


def check_responses(cornea, images, folder):
    """[{image, measure, window, error}]: the largest difference divided by the largest response."""
    rows = []
    for name, image in images.items():
        file, out = folder / "image.png", folder / "response.pfm"
        cv2.imwrite(str(file), image)
        for window in (3, 5, 7):
            for measure, reference in (
                ("harris", lambda w: cv2.cornerHarris(image, w, 3, 0.04)),
                ("shi-tomasi", lambda w: cv2.cornerMinEigenVal(image, w, ksize=3)),
            ):
                run(cornea, "detect", file, "--measure", measure, "--window", window, "--response", out,
                    "--device", "cpu", "--quiet")
                expected = reference(window)
                error = float(np.abs(read_pfm(out) - expected).max() / np.abs(expected).max())
                rows.append({"image": name, "measure": measure, "window": window, "error": error})
    return rows


def harris_points(image):
    return cv2.goodFeaturesToTrack(image, 0, 0.01, 1, blockSize=3, useHarrisDetector=True, k=0.04)


def sift_points(image):
    return cv2.SIFT_create().detectAndCompute(image, None)[0]


def time_opencv(find_points, image, repeat):
    times = []
    for _ in range(repeat + 3):
        begin = time.perf_counter()
        points = find_points(image)
        times.append(1000 * (time.perf_counter() - begin))
    return float(np.median(times[3:])), 0 if points is None else len(points)


def compare_speed(cornea, detector, find_points, images, folder, repeat):
    rows = []
    for name, image in images.items():
        file = folder / "speed.png"
        cv2.imwrite(str(file), image)
        opencv_ms, opencv_points = time_opencv(find_points, image, repeat)
        bench = json.loads(run(cornea, "bench", "--image", file, "--device", "cpu", "--threads",
                               cv2.getNumThreads(), "--repeat", repeat, "--batch", 1, "--detector",
                               detector, "--json", "-"))
        result = bench["results"][0]
        ms = result["milliseconds"]["median"]
        rows.append({"image": name, "width": image.shape[1], "height": image.shape[0],
                     "opencv_ms": opencv_ms, "opencv_points": opencv_points, "cornea_ms": ms,
                     "cornea_points": result["points"], "ratio": ms / opencv_ms})
    return rows


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    lscpu = subprocess.run(["lscpu"], capture_output=True, text=True).stdout
    for line in lscpu.splitlines():
        if line.startswith("Model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def gray_images(cornea, sizes, photos, folder):
    """{name: pixels}: a synthetic street at each size, then the photographs."""
    images = {}
    for width, height in sizes:
        run(cornea, "scene", "-o", folder, "--kind", "boxes", "--views", 1, "--width", width, "--height",
            height, "--samples", 2, "--noise", 3, "--quiet")
        images[f"scene {width}x{height}"] = cv2.imread(str(folder / "view_000.png"), 0)
    for photo in photos:
        images[Path(photo).name] = cv2.imread(photo, 0)
    return images


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cornea", default="build/cpu/cornea")
    parser.add_argument("--image", nargs="*", default=[], help="photographs, in addition to the synthetic scenes")
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--json")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenes = gray_images(options.cornea, SIZES, options.image, folder)
        noise = np.random.default_rng(1).integers(0, 256, (301, 403), dtype=np.uint8)
        agreement = check_responses(options.cornea, {"noise 403x301": noise, **scenes}, folder)
        speed = compare_speed(options.cornea, "harris", harris_points, scenes, folder, options.repeat)
        foagdd = compare_speed(options.cornea, "foagdd", sift_points, scenes, folder,
                               max(5, options.repeat // 4))

    worst = max(agreement, key=lambda row: row["error"])
    print(f"Harris and Shi-Tomasi against OpenCV {cv2.__version__}: {len(agreement)} maps, largest "
          f"difference {worst['error']:.1e} of the largest response ({worst['measure']}, window "
          f"{worst['window']}, {worst['image']})")
    for title, rows in (("Harris corners", speed), ("FOAGDD corners beside OpenCV's SIFT", foagdd)):
        print(f"\n{title} on {processor()}, {cv2.getNumThreads()} threads\n")
        print(f"{'image':22} {'OpenCV':>10} {'points':>8} {'Cornea':>10} {'points':>8} {'ratio':>6}")
        for row in rows:
            print(f"{row['image']:22} {row['opencv_ms']:7.2f} ms {row['opencv_points']:8} "
                  f"{row['cornea_ms']:7.2f} ms {row['cornea_points']:8} {row['ratio']:6.2f}")
    if options.json:
        Path(options.json).write_text(json.dumps(
            {"processor": processor(), "threads": cv2.getNumThreads(), "opencv": cv2.__version__,
             "commit": options.commit, "repeat": options.repeat, "tolerance": TOLERANCE,
             "agreement": agreement, "speed": speed, "foagdd_beside_sift": foagdd}, indent=2) + "\n")
    return 0 if worst["error"] <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
