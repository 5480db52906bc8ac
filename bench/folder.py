# SPDX-License-Identifier: Apache-2.0
"""Runs a large folder through extract, match-all and verify: how fast is it, how much of the time is decoding, and
does memory stay constant when the folder grows?

  python3 bench/folder.py --cornea build/cpu/cornea [--images 1000] [--device cpu] [--json out.json]

Makes a few views of a synthetic scene of one megapixel, as JPEG in colour if Pillow is installed and otherwise in
gray, and copies them under as many names. Half of them are processed first, then all. Exits with 1 if the peak
memory of a step for all images exceeds 1.1 times that for the half.
"""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VIEWS = 12


def run(*command):
    """Standard output, seconds, and peak memory in MB."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([str(c) for c in command], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"{' '.join(map(str, command))} failed with {os.waitstatus_to_exitcode(status)}")
        out.seek(0)
        return out.read(), time.perf_counter() - begin, usage.ru_maxrss / 1024


def make_views(cornea, folder):
    run(cornea, "scene", "-o", folder, "--views", VIEWS, "--width", 1152, "--height", 868, "--samples", 2, "-q")
    views = []
    try:
        from PIL import Image
    except ImportError:
        Image = None
    for png in sorted(folder.glob("*.png")):
        jpeg = png.with_suffix(".jpg")
        if Image:
            Image.open(png).convert("RGB").save(jpeg, quality=92)
        else:
            run(cornea, "filter", png, "-o", jpeg, "--filter", "gaussian", "--sigma", 0.3, "-q")
        views.append(jpeg)
    return views, "colour" if Image else "gray"


def steps(cornea, images, database, device, threads, overlap):
    common = ("--db", database, "--device", device, "--threads", threads, "-q", "--json", "-")
    rows = {}
    for name, command in (("extract", ("extract", images)), ("match-all", ("match-all", "--sequential", overlap)),
                          ("verify", ("verify",))):
        said, seconds, peak = run(cornea, *command, *common)
        report = json.loads(said)
        del report["database"]  # a temporary file
        rows[name] = {"wall_seconds": seconds, "peak_mb": peak, **report}
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cornea", default="build/cpu/cornea")
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--overlap", type=int, default=4)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--json")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    result = {"machine": f"{os.cpu_count()} CPUs, {platform.machine()}", "device": options.device,
              "commit": options.commit}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "views").mkdir()
        views, result["colour"] = make_views(options.cornea, folder / "views")
        for count in (options.images // 2, options.images):
            images = folder / f"images{count}"
            images.mkdir()
            for i in range(count):
                shutil.copy(views[i % len(views)], images / f"{i:06}.jpg")
            result[str(count)] = steps(options.cornea, images, folder / f"{count}.db", options.device,
                                       options.threads, options.overlap)
    few, all_ = result[str(options.images // 2)], result[str(options.images)]
    extract = all_["extract"]
    rate = 1000 * extract["extracted"] / extract["milliseconds"]
    print(f"{options.images} images of 1 megapixel ({result['colour']} JPEG), {extract['features']} features, "
          f"on {extract['device']}")
    print(f"extract    {rate:8.1f} images/s; {100 * extract['decode_share']:.0f}% of the work was decoding, "
          f"{extract['waiting_milliseconds'] / extract['milliseconds']:.0%} of the time was waiting for it")
    print(f"match-all  {1000 * all_['match-all']['matched'] / all_['match-all']['milliseconds']:8.1f} pairs/s")
    print(f"verify     {1000 * all_['verify']['pairs'] / all_['verify']['milliseconds']:8.1f} pairs/s")
    grown = []
    for name in all_:
        print(f"{name:10} peak {few[name]['peak_mb']:7.0f} MB for {options.images // 2} images, "
              f"{all_[name]['peak_mb']:7.0f} MB for {options.images}")
        if all_[name]["peak_mb"] > 1.1 * few[name]["peak_mb"]:
            grown.append(name)
    if grown:
        print("memory grows with the folder:", ", ".join(grown))
    if options.json:
        Path(options.json).write_text(json.dumps({**result, "grown": grown}, indent=1) + "\n")
    sys.exit(1 if grown else 0)


main()
