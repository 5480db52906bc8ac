#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the result files that `cornea bench` and `cornea study` give, all by one program at one commit.

  bench/record.py build/cuda/cornea --device cuda --prefix h200 --commit 1a2b3c4 [--out bench/results] [--only NAME ..]

A file holds the rows of one or several calls of `cornea bench`; each row says how often it was timed. For meaningful
times nothing else may run on the machine.
"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HD, SIZES = "1920x1080", "512x512,1024x1024,2048x1024,2048x2048,3840x2160,5760x3240,7680x4320"
SIGMAS = (1, 2, 4, 8, 16)


def detector(name, sizes, repeat, *words, **settings):
    return ["--detector", *name.split(), "--sizes", sizes, "--repeat", repeat, *words, *given_settings(settings)]


def image_filter(name, sizes, repeat, *words, **settings):
    return ["--filter", name, "--sizes", sizes, "--repeat", repeat, *words, *given_settings(settings)]


def given_settings(settings):
    return [word for name, value in settings.items() for word in ("--set", f"{name.replace('_', '-')}={value}")]


def filters(sizes, repeat, slow_repeat):
    return [image_filter("gaussian", sizes, repeat, sigma=1.6), image_filter("bilateral", sizes, slow_repeat, sigma=4),
            *(image_filter("trilateral", sizes, slow_repeat, sigma=4, grouping=g) for g in ("none", "sorted"))]


def filters_by_sigma(size, repeat):
    return [image_filter(name, size, repeat, "--tile", 512, sigma=s)
            for name in ("bilateral", "gaussian", "trilateral") for s in SIGMAS]


def sift_options(repeat):
    return [detector("sift", HD, repeat, "--batch", 1, **options)
            for options in ({}, {"affine_shape": "yes"}, {"domain_size_pooling": "yes"},
                            {"affine_shape": "yes", "domain_size_pooling": "yes"},
                            {"settle": "strict", "keep": "contrast", "root": "no"})]


CUDA = {
    **{f"corners-run{run}": [detector("moravec harris", f"640x480,{HD},3840x2160", 500)] for run in (1, 2)},
    **{f"foagdd-run{run}": [detector("foagdd", f"512x512,640x480,{HD},3840x2160", 300)] for run in (1, 2)},
    "foagdd-sizes": [detector("foagdd", SIZES, 40, "--tile", 512, "--batch", 1)],
    "filters": filters(f"640x640,{HD},3840x2160", 200, 100),
    "filters-sizes": [image_filter(name, SIZES, 20, "--tile", 512, sigma=4)
                      for name in ("bilateral", "gaussian", "trilateral")],
    "filters-sigmas": filters_by_sigma("1024x1024", 20),
    "sift": [*[detector("sift", HD, 300, "--tile", 1024, "--batch", 64, doubled="no")] * 2,
             detector("sift", HD, 300, "--tile", 256, "--batch", 64, doubled="no", contrast=0.01),
             detector("sift", HD, 300, "--tile", 256, doubled="no", contrast=0.01, max_points=5700),
             detector("sift", HD, 300, "--tile", 1024, "--batch", 64), detector("sift", HD, 300, "--batch", 64),
             detector("sift", "640x480,1280x960,3840x2160", 100, "--tile", 1024),
             detector("sift", "12000x9000", 3, "--tile", 1024, "--batch", 1),
             *(detector("sift", "640x640", 20, "--batch", 4, scale_space=s) for s in ("bilateral", "trilateral"))],
    "sift-options": sift_options(100),
    "match": [["--match", "16700x20700,9453x11285,5700x7400,2000x2000", "--repeat", 200]],
    "match-large": [["--match", "200000x200000", "--repeat", 3]],
    "two-view": [["--fundamental", "--repeat", 100]],
}
CPU = {
    "corners": [detector("moravec harris", f"640x480,1280x960,{HD},3840x2160", 30)],
    "foagdd": [detector("foagdd", f"640x480,1280x960,{HD}", 20, "--batch", 1)],
    "foagdd-sizes": [detector("foagdd", SIZES, 5, "--tile", 512, "--batch", 1)],
    "filters": filters(f"320x320,640x640,{HD}", 20, 5),
    "filters-sizes": [image_filter(name, "512x512,1024x1024,2048x1024,2048x2048,3840x2160", 3, "--tile", 512, sigma=4)
                      for name in ("bilateral", "gaussian", "trilateral")],
    "filters-sigmas": filters_by_sigma("512x512", 5),
    "sift": [detector("sift", f"640x480,1280x960,{HD},3840x2160", 10, "--batch", 2)],
    "sift-options": sift_options(10),
    "match": [["--match", "2000x2000,4954x7584,9453x11285", "--repeat", 15]],
    "two-view": [["--fundamental", "--repeat", 50]],
}
STUDIES = ("foagdd", "moravec", "ransac", "svd", "trilateral")


def run(words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}")
    return done.stdout


def bench(program, device, commit, calls):
    """The rows of all calls as one result."""
    merged = {}
    for words in calls:
        found = json.loads(run([program, "bench", *words, "--device", device, "--label", f"commit={commit}", "--json", "-",
                                "-q"]))
        timing = {key: found.pop(key) for key in ("repeat", "warm_up", "tile") if key in found}
        for key, rows in found.items():
            if isinstance(rows, list):
                merged.setdefault(key, []).extend({**timing, **row} for row in rows)
            elif merged.setdefault(key, rows) != rows:
                sys.exit(f"two calls differ in {key}: {merged[key]} and {rows}")
    merged["commands"] = ["cornea bench " + " ".join(map(str, words)) for words in calls]
    return merged


def study(given, name, file):
    with tempfile.TemporaryDirectory() as folder:
        run([given.program, "study", name, "--device", given.device, "--repeat", 20, "--label", f"commit={given.commit}",
             "-o", folder, "-q"])
        shutil.copyfile(Path(folder, "results.json"), file)
        for plot in Path(folder).glob("*.svg") if given.plots else ():
            shutil.copyfile(plot, given.plots / plot.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    parser.add_argument("--prefix", required=True, help="of the files' names: h200, xeon")
    parser.add_argument("--commit", required=True)
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "results")
    parser.add_argument("--plots", type=Path, help="where to copy the plots of the studies")
    parser.add_argument("--only", nargs="+", help="files without prefix, as sift-options or study-svd")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    files = CUDA if given.device == "cuda" else CPU
    known = [*files, *(f"study-{name}" for name in STUDIES)]
    for name in given.only or known:
        if name not in known:
            sys.exit(f"{name} is none of {', '.join(known)}")
        begin, file = time.monotonic(), given.out / f"{given.prefix}-{name}.json"
        if name in files:
            file.write_text(json.dumps(bench(given.program, given.device, given.commit, files[name]), indent=2) + "\n")
        else:
            study(given, name.removeprefix("study-"), file)
        print(f"{file.name}: {time.monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
