# SPDX-License-Identifier: Apache-2.0
"""A collection in shards without Ray, for the tests and for bench/cluster.py: overlapping photographs, and all steps by
independent processes."""

import itertools
import json
import os
import resource
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def wall(seed, width, height):
    """Smooth noise in which SIFT finds points."""
    coarse = np.random.default_rng(seed).integers(0, 256, (height // 6 + 2, width // 6 + 2)).astype(np.float64)
    y, x = np.arange(height) / 6, np.arange(width) / 6
    j, i = y.astype(int), x.astype(int)
    v, u = (y - j)[:, None], (x - i)[None, :]
    return ((coarse[j][:, i] * (1 - u) + coarse[j][:, i + 1] * u) * (1 - v)
            + (coarse[j + 1][:, i] * (1 - u) + coarse[j + 1][:, i + 1] * u) * v).astype(np.uint8)


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kill_on(node, kind):
    """Sends SIGKILL to a process of a Ray node of this machine: kind "worker" is Cornea's actor, "program" what it has
    started. Returns whether there was one."""
    import psutil

    try:
        raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
        for worker in raylet.children():
            if "".join(worker.cmdline()[:1]).startswith("ray::Worker"):
                for process in [worker] if kind == "worker" else worker.children():
                    process.kill()
                    return True
    except psutil.Error:  # it has ended by itself meanwhile
        pass
    return False


def do_all_steps(program, photographs, work, processes, size, options, pinned=False):
    """The items, wall-clock and CPU seconds of each step; one CPU thread per process. `pinned`: each process has a core of
    its own, as cluster managers arrange it, which it shares with its threads for reading and writing."""
    cores, own = itertools.cycle(sorted(os.sched_getaffinity(0))), threading.local()

    def take_core():
        own.core = next(cores)

    def call(*words):
        pin = ["taskset", "-c", str(own.core)] if pinned and hasattr(own, "core") else []
        done = subprocess.run([*pin, str(program), *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    cpu = ["--device", "cpu", "--threads", "1", "-q"]
    call("shard", "plan", photographs, "-o", work, "--size", size, *options, "-q")
    steps = {}
    with ThreadPoolExecutor(processes, initializer=take_core) as pool:
        for step, command, *further in (("extract", "extract"), ("choose", "pairs"), ("match", "match-all"),
                                        ("verify", "verify"), ("choose_further", "further"),
                                        ("match_further", "match-all", "--further"),
                                        ("verify_further", "verify", "--further")):
            begin, used = time.monotonic(), cpu_seconds()
            status = json.loads(call("shard", "status", work, "--json", "-", "-q"))
            count = next(s["items"] for s in status["steps"] if s["step"] == step)
            if step.startswith("choose"):
                call("shard", command, work, *cpu)
            else:
                list(pool.map(lambda k: call(command, "--work", work, "--shard", f"{k}/{count}", *further, *cpu),
                              range(1, count + 1)))
            steps[step] = {"items": count, "wall_seconds": time.monotonic() - begin,
                           "cpu_seconds": cpu_seconds() - used}
    return steps
