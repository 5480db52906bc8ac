# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/foagdd.md, docs/filters.md and docs/sift.md that are not made by the program
alone.

  python3 docs/make_pictures.py [build/cpu/cornea]      (needs NumPy and opencv-python)

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
INK, PAPER = "#24292f", "#ffffff"


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


def draw_cost(path, series, x_label, x_ticks, y_ticks):
    """Time against size or sigma, both logarithmic; series are (label, colour, points, dashed slope)."""
    width, height, left, top, right, bottom = 760, 420, 78, 24, 150, 56
    x_range, y_range = (x_ticks[0] * 0.8, x_ticks[-1] * 1.35), (y_ticks[0], y_ticks[-1] * 4)

    def place(x, ms):
        fx = np.log(x / x_range[0]) / np.log(x_range[1] / x_range[0])
        fy = np.log(ms / y_range[0]) / np.log(y_range[1] / y_range[0])
        return left + fx * (width - left - right), height - bottom - fy * (height - top - bottom)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'font-family="sans-serif" font-size="14" fill="{INK}">',
           f'<rect width="{width}" height="{height}" fill="{PAPER}"/>']
    for ms in y_ticks:
        x, y = place(x_range[0], ms)
        out.append(f'<path d="M{x:.1f} {y:.1f}H{width - right}" stroke="#d0d7de"/>'
                   f'<text x="{x - 8:.1f}" y="{y + 5:.1f}" text-anchor="end">{ms:g}</text>')
    for tick in x_ticks:
        x, y = place(tick, y_range[0])
        out.append(f'<path d="M{x:.1f} {y:.1f}V{top}" stroke="#eaeef2"/>'
                   f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="middle">{tick:g}</text>')
    middle = left + (width - left - right) / 2
    out.append(f'<text x="{middle}" y="{height - 12}" text-anchor="middle">{x_label}</text>'
               f'<text transform="translate(20 {height / 2}) rotate(-90)" text-anchor="middle">'
               "milliseconds</text>")
    ends = []
    for label, colour, points, slope in series:
        if slope:  # cost that grows with this power, through the last point, for the eye
            x_last, ms = points[-1]
            start = max(points[0][0], x_last * (y_range[0] / ms) ** (1 / slope))
            x1, y1 = place(start, ms * (start / x_last) ** slope)
            x2, y2 = place(x_last, ms)
            out.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" '
                       'stroke-dasharray="4 5" opacity="0.6"/>')
        dots = [place(*p) for p in points]
        out.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in dots)}" fill="none" '
                   f'stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in dots]
        ends.append((*dots[-1][::-1], label.split("\n"), colour))
    # Labels at the ends of their lines, moved down where they would meet.
    lowest = 0
    for y, x, lines, colour in sorted(ends):
        y = max(y + 5, lowest)
        lowest = y + 18 * len(lines)
        out += [f'<text x="{x + 12:.1f}" y="{y + 18 * i:.1f}" fill="{colour}">{line}</text>'
                for i, line in enumerate(lines)]
    out.append("</svg>\n")
    path.write_text("\n".join(out))


def read_filters(name, x_of):
    """{filter: [(x, ms)]}; on a GPU of calls that follow each other."""
    points = {}
    for r in json.loads((ROOT / "bench" / "results" / name).read_text())["filters"]:
        ms = r.get("milliseconds_queued", r["milliseconds"]["median"])
        points.setdefault(r["filter"], []).append((x_of(r), ms))
    return {name: sorted(p) for name, p in points.items()}


def draw_filter_costs():
    colours = {"gaussian": "#009e73", "bilateral": "#d55e00", "trilateral": "#0072b2"}
    for device, label in (("h200", "H200"), ("xeon", "2 cores")):
        megapixels = read_filters(f"{device}-filters-sizes.json", lambda r: r["width"] * r["height"] / 1e6)
        sigmas = read_filters(f"{device}-filters-sigmas.json", lambda r: float(r["settings"]["sigma"]))
        gpu = device == "h200"
        y_ticks = (0.01, 0.1, 1, 10) if gpu else (0.1, 1, 10, 100, 1000)
        draw_cost(IMAGES / f"filters-size-{device}.svg",
                  [(f"{f}", colours[f], p, 1) for f, p in megapixels.items()], "megapixels",
                  (0.25, 0.5, 1, 2, 4, 8, 16, 33) if gpu else (0.25, 0.5, 1, 2, 4, 8), y_ticks)
        draw_cost(IMAGES / f"filters-sigma-{device}.svg",
                  [(f"{f}", colours[f], p, 0) for f, p in sigmas.items()], "sigma, pixels",
                  (1, 2, 4, 8, 16), y_ticks)


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


CORNEA = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "cpu" / "cornea"
draw_filters(IMAGES / "foagdd-filters.png")
draw_cost(IMAGES / "foagdd-cost.svg",
          [("2 cores,\nXeon", "#0072b2", read_sizes("xeon-foagdd-sizes.json"), 1),
           ("NVIDIA H200", "#d55e00", read_sizes("h200-foagdd-sizes.json"), 1)],
          "megapixels", (0.25, 0.5, 1, 2, 4, 8, 16, 33), (0.1, 1, 10, 100, 1000))
draw_filter_costs()
draw_filtered(CORNEA, IMAGES / "filters.jpg")
draw_scale_spaces(CORNEA, IMAGES / "scale-spaces.jpg")
