#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many of the pairs that belong together are among the best of every image?

  python3 bench/retrieve.py collect PHOTOGRAPHS out/photographs --distractors 1000
  cornea extract out/photographs --db out/photographs.db
  python3 bench/retrieve.py pairs out/photographs.db out/pairs.txt
  cornea match-all --db out/photographs.db --pairs out/pairs.txt
  python3 bench/retrieve.py skip out/photographs.db && cornea verify --db out/photographs.db
  python3 bench/retrieve.py measure out/photographs.db --bench build/cpu/cornea_retrieve_bench --json RESULT.json

  python3 bench/retrieve.py plot bench/results/h200-retrieve.json docs/images/retrieve-time.svg

`collect` copies the photographs of a folder (every image file in it) and generated distractors into one folder.
`pairs` lists the pairs whose truth is computed: photographs with photographs, photographs with distractors, and a
random sample of the half a million pairs of two distractors. `skip` marks as done the pairs that have fewer
matches than --inliers and so cannot have as many inliers. `measure` takes a COLMAP database whose pairs were
matched and verified; those with at least --inliers are the truth. Besides ASMK* (`cornea_retrieve_bench`) it
measures a bag of words of the same vocabulary (tf-idf and cosine), and VLAD of 64 words (signed square root, each
word and the whole normalised); with --colmap COMMAND (`colmap` 3.x, which has vocab_tree_builder and
vocab_tree_retriever) also a vocabulary tree of as many words, learned from the same descriptors and queried
without spatial verification. A pair counts as found if either image has the other among its best N, which is how
pairs are chosen. Needs NumPy; `collect` needs OpenCV too.
"""
import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from plots import curves

VLAD_WORDS = 64
IMAGE_ENDINGS = {".png", ".jpg", ".jpeg", ".ppm", ".pgm", ".bmp", ".tif", ".tiff"}


def distractor(seed, width=800, height=600):
    """Textured noise of several wavelengths with shapes and letters on it; no two seeds share any."""
    import cv2
    random = np.random.default_rng(seed)
    image = np.zeros((height, width), np.float32)
    for octave in range(3, 9):
        side = 2 ** octave
        coarse = random.normal(size=(height // side + 3, width // side + 3)).astype(np.float32)
        image += 2 ** (octave * random.uniform(0.2, 0.8)) * cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    image = cv2.normalize(image, None, 40, 215, cv2.NORM_MINMAX).astype(np.uint8)
    for _ in range(int(random.integers(40, 120))):
        centre = (int(random.integers(0, width)), int(random.integers(0, height)))
        gray, size = int(random.integers(0, 256)), int(random.integers(6, 60))
        kind = random.integers(0, 4)
        if kind == 0:
            cv2.ellipse(image, centre, (size, int(random.integers(4, 40))), float(random.uniform(0, 180)), 0, 360, gray, -1)
        elif kind == 1:
            points = np.array(centre) + random.integers(-size, size + 1, size=(int(random.integers(3, 7)), 2))
            cv2.fillPoly(image, [points.astype(np.int32)], gray)
        elif kind == 2:
            end = (centre[0] + int(random.integers(-90, 91)), centre[1] + int(random.integers(-90, 91)))
            cv2.line(image, centre, end, gray, int(random.integers(1, 6)), cv2.LINE_AA)
        else:
            word = "".join(chr(int(c)) for c in random.integers(65, 91, size=4))
            cv2.putText(image, word, centre, int(random.integers(0, 8)), float(random.uniform(0.5, 2)), gray, 2, cv2.LINE_AA)
    return np.clip(cv2.GaussianBlur(image, (0, 0), 0.8) + random.normal(0, 2, image.shape), 0, 255).astype(np.uint8)


def collect(options):
    import cv2
    out = Path(options.out)
    photographs = sorted(p for p in Path(options.data).rglob("*") if p.suffix.lower() in IMAGE_ENDINGS)
    for photograph in photographs:
        to = out / photograph.relative_to(options.data)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(photograph, to)
    (out / "distractors").mkdir(parents=True, exist_ok=True)
    for seed in range(options.distractors):
        cv2.imwrite(str(out / "distractors" / f"{seed:05}.jpg"), distractor(seed), [cv2.IMWRITE_JPEG_QUALITY, 92])
    print(f"{len(photographs)} photographs and {options.distractors} distractors in {out}")


class Collection:
    """Names and descriptors of all images, the largest scales of each if limited, and the verified pairs."""

    def __init__(self, file, inliers, most):
        database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        rows = database.execute("SELECT images.image_id, name, descriptors.rows, descriptors.data, keypoints.cols, "
                                "keypoints.data FROM images JOIN descriptors USING (image_id) "
                                "JOIN keypoints USING (image_id) ORDER BY name").fetchall()
        self.names, self.descriptors, place = [], [], {}
        for image, name, count, data, columns, points in rows:
            all_of_image = np.frombuffer(data or b"", np.uint8).reshape(count, 128)
            if most and count > most:
                shape = np.frombuffer(points, np.float32).reshape(count, columns)
                scale = np.hypot(shape[:, 2], shape[:, 4]) if columns == 6 else shape[:, 2]
                all_of_image = all_of_image[np.sort(np.argsort(-scale, kind="stable")[:most])]
            place[image] = len(self.names)
            self.names.append(name)
            self.descriptors.append(all_of_image)
        self.tried = database.execute("SELECT COUNT(*) FROM two_view_geometries").fetchone()[0]
        self.truth = set()
        for pair, in database.execute("SELECT pair_id FROM two_view_geometries WHERE rows >= ?", (inliers,)):
            a, b = pair // 2147483647, pair % 2147483647
            if a in place and b in place:
                self.truth.add((min(place[a], place[b]), max(place[a], place[b])))

    def write(self, file):
        with open(file, "wb") as out:
            out.write(np.int64(len(self.names)).tobytes())
            for name, descriptors in zip(self.names, self.descriptors):
                out.write(hashlib.sha256(name.encode()).digest()[:8] + np.int64(len(descriptors)).tobytes())
            for descriptors in self.descriptors:
                out.write(descriptors.tobytes())


def best_of(similarity, count):
    """Pairs in which one image has the other among its best, with a similarity above 0."""
    np.fill_diagonal(similarity, 0)
    pairs = set()
    for a, row in enumerate(similarity):
        for b in np.argsort(-row, kind="stable")[:count]:
            if row[b] > 0:
                pairs.add((min(a, int(b)), max(a, int(b))))
    return pairs


def words_of(file, collection):
    data = Path(file).read_bytes()
    words = int(np.frombuffer(data, np.int64, 1)[0])
    centroids = np.frombuffer(data, np.uint8, words * 128, 8).reshape(words, 128)
    all_words = np.frombuffer(data, np.uint32, -1, 8 + words * 128)
    ends = np.cumsum([len(d) for d in collection.descriptors])
    return centroids, np.split(all_words, ends[:-1])


def bag_of_words(file, collection):
    centroids, words = words_of(file, collection)
    histograms = np.array([np.bincount(w, minlength=len(centroids)) for w in words], np.float32)
    with_word = np.count_nonzero(histograms, axis=0)
    vectors = histograms * np.log(len(words) / np.maximum(with_word, 1)).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return vectors @ vectors.T


def vlad(file, collection):
    centroids, words = words_of(file, collection)
    vectors = np.zeros((len(words), len(centroids), 128), np.float32)
    for image, (descriptors, of_image) in enumerate(zip(collection.descriptors, words)):
        np.add.at(vectors[image], of_image, descriptors.astype(np.float32) - centroids[of_image])
    vectors = np.sign(vectors) * np.sqrt(np.abs(vectors))
    vectors /= np.maximum(np.linalg.norm(vectors, axis=2, keepdims=True), 1e-9)
    vectors = vectors.reshape(len(words), -1)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return vectors @ vectors.T


def vocabulary_tree(command, folder, collection, words, best):
    """Pairs by COLMAP's vocabulary tree of the collection, and the seconds of building and querying it."""
    subprocess.run([*command, "database_creator", "--database_path", folder / "colmap.db"], check=True, capture_output=True)
    database = sqlite3.connect(folder / "colmap.db")
    database.execute("INSERT INTO cameras VALUES (1, 0, 1000, 1000, ?, 0)", (np.array([1000, 500, 500], np.float64).tobytes(),))
    for place, descriptors in enumerate(collection.descriptors):
        # COLMAP 3.8 reads names up to a blank, so numbers are used. It needs points only for
        # spatial verification.
        points = np.zeros((len(descriptors), 6), np.float32)
        points[:, 2] = points[:, 5] = 1
        database.execute("INSERT INTO images(image_id, name, camera_id) VALUES (?, ?, 1)", (place + 1, f"{place}"))
        database.execute("INSERT INTO keypoints VALUES (?, ?, 6, ?)", (place + 1, len(points), points.tobytes()))
        database.execute("INSERT INTO descriptors VALUES (?, ?, 128, ?)", (place + 1, len(descriptors), descriptors.tobytes()))
    database.commit()
    database.close()

    def run(step, *more):
        # Runs without a window system.
        environment = dict(os.environ, QT_QPA_PLATFORM="offscreen")
        begin = time.perf_counter()
        said = subprocess.run([*command, step, "--database_path", folder / "colmap.db", "--vocab_tree_path", folder / "tree",
                               *map(str, more)], check=True, capture_output=True, text=True, env=environment)
        return time.perf_counter() - begin, said.stdout + said.stderr

    building, _ = run("vocab_tree_builder", "--num_visual_words", words)
    # The best image is the query itself.
    querying, said = run("vocab_tree_retriever", "--num_images", best + 1)
    pairs, query = set(), None
    for line in said.splitlines():
        if found := re.match(r"Querying for image (\S+) ", line.strip()):
            query = int(found[1])
        elif found := re.match(r"image_id=(\d+), ", line.strip()):
            other = int(found[1]) - 1
            if other != query:
                pairs.add((min(query, other), max(query, other)))
    return pairs, building, querying


def list_pairs(options):
    with sqlite3.connect(f"file:{options.database}?mode=ro", uri=True) as database:
        names = [name for name, in database.execute("SELECT name FROM images ORDER BY name")]
    distractors = [name for name in names if name.startswith("distractors/")]
    photographs = [name for name in names if not name.startswith("distractors/")]
    pairs = [(a, b) for i, a in enumerate(photographs) for b in photographs[i + 1:]]
    pairs += [(a, b) for a in photographs for b in distractors]
    random, sample = np.random.default_rng(options.seed), set()
    while len(sample) < min(options.sample, len(distractors) * (len(distractors) - 1) // 2):
        a, b = sorted(random.integers(0, len(distractors), 2))
        if a != b:
            sample.add((distractors[a], distractors[b]))
    pairs += sorted(sample)
    Path(options.out).write_text("".join(f"{a} {b}\n" for a, b in pairs))
    print(f"{len(pairs)} pairs of {len(photographs)} photographs and {len(distractors)} distractors in {options.out}")


def skip(options):
    with sqlite3.connect(options.database) as database:
        few = database.execute("INSERT OR IGNORE INTO two_view_geometries(pair_id, rows, cols, data, config) "
                               "SELECT pair_id, 0, 2, NULL, 1 FROM matches WHERE rows < ?", (options.inliers,)).rowcount
    print(f"{few} pairs have fewer than {options.inliers} matches")


def measure(options):
    collection = Collection(options.database, options.inliers, options.features)
    if not collection.truth:
        sys.exit(f"{options.database} has no pair with {options.inliers} inliers or more; match and verify it first")
    of_distractors = sum(collection.names[a].startswith("distractors/") or collection.names[b].startswith("distractors/")
                         for a, b in collection.truth)
    result = {"images": len(collection.names), "tried_pairs": collection.tried, "verified_with_distractors": of_distractors,
              "descriptors": sum(map(len, collection.descriptors)),
              "verified_pairs": len(collection.truth), "inliers": options.inliers, "features": options.features,
              "best": options.best, "commit": options.commit, "methods": {}}

    def entry(method, pairs, **more):
        found = pairs & collection.truth
        missed = sorted(collection.truth - pairs)
        result["methods"][method] = {"recall": len(found) / len(collection.truth), "pairs": len(pairs), **more,
                                     "missed": [[collection.names[a], collection.names[b]] for a, b in missed[:200]]}
        print(f"{method}: {len(found)} of {len(collection.truth)} verified pairs ({100 * len(found) / len(collection.truth):.2f}%) "
              f"are among the {len(pairs)} pairs of the best {options.best}")

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        collection.write(folder / "collection")

        def run(words, **flags):
            command = [options.bench, "--collection", folder / "collection", "--pairs", folder / "pairs.csv", "--assign",
                       folder / "words", "--words", words, "--neighbours", options.best, "--device", options.device]
            for flag, value in flags.items():
                command += ["--" + flag, value]
            said = json.loads(subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout)
            result.update(device=said["device"], threads=said["threads"])
            rows = np.loadtxt(folder / "pairs.csv", np.int64, delimiter=",", skiprows=1, ndmin=2)
            return said["results"][0], {(int(a), int(b)) for a, b, _ in rows}

        flags = dict(flag.split("=") for flag in options.set)
        report, pairs = run(options.words, **flags)
        entry("asmk*", pairs, words=report["words"], bytes_per_image=20 * report["entries"] / report["images"], report=report)
        entry("bag of words", best_of(bag_of_words(folder / "words", collection), options.best), words=report["words"],
              bytes_per_image=8 * report["entries"] / report["images"])
        run(VLAD_WORDS)
        entry("vlad", best_of(vlad(folder / "words", collection), options.best), words=VLAD_WORDS,
              bytes_per_image=2 * VLAD_WORDS * 128)
        if options.colmap:
            found, building, querying = vocabulary_tree(shlex.split(options.colmap), folder, collection, report["words"],
                                                        options.best)
            entry("vocabulary tree of COLMAP", found, words=report["words"], seconds_building=building,
                  seconds_querying=querying)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


def plot(options):
    """Milliseconds per image of every stage by the number of images."""
    report = json.loads(Path(options.result).read_text())
    rows = report["results"]
    series = {"all": [(row["images"], row["milliseconds_per_image"]) for row in rows]}
    for stage in rows[0]["stages"]:
        series[stage] = [(row["images"], row["stages"][stage] / row["images"]) for row in rows]
    curves(Path(options.out), f"Choosing pairs, by the number of images ({report['device'].split(' (')[0]})", series,
           ("images", [row["images"] for row in rows]), ("time per image (ms)", [0, 0.25, 0.5, 0.75, 1]),
           "1,000 descriptors per image; one run per number of images.", logarithmic_y=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("collect")
    command.add_argument("data")
    command.add_argument("out")
    command.add_argument("--distractors", type=int, default=1000)
    command.set_defaults(run=collect)
    command = commands.add_parser("plot")
    command.add_argument("result")
    command.add_argument("out")
    command.set_defaults(run=plot)
    command = commands.add_parser("pairs")
    command.add_argument("database")
    command.add_argument("out")
    command.add_argument("--sample", type=int, default=3000, help="pairs of two distractors")
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(run=list_pairs)
    command = commands.add_parser("skip")
    command.add_argument("database")
    command.add_argument("--inliers", type=int, default=30)
    command.set_defaults(run=skip)
    command = commands.add_parser("measure")
    command.add_argument("database")
    command.add_argument("--bench", default="build/cpu/cornea_retrieve_bench")
    command.add_argument("--inliers", type=int, default=30)
    command.add_argument("--best", type=int, default=10)
    command.add_argument("--features", type=int, default=0, help="per image, the largest scales; 0: all")
    command.add_argument("--words", type=int, default=0, help="0: the default of retrieve_pairs()")
    command.add_argument("--set", nargs="*", default=[], metavar="OPTION=VALUE", help="options of cornea_retrieve_bench, only for ASMK*")
    command.add_argument("--device", default="cpu")
    command.add_argument("--colmap", help="a command that starts COLMAP 3.x, to measure its vocabulary tree too")
    command.add_argument("--commit", default="unknown")
    command.add_argument("--json")
    command.set_defaults(run=measure)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
