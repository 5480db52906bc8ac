#!/usr/bin/env python3
"""SIGKILL to extract, match-all and verify, where one process runs and where two share one database.

    kills_test.py PROGRAM [--kills N] [--seed N]

Two dozen small photographs go through the three steps once, undisturbed. Then each step is killed, N times
in all (20), at random moments spread over its whole duration: a process alone, one of two that share the
database, and both of two. What is left must be a whole database that holds nothing wrong; where one of two
lives on, it must end with the contents of the undisturbed run, and where none does, the same command once
more must. Only kills that came before the end are counted. --seed repeats the moments of another run.
"""
import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from faults_work import STEPS, Outcome, Work, check, check_same, contents

MODES = {"alone": (1, 1), "one of two": (2, 1), "both of two": (2, 2)}  # processes, of which are killed


class Kills:
    def __init__(self, work):
        self.work, self.database, self.seconds = work, work.folder / "c.db", {}
        self.counts = {(step, mode): [0, 0] for step in STEPS for mode in MODES}  # killed; with a part of the work done

    def duration(self, step, processes):
        """Seconds of so many undisturbed processes at once."""
        if (step, processes) not in self.seconds:
            self.work.begin(step, self.database)
            began = time.monotonic()
            for outcome in [Outcome(p, began) for p in [self.work.start(step, self.database) for _ in range(processes)]]:
                outcome.check_done(f"{step}, {processes} at once")
            check_same(contents(self.database), self.work.expected[step], f"{step}, {processes} at once")
            self.seconds[step, processes] = time.monotonic() - began
        return self.seconds[step, processes]

    def try_once(self, step, mode, share):
        """With a first kill at that share of the duration; how many came before the end."""
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
                # It came to its end before, so the others take no longer.
                self.seconds[step, processes] = min(seconds, time.monotonic() - began)
            process.kill()
            process.communicate()
            check(process.returncode in (0, -signal.SIGKILL), f"{what}: exit code {process.returncode}")
            killed += process.returncode == -signal.SIGKILL
        for process in running[victims:]:
            Outcome(process, began).check_done(f"{what}, the other")
            check_same(contents(self.database), work.expected[step], f"{what}, the other")
        found = work.check_left(step, self.database, what)
        partly = found not in (contents(work.before[step]), work.expected[step])
        work.check_goes_on(step, self.database, what)
        self.counts[step, mode][0] += killed
        self.counts[step, mode][1] += partly
        return killed

    def run(self, kills):
        jobs = list(self.counts)
        for index, job in enumerate(jobs):
            wanted = kills * (index + 1) // len(jobs) - kills * index // len(jobs)
            tries = 0
            while self.counts[job][0] < wanted:
                check(tries < 5 * wanted + 10, f"{job}: runs end before they are killed")
                # Spread evenly, at random within each share.
                self.try_once(*job, (tries % wanted + self.work.random.random()) / wanted)
                tries += 1
        for (step, mode), (killed, partly) in self.counts.items():
            part = "" if mode == "one of two" else f", {partly} times with a part of the work done"
            print(f"  {step}, {mode}: {killed} killed{part}")
        print(f"  {sum(killed for killed, _ in self.counts.values())} kills")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    given = parser.parse_args()
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="cornea_kills_") as folder:
            Kills(Work(os.path.abspath(given.program), folder, given.seed)).run(given.kills)
    except AssertionError as failure:
        print(f"kills: failed (--seed {given.seed}): {failure}")
        return 1
    print(f"kills: passed in {time.monotonic() - began:.1f} s (--seed {given.seed})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
