# SPDX-License-Identifier: Apache-2.0
"""Compares Cornea's filters with OpenCV's, in one run: do they agree, and which is faster on this CPU?

  python3 bench/compare_filters.py --cornea build/cpu/cornea [--image photo.jpg ...] [--json out.json]

Exits with 1 if the Gaussian differs by more than 1e-4 with the same kernel, or the bilateral filter by more than
the difference of the windows explains: OpenCV's is a disc, Cornea's a square. OpenCV also mirrors the image at its
border, where Cornea leaves neighbours out, and reads weights from a table.
"""
import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np

from compare_opencv import gray_images, processor, read_pfm, run

GAUSSIAN_TOLERANCE = 1e-4
TABLE_TOLERANCE = 2e-3  # gray levels: OpenCV's table of weights


def write_pfm(path, image):
    with open(path, "wb") as f:
        f.write(b"Pf\n%d %d\n-1\n" % (image.shape[1], image.shape[0]))
        f.write(np.ascontiguousarray(image[::-1], "<f4").tobytes())


def cornea_filter(cornea, file, out, *options):
    report = run(cornea, "filter", file, "-o", out, "--device", "cpu", "--threads",
                 cv2.getNumThreads(), "--json", "-", *options)
    return json.loads(report)["milliseconds"]


def check_gaussian(cornea, folder):
    rows = []
    rng = np.random.default_rng(1)
    for width, height in ((403, 301), (64, 200), (17, 5)):
        image = rng.random((height, width), np.float32)
        write_pfm(folder / "in.pfm", image)
        for sigma in (0.5, 1.0, 1.6, 3.2, 8.0):
            radius = int(np.ceil(4 * sigma))
            cornea_filter(cornea, folder / "in.pfm", folder / "out.pfm", "--filter", "gaussian",
                          "--sigma", sigma)
            expected = cv2.GaussianBlur(image, (2 * radius + 1, 2 * radius + 1), sigma)
            error = float(np.abs(read_pfm(folder / "out.pfm") - expected).max())
            rows.append({"width": width, "height": height, "sigma": sigma, "error": error})
    return rows


def exact_bilateral(image, sigma, sigma_range, radius, disc):
    """In double precision, excluding a border of `radius` pixels."""
    image = image.astype(np.float64)
    height, width = image.shape
    own = image[radius:height - radius, radius:width - radius]
    sums, weights = np.zeros_like(own), np.zeros_like(own)
    for n in range(-radius, radius + 1):
        for m in range(-radius, radius + 1):
            if disc and m * m + n * n > radius * radius:
                continue
            other = image[radius + n:height - radius + n, radius + m:width - radius + m]
            w = np.exp(-(m * m + n * n) / (2 * sigma**2) - (other - own)**2 / (2 * sigma_range**2))
            sums += w * other
            weights += w
    return sums / weights


def check_bilateral(cornea, images, folder, sigma=4, sigma_range=20):
    radius = 3 * sigma
    rows = []
    for name, image in images.items():
        image = image[:240, :320]
        cv2.imwrite(str(folder / "in.png"), image)
        cornea_filter(cornea, folder / "in.png", folder / "out.pfm", "--filter", "bilateral",
                      "--sigma", sigma, "--sigma-range", sigma_range)
        inside = np.s_[radius:-radius, radius:-radius]
        ours = read_pfm(folder / "out.pfm")[inside]
        theirs = cv2.bilateralFilter(image.astype(np.float32), 2 * radius + 1, sigma_range, sigma)[inside]
        square = exact_bilateral(image, sigma, sigma_range, radius, False)
        disc = exact_bilateral(image, sigma, sigma_range, radius, True)
        largest = lambda a, b: float(np.abs(a - b).max())
        rows.append({"image": name, "cornea_from_definition": largest(ours, square),
                     "opencv_from_disc": largest(theirs, disc), "square_from_disc": largest(square, disc),
                     "cornea_from_opencv": largest(ours, theirs)})
    return rows


def median_ms(call, repeat):
    times = []
    for _ in range(repeat + 1):
        begin = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - begin))
    return float(np.median(times[1:]))


def compare_speed(cornea, images, folder, repeat, sigma=4, sigma_range=20):
    rows = []
    for name, image in images.items():
        levels = image.astype(np.float32) / 255
        cv2.imwrite(str(folder / "in.png"), image)
        diameter = 2 * 3 * sigma + 1

        # The first call of a program, which includes allocating its memory.
        first_calls = [cornea_filter(cornea, folder / "in.png", folder / "out.png", "--filter",
                                     "bilateral", "--sigma", sigma, "--sigma-range", sigma_range)
                       for _ in range(repeat)]

        def float_to_float(name, *settings):
            report = run(cornea, "bench", "--device", "cpu", "--threads", cv2.getNumThreads(), "--image",
                         folder / "in.png", "--filter", name, "--set", *settings, "--repeat", repeat,
                         "--json", "-")
            return json.loads(report)["filters"][0]["milliseconds"]["median"]
        for work, opencv, cornea_ms in (
            ("bilateral, 8 bit", lambda: cv2.bilateralFilter(image, diameter, sigma_range, sigma),
             float(np.median(first_calls))),
            ("bilateral, float",
             lambda: cv2.bilateralFilter(levels, diameter, sigma_range / 255, sigma),
             float_to_float("bilateral", f"sigma={sigma}", f"sigma-range={sigma_range}")),
            ("gaussian, float", lambda: cv2.GaussianBlur(levels, (15, 15), 1.6),
             float_to_float("gaussian", "sigma=1.6")),
        ):
            opencv_ms = median_ms(opencv, repeat)
            rows.append({"work": work, "image": name, "width": image.shape[1],
                         "height": image.shape[0], "opencv_ms": opencv_ms, "cornea_ms": cornea_ms,
                         "ratio": cornea_ms / opencv_ms})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cornea", default="build/cpu/cornea")
    parser.add_argument("--image", nargs="*", default=[], help="photographs, in addition to the synthetic scene")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--json")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        images = gray_images(options.cornea, ((640, 480), (1920, 1080)), options.image, folder)
        gaussian = check_gaussian(options.cornea, folder)
        bilateral = check_bilateral(options.cornea, images, folder)
        speed = compare_speed(options.cornea, images, folder, options.repeat)

    worst = max(row["error"] for row in gaussian)
    print(f"Gaussian against OpenCV {cv2.__version__}: {len(gaussian)} images, largest difference {worst:.1e}")
    print("\nbilateral filter, sigma 4, range 20: largest differences in gray levels, off the border\n")
    print(f"{'image':22} {'Cornea, definition':>20} {'OpenCV, its disc':>18} {'square, disc':>13} "
          f"{'Cornea, OpenCV':>15}")
    for row in bilateral:
        print(f"{row['image']:22} {row['cornea_from_definition']:20.5f} {row['opencv_from_disc']:18.4f} "
              f"{row['square_from_disc']:13.4f} {row['cornea_from_opencv']:15.4f}")
    print(f"\non {processor()}, {cv2.getNumThreads()} threads\n")
    print(f"{'work':18} {'image':22} {'OpenCV':>10} {'Cornea':>10} {'ratio':>6}")
    for row in speed:
        print(f"{row['work']:18} {row['image']:22} {row['opencv_ms']:7.1f} ms {row['cornea_ms']:7.1f} ms "
              f"{row['ratio']:6.2f}")
    if options.json:
        Path(options.json).write_text(json.dumps(
            {"processor": processor(), "threads": cv2.getNumThreads(), "opencv": cv2.__version__,
             "commit": options.commit, "repeat": options.repeat, "gaussian": gaussian,
             "bilateral": bilateral, "speed": speed}, indent=2) + "\n")
    explained = all(row["cornea_from_definition"] <= 1e-3 and
                    row["cornea_from_opencv"] <= row["square_from_disc"] + TABLE_TOLERANCE
                    for row in bilateral)
    return 0 if worst <= GAUSSIAN_TOLERANCE and explained else 1


if __name__ == "__main__":
    sys.exit(main())
