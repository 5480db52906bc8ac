# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/foagdd.md, docs/filters.md and docs/sift.md that are not made by the program
alone.

  python3 docs/make_pictures.py [build/cpu/cornea]      (needs NumPy and opencv-python)
  python3 docs/make_pictures.py plots                   the plots alone

The filters of FOAGDD come from their definition, the plots from the figures in bench/results, the
filtered pictures from the program.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "bench"))
from plots import curves  # noqa: E402


def kernel(scale, direction, rho=1.5, directions=8, reach=15):
    x, y = np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1), indexing="ij")
    t = direction * np.pi / directions
    u, v = x * np.cos(t) + y * np.sin(t), -x * np.sin(t) + y * np.cos(t)
    return -rho * u / (2 * np.pi * scale**2) * np.exp(-(rho * u**2 + v**2 / rho) / (2 * scale))


def draw_filters(path, scales=(1.5, 3, 4.5), reach=11, zoom=5, gap=8):
    """One row per scale, one column per direction; blue is negative, orange positive, each scale by itself.
    The lattice reaches further, where there is nothing to see."""
    orange, blue = np.array([213, 94, 0.0]), np.array([0, 114, 178.0])
    rows = []
    for scale in scales:
        row = []
        for direction in range(8):
            k = kernel(scale, direction, reach=reach) / np.abs(kernel(scale, 0)).max()
            weight = np.where(np.abs(k) > 1e-3, np.abs(k), 0)[..., None] ** 0.7
            tint = np.where((k > 0)[..., None], orange, blue)
            tile = 255 * (1 - weight) + tint * weight
            row.append(cv2.resize(tile, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_NEAREST))
        tiles = [np.pad(t, ((gap, gap), (gap, gap), (0, 0)), constant_values=255) for t in row]
        rows.append(np.concatenate(tiles, 1))
    picture = np.concatenate(rows, 0)
    cv2.imwrite(str(path), np.clip(picture[..., ::-1], 0, 255).astype(np.uint8))


def read_sizes(name):
    results = json.loads((ROOT / "bench" / "results" / name).read_text())["results"]
    return [(r["width"] * r["height"] / 1e6, r["milliseconds"]["median"]) for r in results]


def read_filters(name, x_of):
    """{filter: [(x, ms)]}; on a GPU of calls that follow each other."""
    points = {}
    for r in json.loads((ROOT / "bench" / "results" / name).read_text())["filters"]:
        ms = r.get("milliseconds_queued", r["milliseconds"]["median"])
        points.setdefault(r["filter"], []).append((x_of(r), ms))
    return {name: sorted(p) for name, p in points.items()}


DEVICES = {"h200": "NVIDIA H200", "xeon": "two cores of a Xeon"}


def draw_costs():
    megapixels, milliseconds = "megapixels", "time (ms)"
    curves(IMAGES / "foagdd-cost.svg", "FOAGDD by image size",
           {DEVICES[device]: read_sizes(f"{device}-foagdd-sizes.json") for device in ("xeon", "h200")},
           (megapixels, (0.25, 0.5, 1, 2, 4, 8, 16, 33)), (milliseconds, (0.1, 1, 10, 100, 1000)),
           "8-bit generated images, host to host; medians. Dotted: proportional to the number of pixels.", slope=1)
    for device, name in DEVICES.items():
        sizes = read_filters(f"{device}-filters-sizes.json", lambda r: r["width"] * r["height"] / 1e6)
        sigmas = read_filters(f"{device}-filters-sigmas.json", lambda r: float(r["settings"]["sigma"]))
        gpu = device == "h200"
        y_axis = milliseconds, (0.01, 0.1, 1, 10) if gpu else (0.1, 1, 10, 100, 1000)
        calls = "consecutive calls on images on the GPU" if gpu else "medians"
        curves(IMAGES / f"filters-size-{device}.svg", f"Filters by image size ({name})", sizes,
               (megapixels, (0.25, 0.5, 1, 2, 4, 8, 16, 33) if gpu else (0.25, 0.5, 1, 2, 4, 8)), y_axis,
               f"Sigma 4; {calls}. Dotted: proportional to the number of pixels.", slope=1)
        curves(IMAGES / f"filters-sigma-{device}.svg", f"Filters by sigma ({name})", sigmas,
               ("sigma (pixels)", (1, 2, 4, 8, 16)), y_axis, f"{1024 if gpu else 512} x {1024 if gpu else 512} pixels; {calls}.")


def labelled(label, panel, width, height):
    """A panel of that size under its label."""
    panel = cv2.resize(panel, (width, height), interpolation=cv2.INTER_AREA)
    strip = np.full((28, width, *panel.shape[2:]), 255, np.uint8)
    cv2.putText(strip, label, (4, 19), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (40, 40, 40), 1, cv2.LINE_AA)
    pad = ((2, 6), (4, 4)) + ((0, 0),) * (panel.ndim - 2)
    return np.pad(np.vstack([strip, panel]), pad, constant_values=255)


def runner(cornea):
    def run(*command):
        subprocess.run([str(c) for c in (cornea, *command, "--device", "cpu", "--quiet")], check=True)
    return run


def draw_filtered(cornea, path):
    """Input, Gaussian, bilateral; trilateral, its levels, what it took away."""
    run = runner(cornea)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("scene", "-o", folder, "--kind", "boxes", "--views", 1, "--width", 640, "--height", 480,
            "--samples", 4, "--noise", 6)
        source = folder / "view_000.png"
        run("filter", source, "-o", folder / "g.png", "--filter", "gaussian", "--sigma", 4)
        run("filter", source, "-o", folder / "b.png", "--filter", "bilateral", "--sigma-range", 25)
        run("filter", source, "-o", folder / "t.png", "--levels", folder / "l.png")
        image, g, b, t, levels = (cv2.imread(str(folder / f), 0)
                                  for f in ("view_000.png", "g.png", "b.png", "t.png", "l.png"))
    taken = np.clip(128 + 4 * (image.astype(int) - t), 0, 255).astype(np.uint8)
    panels = []
    for label, panel in (("input, noise 6", image), ("Gaussian, sigma 4", g),
                         ("bilateral, sigma 4, range 25", b), ("trilateral, sigma 4", t),
                         ("levels, wide is bright", levels), ("input - trilateral, times 4", taken)):
        panels.append(labelled(label, panel, 480, 360))
    picture = np.vstack([np.hstack(panels[:3]), np.hstack(panels[3:])])
    cv2.imwrite(str(path), picture, [cv2.IMWRITE_JPEG_QUALITY, 88])


def read_pfm(path):
    with open(path, "rb") as f:
        f.readline()
        width, height = map(int, f.readline().split())
        scale = float(f.readline())
        return np.frombuffer(f.read(), "<f4" if scale < 0 else ">f4").reshape(height, width)[::-1]


def draw_scale_spaces(cornea, path, sigma=1.6, intervals=3, blur=0.5):
    """One row per scale space: three levels of the first octave, a difference, and the points. The levels are
    what the filters give one after the other with Lowe's increments."""
    run = runner(cornea)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("scene", "-o", folder, "--kind", "boxes", "--views", 1, "--width", 640, "--height", 480,
            "--samples", 4, "--noise", 2)
        source = folder / "view_000.png"
        for space, flags in (("gaussian", ()), ("bilateral", ("--sigma-range", 20)), ("trilateral", ())):
            levels, before = [], source
            for level in range(intervals + 3):
                step = 2 ** (1 / intervals)
                increment = (np.sqrt(sigma**2 - blur**2) if level == 0
                             else sigma * step ** (level - 1) * np.sqrt(step**2 - 1))
                out = folder / f"{level}.pfm"
                run("filter", before, "-o", out, "--filter", space, "--sigma", f"{increment:.6f}", *flags)
                image = read_pfm(out)
                if level == 0:  # of an 8-bit image: gray levels; levels go on in 0..1
                    image = image / 255
                    with open(out, "wb") as f:
                        f.write(b"Pf\n%d %d\n-1\n" % image.shape[::-1] + image[::-1].astype("<f4").tobytes())
                levels.append(image)
                before = out
            run("detect", source, "--detector", "sift", "--scale-space", space, "--no-doubled", "--contrast",
                0.04 if space == "gaussian" else 0.02, "--max-points", 250, "--draw", folder / "points.png")
            difference = np.clip(128 + 6 * 255 * (levels[3] - levels[2]), 0, 255).astype(np.uint8)
            gray = [np.clip(255 * levels[i] + 0.5, 0, 255).astype(np.uint8) for i in (0, 3, 5)]
            panels = [(f"{space}: level 0", gray[0]), ("level 3", gray[1]), ("level 5", gray[2]),
                      ("level 3 - level 2, times 6", difference),
                      ("its points", cv2.imread(str(folder / "points.png")))]
            rows.append(np.hstack([labelled(label, panel if panel.ndim == 3 else cv2.merge([panel] * 3), 320, 240)
                                   for label, panel in panels]))
    cv2.imwrite(str(path), np.vstack(rows), [cv2.IMWRITE_JPEG_QUALITY, 86])


def main():
    draw_costs()
    if sys.argv[1:] == ["plots"]:
        return
    program = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "cpu" / "cornea"
    draw_filters(IMAGES / "foagdd-filters.png")
    draw_filtered(program, IMAGES / "filters.jpg")
    draw_scale_spaces(program, IMAGES / "scale-spaces.jpg")


if __name__ == "__main__":
    main()
