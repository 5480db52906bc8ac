#!/usr/bin/env python3
"""extract, match-all and verify when something goes wrong under them.

    faults_test.py PROGRAM [CASE ...] [--seed N]

Two dozen small photographs are drawn with `cornea scene` and run through the three steps once, undisturbed.
Then every case disturbs each step from the same beginning. What is left must be a whole database that
holds nothing wrong, and the same command once more must end with the contents of the undisturbed run: all
tables, all rows, all bytes. The cases:

    full_disk       a small tmpfs, for which the test enters a mount namespace
    file_limit      files that may not grow further (RLIMIT_FSIZE)
    read_only       a folder, and a file, without permission to write
    read_only_disk  the same folder mounted read only
    kills           SIGKILL at random moments, spread over the whole step; CORNEA_FAULT_KILLS is how many
                    for each step (6)
    two_at_once     two processes on one database, also with one of them killed
    locked          another process holds the database, for a while and for long

Without a case all of them run. --seed repeats the kills of another run. The exit code is 77 where every
case was skipped. Allocations that fail are in allocation_test.cc. Python's standard library only.
"""
import argparse
import contextlib
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

IMAGES = 24
STEPS = ("extract", "match-all", "verify")
SKIPPED = 77
BUSY_SECONDS = 10  # how long the program waits for another one
NOBODY = 65534


class Skip(Exception):
    """Says why a case cannot be tried here."""


def check(condition, sentence):
    if not condition:
        raise AssertionError(sentence)


def files_of(database):
    """The database and what SQLite keeps beside it."""
    return [Path(f"{database}{ending}") for ending in ("", "-wal", "-shm")]


def remove_database(database):
    for file in files_of(database):
        file.unlink(missing_ok=True)


def contents(database):
    """Schema and rows of all tables, of a copy, so that what a fault left is not touched; None where there
    is no database. The copy must be whole."""
    with tempfile.TemporaryDirectory() as folder:
        if not Path(database).exists():
            return None
        copy = Path(folder) / "copy.db"
        for file, to in zip(files_of(database)[:2], files_of(copy)):
            if file.exists():
                shutil.copyfile(file, to)
        connection = sqlite3.connect(copy)
        connection.text_factory = bytes
        verdict = connection.execute("PRAGMA integrity_check").fetchall()
        check(verdict == [(b"ok",)], f"{database} is damaged: {verdict}")
        tables = {"schema": connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()}
        for kind, name, _ in tables["schema"]:
            if kind == b"table":
                rows = connection.execute(f"SELECT * FROM {name.decode()}").fetchall()
                tables[name.decode()] = sorted(rows, key=lambda row: row[0])
        connection.close()
        return tables


def check_same(found, expected, what):
    check(found is not None, f"{what}: there is no database")
    for table in sorted(found.keys() | expected.keys()):
        rows, right = found.get(table), expected.get(table)
        check(rows is not None and right is not None, f"{what}: only one run has the table {table}")
        check(len(rows) == len(right), f"{what}: {len(rows)} rows in {table}, not {len(right)}")
        check(rows == right, f"{what}: other rows in {table}")


def check_nothing_wrong(found, before, expected, what):
    """Between what was there before and what an undisturbed run leaves."""
    check(found is not None or before is None, f"{what}: the database is gone")
    for table, rows in (found or {}).items():
        if table in ("schema", "sqlite_sequence"):
            continue
        check(set(rows) <= set(expected[table]), f"{what}: {table} has a row that should not be")
    for table, rows in (before or {}).items():
        if table in ("schema", "sqlite_sequence"):
            continue
        check(set(rows) <= set(found[table]), f"{what}: a row of {table} is lost")


class Outcome:
    def __init__(self, process, began):
        out, err = process.communicate()
        self.code, self.out, self.err = process.returncode, out.decode(), err.decode()
        self.seconds = time.monotonic() - began

    def check_done(self, what):
        check(self.code == 0, f"{what}: exit code {self.code}: {self.err}")

    def check_failed(self, what, *words):
        """One line on standard error that names what it is about."""
        check(self.code == 1, f"{what}: exit code {self.code}, not 1: {self.out}{self.err}")
        check(self.err.count("\n") == 1, f"{what}: not one line: {self.err}")
        for word in words:
            check(word in self.err, f"{what}: does not say '{word}': {self.err}")


class Work:
    """The photographs, and for every step the database before it and the contents after it."""

    def __init__(self, program, folder, seed):
        self.program, self.folder = program, Path(folder)
        self.random, self.images = random.Random(seed), self.folder / "images"
        self.before, self.expected, self.seconds = {}, {}, {}
        scene = subprocess.run([program, "scene", "-o", self.images, "--views", str(IMAGES), "--width", "200",
                                "--height", "150", "--step", "3", "--samples", "1", "-q"], capture_output=True)
        check(scene.returncode == 0, f"cornea scene: {scene.stderr.decode()}")
        database = self.folder / "undisturbed.db"
        for step in STEPS:
            self.before[step] = self.folder / f"before-{step}.db"
            if database.exists():
                shutil.copyfile(database, self.before[step])
            outcome = self.run(step, database)
            outcome.check_done(f"{step}, undisturbed")
            self.expected[step], self.seconds[step] = contents(database), outcome.seconds
        check(len(self.expected["verify"]["two_view_geometries"]) == IMAGES * (IMAGES - 1) // 2,
              "not every pair was verified")
        check(sum(row[1] for row in self.expected["verify"]["two_view_geometries"]) > 1000, "hardly any inliers")

    def start(self, step, database, flags=(), **how):
        words = [self.program, step, *flags] + ([self.images] if step == "extract" else [])
        return subprocess.Popen(words + ["--db", database, "--device", "cpu", "-q"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **how)

    def run(self, step, database, **how):
        began = time.monotonic()
        return Outcome(self.start(step, database, **how), began)

    def begin(self, step, database):
        """The database as it is before the step."""
        remove_database(database)
        if self.before[step].exists():
            shutil.copyfile(self.before[step], database)

    def check_left(self, step, database, what):
        found, before = contents(database), contents(self.before[step])
        check_nothing_wrong(found, before, self.expected[step], what)
        return found

    def check_goes_on(self, step, database, what):
        self.run(step, database).check_done(f"{what}, then again")
        check_same(contents(database), self.expected[step], f"{what}, then again")

    def check_full(self, step, outcome, database, what, *words):
        """A run that had room for everything, or for a part: whether it was a part."""
        found = self.check_left(step, database, what)
        if outcome.code == 0:
            check_same(found, self.expected[step], what)
            return False
        outcome.check_failed(what, str(database), *words)
        return True


def try_rooms(work, step, what, attempt):
    """Attempts the step with room for 4 KB more than there is and on, up to more than it needs, and for some
    sizes between; attempt(more, sentence) says whether the room was too small."""
    rooms = [4096 << 3 * i for i in range(5)]
    small = [room for room in rooms if attempt(room, f"{what} {room >> 10} KB")]
    check(2 <= len(small) < len(rooms) and small == rooms[:len(small)],
          f"{step}: {small} of {rooms} were too small")
    for _ in range(3):
        room = work.random.randrange(rooms[0], rooms[len(small)]) & -4096
        attempt(room, f"{what} {room >> 10} KB")
    print(f"  {step}: {small[-1] >> 10} KB are too small, {rooms[len(small)] >> 10} KB are not")


def mount_flags():
    """How unshare lets this user mount a file system; None where it does not."""
    with tempfile.TemporaryDirectory() as folder:
        for flags in ("-m", "-rm"):
            with contextlib.suppress(FileNotFoundError):
                if subprocess.run(["unshare", flags, "mount", "-t", "tmpfs", "none", folder],
                                  capture_output=True).returncode == 0:
                    return flags
    return None


def enter_namespace():
    """Starts this test anew where it may mount; what it mounts goes away with it."""
    if os.environ.get("CORNEA_FAULT_NAMESPACE"):
        return
    flags = mount_flags()
    if not flags:
        raise Skip("no file system can be mounted here: that takes root or user namespaces (unshare -rm)")
    os.environ["CORNEA_FAULT_NAMESPACE"] = "1"
    os.execvp("unshare", ["unshare", flags, sys.executable] + sys.argv)


def mount(*words):
    done = subprocess.run(["mount", *words], capture_output=True)
    check(done.returncode == 0, f"mount {' '.join(map(str, words))}: {done.stderr.decode()}")


@contextlib.contextmanager
def mounted(folder, *words):
    mount(*words, folder)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def case_full_disk(work):
    disk = work.folder / "disk"
    disk.mkdir()
    database = disk / "c.db"
    for step in STEPS:
        before = work.before[step].stat().st_size if work.before[step].exists() else 0

        def attempt(room, what):
            with mounted(disk, "-t", "tmpfs", "-o", f"size={64 << 20}", "none"):
                work.begin(step, database)
                with open(disk / "other", "wb") as other:
                    os.posix_fallocate(other.fileno(), 0, (64 << 20) - before - room)
                full = work.check_full(step, work.run(step, database), database, what, "the disk is full")
                (disk / "other").unlink()
                work.check_goes_on(step, database, what)
            return full

        try_rooms(work, step, f"{step} on a disk with room for", attempt)


def case_file_limit(work):
    database = work.folder / "c.db"
    for step in STEPS:

        def attempt(room, what):
            def limit():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

            work.begin(step, database)
            outcome = work.run(step, database, preexec_fn=limit)
            full = work.check_full(step, outcome, database, what, "File too large")
            work.check_goes_on(step, database, what)
            return full

        try_rooms(work, step, f"{step} with files of up to", attempt)


def as_one_who_may_not(work):
    """How to start the program so that permissions count: as it is, or for root as nobody, from a copy
    that nobody can reach."""
    if os.geteuid() != 0:
        return {}
    work.folder.chmod(0o755)
    shutil.copy(work.program, work.folder / "cornea")
    work.program = work.folder / "cornea"
    how = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        started = subprocess.run([work.program, "--version"], capture_output=True, **how)
    except (PermissionError, OSError) as error:
        raise Skip(f"permissions do not bind root, and the program does not start as nobody: {error}")
    if started.returncode != 0:
        raise Skip(f"permissions do not bind root, and as nobody: {started.stderr.decode()}")
    return how


def case_read_only(work):
    how = as_one_who_may_not(work)
    closed = work.folder / "closed"
    closed.mkdir()
    database = closed / "c.db"
    for step in STEPS:
        for file_mode in (0o444, 0o666):
            what = f"{step} in a folder that is read only, the file {file_mode:o}"
            closed.chmod(0o755)
            work.begin(step, database)
            if database.exists():
                database.chmod(file_mode)
            closed.chmod(0o555)
            outcome = work.run(step, database, **how)
            left = sorted(closed.iterdir())
            closed.chmod(0o755)
            outcome.check_failed(what, str(database), "permissions")
            check(left == ([database] if step != "extract" else []), f"{what}: leaves {left}")
            if step != "extract":
                check_same(contents(database), contents(work.before[step]), what)
                database.chmod(0o644)
            work.check_goes_on(step, database, what)


def case_read_only_disk(work):
    closed = work.folder / "closed"
    closed.mkdir()
    database = closed / "c.db"
    for step in STEPS:
        what = f"{step} on a disk that is read only"
        work.begin(step, database)
        with mounted(closed, "--bind", closed):
            mount("-o", "remount,bind,ro", closed)
            outcome = work.run(step, database)
        outcome.check_failed(what, str(database), "check")
        check(sorted(closed.iterdir()) == ([database] if step != "extract" else []), f"{what}: leaves other files")
        if step != "extract":
            check_same(contents(database), contents(work.before[step]), what)
        work.check_goes_on(step, database, what)
        remove_database(database)


def case_kills(work):
    database, kills = work.folder / "c.db", int(os.environ.get("CORNEA_FAULT_KILLS", "6"))
    for step in STEPS:
        killed = partly = 0
        for i in range(kills):
            moment = (i + work.random.random()) / kills * work.seconds[step]
            what = f"{step}, killed after {1000 * moment:.1f} ms"
            work.begin(step, database)
            began = time.monotonic()
            process = work.start(step, database)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(moment)
                # It came to its end before, so the others take no longer.
                work.seconds[step] = min(work.seconds[step], time.monotonic() - began)
            process.kill()
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
            check(process.returncode in (0, -signal.SIGKILL), f"{what}: exit code {process.returncode}")
            found = work.check_left(step, database, what)
            partly += found not in (contents(work.before[step]), work.expected[step])
            work.check_goes_on(step, database, what)
        print(f"  {step}: {killed} of {kills} were killed before the end, {partly} with a part of the work done")
        check(killed > 0, f"{step}: every run ended before it was killed")


def case_two_at_once(work):
    database = work.folder / "c.db"
    single = work.folder / "single.db"
    work.run("extract", single, flags=["--single-camera"]).check_done("extract with a single camera, undisturbed")
    check(len(contents(single)["cameras"]) == 1, "a single camera is not one")
    jobs = [(step, [], work.expected[step]) for step in STEPS] + [("extract", ["--single-camera"], contents(single))]
    for step, flags, expected in jobs:
        words = " ".join([step, *flags])
        for round in range(4):
            # At the same time, and the second one later and later.
            what, late = f"two times {words} at once", work.random.random() * work.seconds[step] * round / 4
            work.begin(step, database)
            processes = [work.start(step, database, flags)]
            time.sleep(late)
            processes.append(work.start(step, database, flags))
            for outcome in [Outcome(process, 0) for process in processes]:
                outcome.check_done(f"{what}, {1000 * late:.1f} ms apart")
            check_same(contents(database), expected, f"{what}, {1000 * late:.1f} ms apart")
        what = f"two times {words} at once, one of them killed"
        work.begin(step, database)
        processes = [work.start(step, database, flags) for _ in range(2)]
        time.sleep(work.random.random() * work.seconds[step])
        processes[0].kill()
        processes[0].communicate()
        Outcome(processes[1], 0).check_done(what)
        check_same(contents(database), expected, what)


def half_extracted(work):
    """For a lock on what extract writes there must be a database already."""
    half, all_images = work.folder / "half", work.images
    half.mkdir()
    for image in sorted(all_images.glob("*.png"))[:IMAGES // 2]:
        shutil.copyfile(image, half / image.name)
    work.images = half
    work.run("extract", work.before["extract"]).check_done("extract of a half")
    work.images = all_images


def case_locked(work):
    half_extracted(work)

    def locked(step, journal, lock, seconds):
        what = f"{step}, journal {journal}, locked {lock} for {seconds} s"
        database = work.folder / f"{step}-{journal}-{lock}-{seconds}.db"
        work.begin(step, database)
        other = sqlite3.connect(database, isolation_level=None)
        other.execute(f"PRAGMA journal_mode = {journal}")
        other.execute(f"BEGIN {lock}")
        other.execute("SELECT * FROM images").fetchall()
        if lock == "EXCLUSIVE":
            other.execute("DELETE FROM keypoints")
        began = time.monotonic()
        process = work.start(step, database)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        ended = process.poll() is not None
        other.execute("ROLLBACK")
        other.close()
        outcome = Outcome(process, began)
        if seconds < BUSY_SECONDS:
            check(not ended, f"{what}: did not wait")
            outcome.check_done(what)
            check_same(contents(database), work.expected[step], what)
        else:
            check(ended, f"{what}: still waits")
            outcome.check_failed(what, str(database), "another program uses the database")
            check_same(contents(database), contents(work.before[step]), what)
            work.check_goes_on(step, database, what)

    failures = []

    def keep_failure(*words):
        try:
            locked(*words)
        except AssertionError as failure:
            failures.append(str(failure))

    # A reader is in the way where the log has yet to be switched on.
    threads = [threading.Thread(target=keep_failure, args=(step, journal, lock, seconds))
               for step in STEPS for seconds in (2, 3 * BUSY_SECONDS)
               for journal, lock in (("WAL", "EXCLUSIVE"), ("DELETE", "EXCLUSIVE"), ("DELETE", "DEFERRED"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not failures, "\n  ".join(failures))


CASES = {"full_disk": case_full_disk, "file_limit": case_file_limit, "read_only": case_read_only,
         "read_only_disk": case_read_only_disk, "kills": case_kills, "two_at_once": case_two_at_once,
         "locked": case_locked}
MOUNTS = ("full_disk", "read_only_disk")


def run_case(program, name, seed):
    began = time.monotonic()
    try:
        if name in MOUNTS:
            enter_namespace()
        with tempfile.TemporaryDirectory(prefix="cornea_faults_") as folder:
            CASES[name](Work(program, folder, seed))
    except Skip as reason:
        print(f"{name}: skipped: {reason}")
        return SKIPPED
    except AssertionError as failure:
        print(f"{name}: failed (--seed {seed}): {failure}")
        return 1
    print(f"{name}: passed in {time.monotonic() - began:.1f} s (--seed {seed})")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("cases", nargs="*", choices=[*CASES, []])
    parser.add_argument("--seed", type=int)
    given = parser.parse_args()
    program, seed = os.path.abspath(given.program), given.seed
    if seed is None:
        seed = random.SystemRandom().randrange(1 << 32)
        sys.argv += ["--seed", str(seed)]  # also for the namespace
    if len(given.cases) == 1:
        return run_case(program, given.cases[0], seed)
    # One process for each: some go where they may mount.
    codes = [subprocess.run([sys.executable, __file__, program, case, "--seed", str(seed)]).returncode
             for case in given.cases or CASES]
    return next((code for code in codes if code not in (0, SKIPPED)), SKIPPED if set(codes) == {SKIPPED} else 0)


if __name__ == "__main__":
    sys.exit(main())
