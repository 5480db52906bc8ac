#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills extract, match-all, verify and folder with SIGKILL, with one process and with two that share one database.

    kills_test.py PROGRAM [STEP ...] [--kills N] [--seed N]

Two dozen small photographs go through the three steps and through `cornea folder` once, undisturbed. Then each is
killed, N times in all (30), at random moments distributed over its whole duration: a single process, one of two
that share the database, and both of two. `cornea folder` is killed with all pairs and with similar ones, and there
also while it learns which images are similar. The result must be an intact database without wrong contents; if one
of two survives, it must end with the contents of the undisturbed run, and if none does, running the same command
again must. Only kills before the end are counted. --seed repeats the random moments of another run.
"""
import argparse
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from faults_work import FOLDERS, IMAGES, LEARNS, STEPS, Outcome, Work, check, contents

LEARNING = "while it learns"
# Number of processes, and of those killed.
MODES = {"alone": (1, 1), "one of two": (2, 1), "both of two": (2, 2)}


def is_learning(database):
    """Whether all images are extracted and no pairs are chosen yet."""
    if not database.exists():
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
            return (opened.execute("SELECT COUNT(*) FROM keypoints").fetchone()[0] == IMAGES and
                    not opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'cornea_choice'").fetchall())
    except sqlite3.OperationalError:  # not created yet
        return False


class Kills:
    def __init__(self, work, steps):
        self.work, self.database, self.seconds = work, work.folder / "out" / "database.db", {}
        self.database.parent.mkdir()
        if any(step in FOLDERS for step in steps):
            work.add_folders()
        # kills; kills after a part of the work was done
        self.counts = {(step, mode): [0, 0] for step in steps for mode in MODES}
        if LEARNS in steps:
            self.counts[LEARNS, LEARNING] = [0, 0]

    def duration(self, step, processes):
        """Seconds of this many undisturbed processes at once."""
        if (step, processes) not in self.seconds:
            self.work.begin(step, self.database)
            began = time.monotonic()
            for outcome in [Outcome(p, began) for p in [self.work.start(step, self.database) for _ in range(processes)]]:
                outcome.check_done(f"{step}, {processes} at once")
            self.work.check_ended(step, self.database, f"{step}, {processes} at once")
            self.seconds[step, processes] = time.monotonic() - began
        return self.seconds[step, processes]

    def try_once(self, step, mode, share):
        """Runs with a first kill at this fraction of the duration; returns how many kills came before the end."""
        work, (processes, victims) = self.work, MODES[mode]
        seconds = self.duration(step, processes)
        moments = sorted([share * seconds] + [work.random.random() * seconds for _ in range(victims - 1)])
        what = f"{step}, {mode} killed after {', '.join(f'{1000 * m:.1f}' for m in moments)} ms"
        work.begin(step, self.database)
        began = time.monotonic()
        running = [work.start(step, self.database) for _ in range(processes)]
        killed = 0
        for process, moment in zip(running, moments):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0, began + moment - time.monotonic()))
                # It ended before the kill, so the duration is at most this long.
                self.seconds[step, processes] = min(seconds, time.monotonic() - began)
            process.kill()
            process.communicate()
            check(process.returncode in (0, -signal.SIGKILL), f"{what}: exit code {process.returncode}")
            killed += process.returncode == -signal.SIGKILL
        for process in running[victims:]:
            Outcome(process, began).check_done(f"{what}, the other")
            work.check_ended(step, self.database, f"{what}, the other")
        found = work.check_left(step, self.database, what)
        partly = found not in (contents(work.before[step]), work.expected[step])
        work.check_goes_on(step, self.database, what)
        self.counts[step, mode][0] += killed
        self.counts[step, mode][1] += partly
        return killed

    def try_learning(self, share):
        """Kills it at this fraction of the time in which it learns which images are similar."""
        work, step = self.work, LEARNS
        if LEARNING not in self.seconds:
            work.begin(step, self.database)
            outcome = work.run(step, self.database, flags=["--json", "-"])
            outcome.check_done(f"{step}, undisturbed")
            self.seconds[LEARNING] = json.loads(outcome.out)["milliseconds"]["choose"] / 1000
        work.begin(step, self.database)
        process = work.start(step, self.database)
        while process.poll() is None and not is_learning(self.database):
            time.sleep(0.001)
        time.sleep(share * self.seconds[LEARNING])
        process.kill()
        process.communicate()
        what = f"{step}, killed {1000 * share * self.seconds[LEARNING]:.1f} ms after it began to learn"
        found = work.check_left(step, self.database, what)
        learned = len(found["keypoints"]) == IMAGES and "cornea_choice" not in found and not found["matches"]
        work.check_goes_on(step, self.database, what)
        self.counts[step, LEARNING][0] += learned
        self.counts[step, LEARNING][1] += learned

    def run(self, kills):
        jobs = list(self.counts)
        for index, job in enumerate(jobs):
            wanted = kills * (index + 1) // len(jobs) - kills * index // len(jobs)
            tries = 0
            while self.counts[job][0] < wanted:
                check(tries < 5 * wanted + 10, f"{job}: runs end before they are killed")
                # Distributed evenly, at random within each interval.
                share = (tries % wanted + self.work.random.random()) / wanted
                self.try_learning(share) if job[1] == LEARNING else self.try_once(*job, share)
                tries += 1
        for (step, mode), (killed, partly) in self.counts.items():
            part = "" if mode == "one of two" else f", {partly} times with a part of the work done"
            print(f"  {step}, {mode}: {killed} killed{part}")
        print(f"  {sum(killed for killed, _ in self.counts.values())} kills")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("steps", nargs="*", choices=[*STEPS, *FOLDERS, []])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    given = parser.parse_args()
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="cornea_kills_") as folder:
            work = Work(os.path.abspath(given.program), folder, given.seed)
            Kills(work, given.steps or [*STEPS, *FOLDERS]).run(given.kills)
    except AssertionError as failure:
        print(f"kills: failed (--seed {given.seed}): {failure}")
        return 1
    print(f"kills: passed in {time.monotonic() - began:.1f} s (--seed {given.seed})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
