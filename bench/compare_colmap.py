# SPDX-License-Identifier: Apache-2.0
"""Compares Cornea's extract, match-all and verify with COLMAP's extractor and matcher, in one run on this CPU: is the
reconstruction as good, and how much faster is it to get there?

  python3 bench/compare_colmap.py --cornea build/cpu/cornea [--data FOLDER] [--json out.json] [--keep DIR]
      [--colmap "COMMAND"] [--extract="--affine-shape --edge-ratio 8"]

COMMAND is `colmap`, 3.8 or newer, or a command that runs it, such as "chroot DIR colmap" if DIR has the same
paths. FOLDER (by default data/fountain_p11 in CORNEA_DATA) holds images/ and cameras.json, which has
R_cam_from_world and t_cam_from_world of each image. Both databases go through the same `colmap mapper`. Camera
centres are compared with the true ones after the best similarity transform; their error is relative to the size of
the true path (root mean square distance from its centroid). --extract gives options to `cornea extract`; descriptors
are then not compared with COLMAP's.

Exits with 1 if Cornea's database does not register all images, if its reprojection error or its centre error
exceeds 1.1 times COLMAP's, if features that both found have different descriptors, if it took more than half of
COLMAP's time, by the clock or by processor time (which other load affects less), or if the photographs are missing
and CORNEA_REQUIRE_DATA=1 requires them. Exits with 77 (skipped) if colmap, NumPy or, without that variable, the
photographs are missing.
"""
import argparse
import json
import os
import platform
import re
import resource
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORSE = 1.1   # maximum ratio of both errors to COLMAP's
TIME = 0.5    # maximum time as a fraction of COLMAP's
ALIKE = 100   # maximum distance between the descriptors of one feature in both databases


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(*command):
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen")
    begin = time.perf_counter()
    done = subprocess.run([str(c) for c in command], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\nfailed with {done.returncode}")
    return time.perf_counter() - begin, done.stdout


class Colmap:
    def __init__(self, command):
        self.command = shlex.split(command)
        found = re.search(r"COLMAP (\d+)[.\d]*", self("help")[1])
        self.version = found.group(0)
        self.kind = "Sift" if int(found.group(1)) < 4 else "Feature"  # prefix of the GPU options

    def __call__(self, *arguments):
        return run(*self.command, *arguments)

    def fill(self, images, database):
        """Seconds of each step."""
        return {"extract": self("feature_extractor", "--database_path", database, "--image_path", images,
                                f"--{self.kind}Extraction.use_gpu", 0)[0],
                "match and verify": self("exhaustive_matcher", "--database_path", database,
                                         f"--{self.kind}Matching.use_gpu", 0)[0]}


def by_cornea(cornea, images, database, device, extract):
    steps = {"extract": ("extract", images, *extract), "match": ("match-all",), "verify": ("verify",)}
    return {name: run(cornea, *command, "--db", database, "--device", device, "--quiet")[0]
            for name, command in steps.items()}


def centres(model):
    """Camera centres by image name, from a COLMAP model in text."""
    import numpy as np
    found = {}
    lines = [line for line in (model / "images.txt").read_text().splitlines() if not line.startswith("#")]
    for line in lines[::2]:
        part = line.split(maxsplit=9)
        w, x, y, z = map(float, part[1:5])
        rotation = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                             [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                             [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
        found[part[9]] = -rotation.T @ np.array(list(map(float, part[5:8])))
    return found


def centre_error(found, cameras):
    """Root mean square distance to the true centres after the best similarity transform (Umeyama 1991), divided by
    the root mean square distance of the true centres from their centroid."""
    import numpy as np
    names = sorted(found)
    a = np.array([found[n] for n in names])
    b = np.array([-np.array(cameras[n]["R_cam_from_world"]).T @ np.array(cameras[n]["t_cam_from_world"])
                  for n in names])
    a, b = a - a.mean(0), b - b.mean(0)
    u, s, v = np.linalg.svd(b.T @ a)
    sign = np.diag([1, 1, np.sign(np.linalg.det(u @ v))])
    aligned = (a @ (u @ sign @ v).T) * (s @ np.diag(sign)) / (a ** 2).sum()
    return float(np.sqrt(((aligned - b) ** 2).sum() / (b ** 2).sum()))


def features(database, image):
    """Keypoints, N x 6, and descriptors, N x 128, of the image of this name."""
    import numpy as np
    with sqlite3.connect(database) as rows:
        points, descriptors = rows.execute(
            "SELECT k.data, d.data FROM images JOIN keypoints k USING(image_id) JOIN descriptors d USING(image_id) "
            "WHERE name = ?", (image,)).fetchone()
    return (np.frombuffer(points, np.float32).reshape(-1, 6),
            np.frombuffer(descriptors, np.uint8).reshape(-1, 128).astype(int))


def descriptor_distance(first, second, image):
    """The median descriptor distance of the features that are equal in both databases within a tenth of a pixel, of
    the scale and of a radian."""
    import numpy as np
    (a, da), (b, db) = features(first, image), features(second, image)
    distances = []
    for k, d in zip(a, da):
        size = np.hypot(k[2], k[4])
        near = np.flatnonzero((np.abs(b[:, :2] - k[:2]) < 0.1).all(1) & (np.hypot(b[:, 2] - k[2], b[:, 4] - k[4])
                                                                           < 0.1 * size))
        if len(near):
            distances.append(np.sqrt(((db[near] - d) ** 2).sum(1)).min())
    return float(np.median(distances)) if len(distances) > 100 else float("inf")


def reconstruct(colmap, images, database, folder, cameras):
    folder.mkdir()
    seconds, _ = colmap("mapper", "--database_path", database, "--image_path", images, "--output_path", folder)
    models = [p for p in folder.iterdir() if p.is_dir()]
    if not models:
        return {"registered": 0, "points": 0, "track_length": 0, "reprojection_px": float("inf"),
                "centre_error": float("inf"), "mapper_seconds": seconds}
    best = {}
    for model in models:
        said = colmap("model_analyzer", "--path", model)[1]
        value = {k.strip(): v.strip() for k, v in
                 (line.rsplit("]", 1)[-1].split(":", 1) for line in said.splitlines() if ":" in line)}
        row = {"registered": int(value["Registered images"]), "points": int(value["Points"]),
               "track_length": float(value["Mean track length"]),
               "reprojection_px": float(value["Mean reprojection error"].rstrip("px")),
               "mapper_seconds": seconds}
        if row["registered"] > best.get("registered", 0):
            colmap("model_converter", "--input_path", model, "--output_path", model, "--output_type", "TXT")
            row["centre_error"] = centre_error(centres(model), cameras)
            best = row
    return best


def photographs():
    """The folder in which the tests look for them too."""
    named = os.environ.get("CORNEA_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parent.parent.parent / "shared"
    return folder / "data" / "fountain_p11"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cornea", default="build/cpu/cornea")
    parser.add_argument("--colmap", default="colmap")
    parser.add_argument("--data", type=Path, default=photographs())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--extract", default="", help="options of cornea extract")
    parser.add_argument("--json")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--any-time", action="store_true", help="compare only results with COLMAP's, not times")
    parser.add_argument("--keep", type=Path, help="leave databases and models there")
    options = parser.parse_args()
    if not (options.data / "cameras.json").is_file():
        if os.environ.get("CORNEA_REQUIRE_DATA") == "1":
            sys.exit(f"{options.data}/cameras.json is missing, and CORNEA_REQUIRE_DATA=1 requires it; "
                     "set CORNEA_DATA to the folder that holds it")
        print(f"skipped: this needs {options.data}/cameras.json")
        sys.exit(77)
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("skipped: this needs NumPy")
        sys.exit(77)
    if not shutil.which(shlex.split(options.colmap)[0]):
        print("skipped: this needs colmap")
        sys.exit(77)
    colmap = Colmap(options.colmap)
    images = options.data / "images"
    cameras = json.loads((options.data / "cameras.json").read_text())
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        result = {}
        for name, steps in (("colmap", lambda db: colmap.fill(images, db)),
                            ("cornea", lambda db: by_cornea(options.cornea, images, db, options.device,
                                                          shlex.split(options.extract)))):
            database = folder / f"{name}.db"
            before = cpu_seconds()
            seconds = steps(database)
            result[name] = {"seconds": seconds, "total_seconds": sum(seconds.values()),
                            "cpu_seconds": cpu_seconds() - before,
                            **reconstruct(colmap, images, database, folder / name, cameras)}
        alike = None if options.extract else descriptor_distance(folder / "colmap.db", folder / "cornea.db",
                                                                 sorted(cameras)[0])
    ours, theirs = result["cornea"], result["colmap"]
    missed = [sentence for sentence, bad in (
        (f"{ours['registered']} of {len(cameras)} images registered", ours["registered"] < len(cameras)),
        ("descriptors of the same features", alike is not None and alike > ALIKE),
        ("reprojection error", ours["reprojection_px"] > WORSE * theirs["reprojection_px"]),
        ("centre error", ours["centre_error"] > WORSE * theirs["centre_error"]),
        ("time", not options.any_time and ours["total_seconds"] > TIME * theirs["total_seconds"]),
        ("processor time", not options.any_time and ours["cpu_seconds"] > TIME * theirs["cpu_seconds"]))
        if bad]
    print(f"{'':28}{colmap.version:>14}{'Cornea':>12}{'ratio':>9}")
    for label, key, digits in (("seconds to the mapper", "total_seconds", 2),
                               ("CPU seconds to the mapper", "cpu_seconds", 2), ("registered images", "registered", 0),
                               ("points", "points", 0), ("mean track length", "track_length", 2),
                               ("reprojection error, px", "reprojection_px", 4),
                               ("centre error", "centre_error", 6), ("seconds of the mapper", "mapper_seconds", 2)):
        ratio = ours[key] / theirs[key] if theirs[key] else float("nan")
        print(f"{label:28}{theirs[key]:14.{digits}f}{ours[key]:12.{digits}f}{ratio:9.3f}")
    if alike is not None:
        print(f"descriptors of the same features are {alike:.0f} apart, the median; their length is 512")
    print("COLMAP:", ", ".join(f"{k} {v:.2f} s" for k, v in theirs["seconds"].items()))
    print("Cornea:", ", ".join(f"{k} {v:.2f} s" for k, v in ours["seconds"].items()))
    if missed:
        print("missed:", ", ".join(missed))
    if options.json:
        Path(options.json).write_text(json.dumps({"machine": f"{os.cpu_count()} CPUs, {platform.machine()}",
                                                  "commit": options.commit,
                                                  "device": options.device, "against": colmap.version,
                                                  "extract": options.extract, "images": len(cameras),
                                                  "descriptor_distance": alike, "missed": missed, **result}, indent=1) + "\n")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
