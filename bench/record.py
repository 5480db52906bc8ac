#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the result files of a machine, all by one program at one commit.

  bench/record.py build/cuda/cornea --device cuda --prefix h200 --commit 1a2b3c4 [--out bench/results] [--only NAME ..]

A file of `cornea bench` holds the rows of one or several calls; each row says how often it was timed. Most others come
from a script of this folder, some from several calls of it (`runs`). On the CPU they need the photographs (CORNEA_DATA,
default ../shared) and, in the Python that runs this, NumPy, SciPy, OpenCV, PoseLib, pycolmap, pydegensac and the Python
package of Cornea with its extra `ray`; `colmap` (3.8), Chromium, and the targets cornea_retrieve_bench and, for CUDA,
cornea_svd_bench built beside the program. For meaningful times nothing else may run on the machine; NAMEs that
`--only counts` stands for hold counts and errors that are the same under load.
"""
import argparse
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

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
    "filters": [*filters(f"640x640,{HD},3840x2160", 200, 100),
                *(image_filter(name, f"640x640,{HD}", 100, sigma=4, exponential="fast")
                  for name in ("bilateral", "trilateral"))],
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

POSE_FEATURES = [f"{most}{options}" for most, all_options in
                 (("--max-features 8192 --contrast 0.02", ("", " --settle strict", " --domain-size-pooling", " --affine-shape",
                                                           " --affine-shape --domain-size-pooling")),
                  ("--max-features 20000 --contrast 0.01", ("", " --affine-shape --domain-size-pooling", " --affine-shape")))
                 for options in all_options]
TWO_VIEW = "{python} {here}/compare_two_view.py --cornea {program} --commit {commit} --json {json} "
RETRIEVE = "{folder}/cornea_retrieve_bench --neighbours 10 --label {commit} --json {json} "
FOLDER = "{python} {here}/folder.py --cornea {program} --commit {commit} --json {json} "
CLUSTER = "{python} {here}/cluster.py --cornea {program} --json {json} "
COLMAP = "{python} {here}/compare_colmap.py --cornea {program} --commit {commit} --json {json} "
# The calls of each file; of several ones the file holds a list, `runs`.
CUDA_CALLS = {
    "svd": ["{folder}/cornea_svd_bench --repeat 20 --label {commit} --json {json}"],
    "retrieve": [RETRIEVE + "--device cuda --images 1000,2000,5000,10000,20000"],
    "retrieve-cpu": [RETRIEVE + "--device cpu --images 2000"],
    **{f"folder-run{run}": [FOLDER + "--device cuda"] for run in (1, 2)},
    "cluster": [CLUSTER + "--images 1000 --width 800 --shards 8 --device cuda --runs gpu1 gpu2"],
}
CPU_CALLS = {
    "opencv": ["{python} {here}/compare_opencv.py --cornea {program} --commit {commit} --json {json}"],
    "filters-opencv": ["{python} {here}/compare_filters.py --cornea {program} --commit {commit} --json {json}"],
    "match-opencv": ["{python} {here}/compare_match.py --cornea {program} --commit {commit} --json {json}"],
    "sift-peers": ["{python} {here}/compare_sift.py --cornea {program} --commit {commit} --json {json}"],
    "two-view-time": [TWO_VIEW + "--only time"],
    "jpeg-gray": ["{python} {here}/jpeg_gray.py {data} --json {json}"],
    "retrieve-2000-images": [RETRIEVE + "--device cpu --images 2000 --threads 2"],
    "colmap": [COLMAP],
    "folder": [FOLDER],
    "cluster-small": [CLUSTER + "--images 2000 --shards 4 --nodes 2 --runs one two ray"],
    "cluster-kills": [CLUSTER + "--images 2000 --shards 4 --nodes 2 --every 1.2 --runs kills"],
    "cluster-large": [CLUSTER + "--width 1600 --images 80 --shards 4 --runs one two ray --without-folder --pinned"],
}
CPU_COUNTS = {
    "choices": ["{python} {here}/choices.py {program} {data} --json {json}"],
    "evaluate": ["{python} {here}/evaluate.py {program} {data} --commit {commit} --machine {machine} --json {json}"],
    "focal-from-f": ["{python} {here}/focal_from_f.py --program {program} --json {json}"],
    "labelled": [TWO_VIEW + "--only f-labelled"],
    "generated": [TWO_VIEW + "--only f-generated planes"],
    "homography": [TWO_VIEW + f'--only homography planar-kind --features="{features}"'
                   for features in ("--max-features 4000", "--affine-shape --max-features 20000 --contrast 0.01")],
    "two-view-peers": [TWO_VIEW + "--only pose --models essential fundamental --peers Cornea USAC PoseLib --defaults"],
    "two-view-affine": [TWO_VIEW + "--only pose --peers Cornea PoseLib --defaults --seeds 3 "
                        '--features="--affine-shape --max-features 20000 --contrast 0.01"'],
    "pose-features": [TWO_VIEW + "--only pose --models essential shared_focal fundamental --peers Cornea --defaults --seeds 3 "
                      f'--features="{features}"' for features in POSE_FEATURES],
    "verify-colmap": ["{python} {here}/verify_colmap.py --cornea {program} --commit {commit} --json {json}"],
    "colmap-affine": [COLMAP + '--any-time --extract="--affine-shape --edge-ratio 8"'],
    "colmap-affine-edge-10": [COLMAP + "--any-time --extract=--affine-shape"],
}


def run(words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}")
    return done.stdout


def machine():
    """The processor's name and the number of cores."""
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":")[1].strip()
            break
    return f"{os.cpu_count()} cores of {model}"


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


def study(given, name, file, *more, repeat=20):
    with tempfile.TemporaryDirectory() as folder:
        run([given.program, "study", name, "--device", given.device, "--repeat", repeat, "--label", f"commit={given.commit}",
             "-o", folder, "-q", *more])
        shutil.copyfile(Path(folder, "results.json"), file)
        for plot in Path(folder).glob("*.svg") if given.plots and not more else ():
            shutil.copyfile(plot, given.plots / plot.name)


def study_of_photographs(given, file):
    """The first views of three sequences and the image house, reduced to 288 pixels."""
    import cv2

    with tempfile.TemporaryDirectory() as folder:
        photographs = Path(folder, "photographs")
        photographs.mkdir()
        data = Path(given.data, "data")
        for source in (*(next((data / "vgg_affine" / s).glob("img1.*")) for s in ("graf", "boat", "leuven")),
                       data / "corners" / "house.png"):
            pixels = cv2.imread(str(source), 0)
            size = (288, round(288 * pixels.shape[0] / pixels.shape[1]))
            cv2.imwrite(str(photographs / f"{source.parent.name}-{source.stem}.png"),
                        cv2.resize(pixels, size, interpolation=cv2.INTER_AREA))
        study(given, "trilateral", file, "--images", photographs, repeat=3)
        file.write_text(file.read_text().replace(str(photographs), "photographs"))


def folder_page(given, file):
    """Pages of the fountain and of generated collections, in Chromium."""
    chromium = shutil.which("chromium") or sys.exit("no chromium")
    with tempfile.TemporaryDirectory() as name:
        folder, pages = Path(name), []
        fountain = Path(given.data, "data/fountain_p11/images")
        run([given.program, "folder", fountain, "-o", folder / "11", "--device", "cpu", "-q"])
        pages.append(folder / "11" / "report.html")
        for images in (300, 2000):
            made = folder / str(images)
            run([sys.executable, HERE.parent / "tests" / "make_collection.py", made, "--images", images, "--groups", 4])
            pages.append(made / "page" / "report.html")
            run([given.program, "report", "--db", made / "collection.db", "--images", made / "photos", "-o", made / "page",
                 "-q"])
        run([sys.executable, HERE / "folder_page.py", chromium, *pages, "--json", file])


def retrieval(given, file):
    """Recall among the photographs and 1,000 distractors; writes the files of all numbers of descriptors per image."""
    script = [sys.executable, HERE / "retrieve.py"]
    with tempfile.TemporaryDirectory() as name:
        folder = given.work or Path(name)
        # A database belongs to the program that made it; the photographs do not.
        database, pairs = folder / f"photographs-{given.commit}.db", folder / "pairs.txt"
        common = ["--db", database, "--device", given.device, "-q"]
        if not (folder / "photographs").exists():
            part = folder / "photographs.part"
            shutil.rmtree(part, ignore_errors=True)
            run([*script, "collect", Path(given.data, "data"), part, "--distractors", 1000])
            part.rename(folder / "photographs")
        run([given.program, "extract", folder / "photographs", *common])
        run([*script, "pairs", database, pairs])
        run([given.program, "match-all", "--pairs", pairs, *common])
        run([*script, "skip", database])
        run([given.program, "verify", *common])
        for most, features in (("all", 0), ("1000", 1000), ("250", 250), ("100", 100)):
            # Learning COLMAP's vocabulary tree from more descriptors takes hours.
            colmap = ["--colmap", "colmap"] if features in (250, 100) and shutil.which("colmap") else []
            measured = file.with_name(file.name.replace("-all", f"-{most}"))
            run([*script, "measure", database, "--bench", Path(given.program).parent / "cornea_retrieve_bench", "--device",
                 given.device, "--features", features, "--commit", given.commit, "--json", measured, *colmap])
            measured.write_text(json.dumps({"machine": machine(), "call": f"retrieve.py measure --features {features}",
                                            **json.loads(measured.read_text())}, indent=1) + "\n")


CPU_WORK = {"folder-page": folder_page}
CPU_COUNTED_WORK = {"study-trilateral-photographs": study_of_photographs, "retrieve-all": retrieval}
RETRIEVED = ("retrieve-1000", "retrieve-250", "retrieve-100")  # with retrieve-all
STUDY_FILES = [f"study-{name}" for name in STUDIES]


def kinds(device):
    """What makes the files of a device: rows of `cornea bench`, calls, functions."""
    return (CUDA, CUDA_CALLS, {}) if device == "cuda" else (
        CPU, {**CPU_CALLS, **CPU_COUNTS}, {**CPU_WORK, **CPU_COUNTED_WORK})


def names(device):
    rows, calls, work = kinds(device)
    return [*rows, *STUDY_FILES, *calls, *work, *(RETRIEVED if device == "cpu" else ())]


SHOWN = {"python": "python3", "here": "bench", "folder": ".", "json": "FILE", "program": "cornea", "data": "DATA",
         "machine": "MACHINE"}


def results_of_calls(given, calls, file):
    """What scripts and programs write, with the commit and the call; of several calls a list."""
    places = {"python": sys.executable, "here": HERE, "folder": Path(given.program).resolve().parent, "program": given.program,
              "commit": given.commit, "json": file, "data": Path(given.data, "data"), "machine": machine()}
    runs = []
    for call in calls:
        words = [word.format(**places) for word in shlex.split(call)]  # split first: places may hold spaces
        if subprocess.run(words).returncode not in (0, 1):  # 1: a comparison that was lost, which the file shows
            sys.exit(f"{shlex.join(words)} failed")
        shown = shlex.join(shlex.split(call.format(**{**places, **SHOWN})))
        runs.append({"call": shown, **json.loads(file.read_text())})
    return runs[0] if len(runs) == 1 else {"runs": runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    parser.add_argument("--prefix", required=True, help="of the files' names: h200, xeon")
    parser.add_argument("--commit", required=True)
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "results")
    parser.add_argument("--plots", type=Path, help="where to copy the plots of the studies")
    parser.add_argument("--only", nargs="+", help="files without prefix, as sift-options or study-svd; `times` or `counts`")
    parser.add_argument("--work", type=Path, help="keeps the collection of retrieve-all here, for a later call to go on with")
    parser.add_argument("--data", default=os.environ.get("CORNEA_DATA", "../shared"), help="folder that holds data/")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows, calls, work = kinds(given.device)
    known = names(given.device)
    wanted = given.only or known
    if wanted == ["counts"]:
        wanted = [*CPU_COUNTS, *CPU_COUNTED_WORK]
    elif wanted == ["times"]:
        wanted = [name for name in known if name not in CPU_COUNTS and name not in CPU_COUNTED_WORK]
    for name in wanted:
        if name not in known:
            sys.exit(f"{name} is none of {', '.join(known)}")
        if name in RETRIEVED:
            continue
        begin, file = time.monotonic(), given.out / f"{given.prefix}-{name}.json"
        if name in rows:
            file.write_text(json.dumps(bench(given.program, given.device, given.commit, rows[name]), indent=2) + "\n")
        elif name in STUDY_FILES:
            study(given, name.removeprefix("study-"), file)
        else:
            if name in calls:
                found = results_of_calls(given, calls[name], file)
            else:
                work[name](given, file)
                found = json.loads(file.read_text())
            if name.startswith("study"):
                continue
            file.write_text(json.dumps({"machine": machine(), "commit": given.commit, **found}, indent=1) + "\n")
        print(f"{file.name}: {time.monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
