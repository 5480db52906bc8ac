#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the Python package adds: python3 bench/python.py [threads|overhead|leaks ..]

threads   throughput of FOAGDD with one CPU thread per call, from one Python thread and from two
overhead  time of a call beyond the library's own, on an image small enough for it to matter
leaks     resident memory over 10,000 calls
"""
import os
import sys
import threading
import time

import numpy as np

import cornea


def photograph(width, height):
    image = cornea.scene(width=width, height=height, views=1, samples=1).views[0].image
    return (image * 255 + 0.5).astype(np.uint8)


def threads():
    image = photograph(1280, 960)

    def frames_per_second(workers, seconds=6.0):
        detectors = [cornea.Foagdd(device="cpu", threads=1) for _ in range(workers)]
        for detector in detectors:
            detector.detect(image)
        counts, end = [0] * workers, time.perf_counter() + seconds

        def work(k):
            while time.perf_counter() < end:
                detectors[k].detect(image)
                counts[k] += 1

        began = time.perf_counter()
        running = [threading.Thread(target=work, args=(k,)) for k in range(workers)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        return sum(counts) / (time.perf_counter() - began)

    # Alternately, so that a temporary load on the machine disturbs both.
    rounds = [(frames_per_second(1), frames_per_second(2)) for _ in range(3)]
    for one, two in rounds:
        print(f"threads   1280 x 960 FOAGDD: one {one:.2f}/s, two {two:.2f}/s, {two / one:.2f} times")


def overhead():
    image = np.ascontiguousarray(photograph(64, 48)[:16, :16])
    inputs = [("cpu", "NumPy array", image)]
    if cornea.info()["devices"]:
        inputs.append(("cuda", "NumPy array", image))
        try:
            import torch

            inputs.append(("cuda", "CUDA tensor", torch.from_numpy(image).cuda()))
        except ImportError:
            pass
    for device, kind, array in inputs:
        harris = cornea.Harris(device=device, threads=1)
        # The library's own time, by the host's clock, is in its report; the rest is Python's.
        spent, own = [], []
        for _ in range(20000):
            began = time.perf_counter()
            harris.detect(array)
            spent.append(time.perf_counter() - began)
            own.append(harris.milliseconds / 1000)
        total, library = np.median(spent) * 1e6, np.median(own) * 1e6
        added = np.median(np.subtract(spent, own)) * 1e6
        print(f"overhead  {device}, {kind}: {total:.1f} us per call, {library:.1f} us of them in the library, {added:.1f} us added")


def leaks():
    image = photograph(128, 96)
    sift, matcher = cornea.Sift(device="cpu", threads=1), cornea.Matcher(device="cpu", threads=1)

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024

    def calls(count):
        for _ in range(count):
            features = sift.detect(image)
            matches = matcher.match(features, features)
            cornea.homography(matches.points(features, features), device="cpu", threads=1, max_hypotheses=64)
            try:
                sift.detect("nowhere.png")
            except OSError:
                pass

    calls(500)
    before = resident()
    for done in (2500, 5000, 7500, 10000):
        calls(2500)
        print(f"leaks     after {done} calls: {resident() - before:+.0f} KiB of {before:.0f}")


for name in sys.argv[1:] or ["threads", "overhead", "leaks"]:
    {"threads": threads, "overhead": overhead, "leaks": leaks}[name]()
