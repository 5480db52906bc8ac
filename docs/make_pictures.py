"""Draws the pictures of docs/foagdd.md that are not made by the program itself.

  python3 docs/make_pictures.py          (needs NumPy and opencv-python)

The filters come from their definition, the plot from the figures in bench/results.
"""
import json
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
    """A row a scale, a column a direction; blue is negative, orange positive, each scale by itself.
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


def draw_cost(path, series):
    """Time against size, both logarithmic; a straight line of slope one is linear cost."""
    width, height, left, top, right, bottom = 760, 420, 78, 24, 150, 56
    x_range, y_range = (0.2, 45), (0.1, 5000)

    def place(megapixels, ms):
        fx = np.log(megapixels / x_range[0]) / np.log(x_range[1] / x_range[0])
        fy = np.log(ms / y_range[0]) / np.log(y_range[1] / y_range[0])
        return left + fx * (width - left - right), height - bottom - fy * (height - top - bottom)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'font-family="sans-serif" font-size="14" fill="{INK}">',
           f'<rect width="{width}" height="{height}" fill="{PAPER}"/>']
    for ms in (0.1, 1, 10, 100, 1000):
        x, y = place(x_range[0], ms)
        out.append(f'<path d="M{x:.1f} {y:.1f}H{width - right}" stroke="#d0d7de"/>'
                   f'<text x="{x - 8:.1f}" y="{y + 5:.1f}" text-anchor="end">{ms:g}</text>')
    for megapixels in (0.25, 0.5, 1, 2, 4, 8, 16, 33):
        x, y = place(megapixels, y_range[0])
        out.append(f'<path d="M{x:.1f} {y:.1f}V{top}" stroke="#eaeef2"/>'
                   f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="middle">{megapixels:g}</text>')
    middle = left + (width - left - right) / 2
    out.append(f'<text x="{middle}" y="{height - 12}" text-anchor="middle">megapixels</text>'
               f'<text transform="translate(20 {height / 2}) rotate(-90)" text-anchor="middle">'
               "milliseconds</text>")
    for label, colour, points in series:
        # Linear cost through the largest image, for the eye.
        megapixels, ms = points[-1]
        start = max(points[0][0], megapixels * y_range[0] / ms)
        x1, y1 = place(start, ms * start / megapixels)
        x2, y2 = place(megapixels, ms)
        out.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" '
                   'stroke-dasharray="4 5" opacity="0.6"/>')
        dots = [place(*p) for p in points]
        out.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in dots)}" fill="none" '
                   f'stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in dots]
        x, y = dots[-1]
        lines = label.split("\n")
        out += [f'<text x="{x + 12:.1f}" y="{y + 5 + 18 * i:.1f}" fill="{colour}">{line}</text>'
                for i, line in enumerate(lines)]
    out.append("</svg>\n")
    path.write_text("\n".join(out))


draw_filters(IMAGES / "foagdd-filters.png")
draw_cost(IMAGES / "foagdd-cost.svg",
          [("2 cores,\nNeoverse V1", "#0072b2", read_sizes("neoverse-v1-foagdd-sizes.json")),
           ("NVIDIA H200", "#d55e00", read_sizes("h200-foagdd-sizes.json"))])
