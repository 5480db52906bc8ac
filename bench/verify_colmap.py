# SPDX-License-Identifier: Apache-2.0
"""Compares `cornea verify` with COLMAP's geometric verification on the same features and matches of the fountain, and
reconstructs from both with COLMAP's incremental mapper (pycolmap from PyPI).

  python3 bench/verify_colmap.py --cornea build/cpu/cornea [--data FOLDER] [--commit HASH] [--json out.json]

COLMAP's verification differs from run to run (its random numbers depend on the threads), so that it runs five times:
the agreement is the median of them, and how far its runs agree with each other is reported beside it; the differences
and the reconstruction are those of the first run.

Two sets of cameras: the true ones, and a guess as from EXIF, a focal length of 1.2 times the width. For each, features
and matches are Cornea's; `cornea verify` writes the two-view geometries of one copy of the database and
pycolmap.verify_matches those of another. Reported: the configurations (calibrated, uncalibrated, planar ..) of all
pairs, how many agree, and of both reconstructions the registered images, the mean reprojection error and the error of
the camera centres, as in compare_colmap.py.

Exits with 1 if Cornea's database does not register all images or fewer than 50 of the 55 configurations agree, and
with 77 (skipped) if pycolmap, NumPy or the photographs are missing.
"""
import argparse
import collections
import itertools
import json
import platform
import shutil
import sqlite3
import statistics
import sys
import tempfile
from pathlib import Path

from compare_colmap import centre_error, photographs, run

NAMES = {0: "undefined", 1: "degenerate", 2: "calibrated", 3: "uncalibrated", 4: "planar", 5: "panoramic",
         6: "planar or panoramic", 7: "watermark", 8: "multiple"}
MOST = 2147483647  # pair_id = first * MOST + second
AGREE, RUNS = 50, 5


def geometries(database):
    """Configuration and number of inliers by pair of image ids."""
    with sqlite3.connect(database) as rows:
        return {divmod(pair, MOST): (NAMES[config], count) for pair, config, count in
                rows.execute("SELECT pair_id, config, rows FROM two_view_geometries ORDER BY pair_id")}


def verify_by_colmap(pycolmap, database, pairs):
    with sqlite3.connect(database) as rows:
        rows.execute("DELETE FROM two_view_geometries")
        names = dict(rows.execute("SELECT image_id, name FROM images"))
        matched = [divmod(pair, MOST) for pair, in rows.execute("SELECT pair_id FROM matches WHERE rows > 0")]
    pairs.write_text("".join(f"{names[a]} {names[b]}\n" for a, b in matched))
    options = pycolmap.TwoViewGeometryOptions()
    options.compute_relative_pose = True  # tells planes from pure rotations, as Cornea does
    pycolmap.set_random_seed(0)
    pycolmap.verify_matches(database, pairs, options=options)


def reconstruct(pycolmap, database, images, folder, cameras):
    pycolmap.set_random_seed(0)
    models = pycolmap.incremental_mapping(database, images, folder)
    if not models:
        return {"registered": 0}
    model = max(models.values(), key=lambda m: m.num_reg_images())
    centres = {image.name: image.projection_center() for image in model.images.values() if image.has_pose}
    return {"registered": model.num_reg_images(), "points": model.num_points3D(),
            "reprojection_px": model.compute_mean_reprojection_error(),
            "centre_error": centre_error(centres, cameras)}


def compare(pycolmap, cornea, images, cameras, parameters, folder):
    database, theirs = folder / "cornea.db", folder / "colmap.db"
    camera = ["--cameras", "single", "--camera-model", "PINHOLE", "--camera-params", parameters]
    for step in (["extract", images, *camera], ["match-all"]):
        run(cornea, *step, "--db", database, "--device", "cpu", "--quiet")
    copies = [theirs, *(folder / f"colmap{k}.db" for k in range(1, RUNS))]
    for copy in copies:
        shutil.copy(database, copy)
    run(cornea, "verify", "--db", database, "--device", "cpu", "--quiet")
    a, none, runs = geometries(database), ("none", 0), []
    for copy in copies:
        verify_by_colmap(pycolmap, copy, folder / "pairs.txt")
        runs.append(geometries(copy))
    b = runs[0]
    differences = [{"pair": list(pair), "cornea": a.get(pair, none), "colmap": b.get(pair, none)}
                   for pair in sorted(a | b) if a.get(pair, none)[0] != b.get(pair, none)[0]]

    def agreement(one, other):
        return sum(one.get(pair, none)[0] == other.get(pair, none)[0] for pair in a.keys() | b.keys())

    agree = [agreement(a, run) for run in runs]
    result = {"camera": parameters, "pairs": len(a | b), "agree": statistics.median(agree), "agree_of_runs": agree,
              "colmap_with_itself": [agreement(*two) for two in itertools.combinations(runs, 2)],
              "differences": differences}
    for name, file, found in (("cornea", database, a), ("colmap", theirs, b)):
        # The mapper migrates the tables of a file that it opens.
        shutil.copy(file, folder / "copy.db")
        result[name] = {"configurations": dict(collections.Counter(config for config, _ in found.values())),
                        "inliers": sum(count for _, count in found.values()),
                        **reconstruct(pycolmap, folder / "copy.db", images, folder / name, cameras)}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cornea", default="build/cpu/cornea")
    parser.add_argument("--data", type=Path, default=photographs())
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--json")
    options = parser.parse_args()
    try:
        import numpy  # noqa: F401  (centre_error needs it)
        import pycolmap
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    if not (options.data / "cameras.json").exists():
        print(f"skipped: no photographs in {options.data}")
        return 77
    cameras = json.loads((options.data / "cameras.json").read_text())
    first = cameras[min(cameras)]
    k = first["K"]
    guess = 1.2 * max(first["width"], first["height"])
    sets = {"true": f"{k[0][0]},{k[1][1]},{k[0][2]},{k[1][2]}", "guess": f"{guess},{guess},{k[0][2]},{k[1][2]}"}
    results = {"commit": options.commit, "machine": platform.machine(), "against": f"pycolmap {pycolmap.__version__}"}
    for name, parameters in sets.items():
        with tempfile.TemporaryDirectory() as folder:
            results[name] = compare(pycolmap, options.cornea, options.data / "images", cameras, parameters,
                                    Path(folder))
    for name in sets:
        of = results[name]
        print(f"{name} cameras ({of['camera']}): {of['agree']} of {of['pairs']} configurations agree (per run "
              f"{of['agree_of_runs']}; COLMAP's runs with each other {of['colmap_with_itself']})")
        for row in of["differences"]:
            print(f"  {row['pair']}: cornea {row['cornea']}, COLMAP {row['colmap']}")
        for program in ("cornea", "colmap"):
            print(f"  {program}: {of[program]}")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    images = len(list((options.data / "images").iterdir()))
    good = all(results[name]["cornea"]["registered"] == images and results[name]["agree"] >= AGREE for name in sets)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
