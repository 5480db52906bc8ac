# SPDX-License-Identifier: Apache-2.0
"""A collection in shards: are the contents equal however it is processed, and what do kills and Ray cost?

  python3 bench/cluster.py --cornea build/cpu/cornea [--images 2000] [--shards 4] [--nodes 2] [--kills 20] [--json out.json]

Makes photographs of walls (overlapping windows, in 8-bit colour files) and processes them by `cornea folder`, by
one process, by two processes at once, on a local Ray cluster, and on one whose workers, programs and nodes are
killed with SIGKILL. One CPU thread per worker. A run named gpu1 or gpu2 has one or two workers on the GPU, and
with --device cuda `cornea folder` uses the GPU too. Needs the Python package with its extra `ray`, NumPy and psutil.
Exits with 1 if contents differ, or if a run ended before all kills were made.
"""
import argparse
import hashlib
import json
import os
import platform
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np

import cornea
import cornea.cluster

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python" / "tests"))
from sharded import cpu_seconds, do_all_steps, kill_on, wall  # noqa: E402

# Several nodes on one machine start slowly and respond late.
for variable, value in (("RAY_raylet_start_wait_time_s", "180"), ("RAY_health_check_failure_threshold", "20")):
    os.environ.setdefault(variable, value)

PER_WALL = 25


def make_photographs(folder, count):
    folder.mkdir()
    for n in range(count):
        if n % PER_WALL == 0:
            pixels = wall(n, given.width + given.width // 6 * PER_WALL, given.width * 3 // 4)
        left = given.width // 6 * (n % PER_WALL)
        # Names are shuffled, so that neighbours on a wall are not neighbours by name.
        name = f"{(n * 7919) % count:05d}.png"
        cornea.write(folder / name, np.ascontiguousarray(pixels[:, left:left + given.width]))


def digest(file):
    """A hash of every row of every table, and the number of rows of each."""
    with sqlite3.connect(file) as database:
        counts, all_rows = {}, hashlib.sha256()
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            rows = sorted(repr(row) for row in database.execute(f"SELECT * FROM {table}"))
            counts[table] = len(rows)
            all_rows.update("\n".join([table, *rows]).encode())
    return all_rows.hexdigest(), counts


def program(*words):
    threads = [] if given.device == "cuda" else ["--threads", "1"]
    subprocess.run([given.cornea, *map(str, words), "--device", given.device, *threads, "-q"], check=True)


class Nodes:
    """A Ray cluster on this machine with nodes of one CPU, whose processes and nodes are killed."""

    def __init__(self, count):
        import ray
        from ray.cluster_utils import Cluster

        self.ray = ray
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 80 << 20})
        self.nodes = [self.add() for _ in range(count)]
        ray.init(address=self.cluster.address, log_to_driver=False)

    def add(self):
        return self.cluster.add_node(num_cpus=1, object_store_memory=80 << 20)

    def stop(self):
        self.ray.shutdown()
        self.cluster.shutdown()

    def kill(self, rng, kind):
        """Returns whether there was something to kill."""
        node = rng.choice(self.nodes)
        if kind == "node":
            self.nodes.remove(node)
            self.cluster.remove_node(node, allow_graceful=False)
            self.nodes.append(self.add())
            return True
        return kill_on(node, kind)


def over_ray(photos, work, db, kills):
    nodes, killed, rng = Nodes(given.nodes), [], random.Random(1)
    # Ray adds nodes only in the main thread, from which the kills come too
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(cornea.cluster.run, photos, work, gpus_per_worker=0, size=given.images // given.shards,
                              options=given.options, db=db, program=given.cornea, quiet=True)
        while not running.done():
            wait([running], timeout=given.every * (0.5 + rng.random()))
            kind = ("program", "worker", "program", "node")[len(killed) % 4]
            if not running.done() and len(killed) < kills and nodes.kill(rng, kind):
                killed.append(kind)
        nodes.stop()
        summary = running.result()
    return {"exit_code": summary.exit_code, "seconds": summary.seconds, "wall_seconds": summary.wall_seconds,
            "busy_seconds": summary.busy_seconds, "cpu_seconds": summary.cpu_seconds, "done": summary.done,
            "tries": summary.tries, "kills": {kind: killed.count(kind) for kind in sorted(set(killed))},
            "lost": len(summary.lost), "tried_again": [str(f) for f in summary.tried_again],
            "failed": [str(f) for f in summary.failed]}


def over_gpu(photos, work, db, workers):
    """Workers that share this machine's GPU and cores equally."""
    import ray

    ray.init(num_gpus=1, log_to_driver=False)
    begin, share = time.monotonic(), 1 / workers
    summary = cornea.cluster.run(photos, work, gpus_per_worker=share, cpus_per_worker=(os.cpu_count() or 1) * share,
                                 size=given.images // given.shards, options=given.options, db=db,
                                 program=given.cornea, quiet=True)
    ray.shutdown()
    return {"exit_code": summary.exit_code, "gpus_per_worker": share, "workers": workers,
            "seconds": time.monotonic() - begin, "wall_seconds": summary.wall_seconds,
            "images_per_second": given.images / sum(summary.wall_seconds.values()), "failed": [str(f) for f in summary.failed]}


def do_folder(photos, out, result):
    begin, used = time.monotonic(), cpu_seconds()
    program("folder", photos, "-o", out, *given.folder_options)
    seconds = time.monotonic() - begin
    result["folder"] = {"wall_seconds": seconds, "cpu_seconds": cpu_seconds() - used,
                        "images_per_second": given.images / seconds}


def main():
    folder = Path(tempfile.mkdtemp(prefix="cluster-", dir=given.folder))
    photos, result, digests = folder / "photos", {}, {}
    make_photographs(photos, given.images)
    result.update(images=given.images, width=given.width, shards=given.shards, nodes=given.nodes, options=given.options,
                  machine=f"{os.cpu_count()} CPUs, {platform.machine()}", load_before=os.getloadavg())

    def save(name, file):
        digests[name], result["rows"] = digest(file)
        result["equal"] = len(set(digests.values())) == 1 if len(digests) > 1 else None  # None: nothing to compare with
        result["load"] = {**result.get("load", {}), name: os.getloadavg()}
        print(name, digests[name][:16], "load", os.getloadavg(), flush=True)
        if given.json:
            Path(given.json).write_text(json.dumps(result, indent=1) + "\n")

    if not given.without_folder:
        do_folder(photos, folder / "scene", result)
        save("folder", folder / "scene" / "database.db")
    for name in given.runs:
        work, db = folder / name, folder / f"{name}.db"
        if name in ("one", "two"):
            result[name] = do_all_steps(given.cornea, photos, work, 1 if name == "one" else 2,
                                        given.images // given.shards, given.options, given.pinned)
            program("merge", work, "--db", db)
        elif name.startswith("gpu"):
            result[name] = over_gpu(photos, work, db, int(name[3:]))
        else:
            result[name] = over_ray(photos, work, db, given.kills if name == "kills" else 0)
        save(name, db)
    print(json.dumps(result, indent=1))
    killed = sum(result["kills"]["kills"].values()) if "kills" in result else given.kills
    if killed < given.kills:
        print(f"the run ended after {killed} of {given.kills} kills; kill more often (--every)")
    return 0 if result["equal"] is not False and killed == given.kills else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cornea", required=True)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--width", type=int, default=160, help="width of a photograph, pixels")
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--every", type=float, default=4, help="seconds between kills, on average")
    parser.add_argument("--runs", nargs="+", default=["one", "two", "ray", "kills"])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="of the plain commands")
    parser.add_argument("--pinned", action="store_true", help="give each plain process one core")
    parser.add_argument("--without-folder", action="store_true", help="do not run cornea folder")
    parser.add_argument("--folder", help="where to work")
    parser.add_argument("--json")
    given = parser.parse_args()
    given.cornea = os.path.abspath(given.cornea)
    given.folder_options = ["--pairs", "retrieve", "--neighbours", "4", "--further", "2"]
    given.options = [*given.folder_options, "--block-images", "500", "--block-pairs", "2500"]
    sys.exit(main())
