#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests extract, match-all, verify and folder when something goes wrong around them.

    faults_test.py PROGRAM [CASE ...] [--seed N]

Two dozen small photographs are rendered with `cornea scene` and processed by the three steps once, undisturbed,
and for some cases by `cornea folder`. Then every case disturbs each step from the same initial state. The result
must be an intact database without wrong contents, and running the same command again must end with the contents of
the undisturbed run: all tables, all rows, all bytes. The cases:

    full_disk       a small tmpfs, for which the test enters a mount namespace
    file_limit      files that may not grow further (RLIMIT_FSIZE)
    read_only       a folder, and a file, without permission to write
    read_only_disk  the same folder mounted read only
    two_at_once     two processes on one database
    overtaken       one of two is paused on its way, and the other does everything meanwhile
    locked          another process holds the database, for a short and for a long time

Without a case all of them run. --seed repeats the random moments of another run. Kills are in kills_test.py,
failing allocations in allocation_test.cc. The exit code is 77 if every case was skipped. Uses only Python's
standard library.
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

from faults_work import FOLDERS, IMAGES, LEARNS, STEPS, Outcome, Work, check, check_same, contents, remove_database

SKIPPED = 77
BUSY_SECONDS = 10  # how long the program waits for another one
NOBODY = 65534


class Skip(Exception):
    """Raised with the reason if a case cannot be run here."""


def try_rooms(work, step, what, attempt):
    """Runs the step with 4 KB more space than is used and upwards, until it has more than it needs, and for some
    sizes between; attempt(more, sentence) returns whether the space was too small."""
    rooms = [4096 << 3 * i for i in range(5)] + [48 << 20]
    small = [room for room in rooms if attempt(room, f"{what} {room >> 10} KB")]
    check(2 <= len(small) < len(rooms) and small == rooms[:len(small)],
          f"{step}: {small} of {rooms} were too small")
    for _ in range(3):
        room = work.random.randrange(rooms[0], rooms[len(small)]) & -4096
        attempt(room, f"{what} {room >> 10} KB")
    print(f"  {step}: {small[-1] >> 10} KB are too small, {rooms[len(small)] >> 10} KB are not")


def mount_flags():
    """The flags with which unshare lets this user mount a file system; None if it does not."""
    with tempfile.TemporaryDirectory() as folder:
        for flags in ("-m", "-rm"):
            with contextlib.suppress(FileNotFoundError):
                if subprocess.run(["unshare", flags, "mount", "-t", "tmpfs", "none", folder],
                                  capture_output=True).returncode == 0:
                    return flags
    return None


def enter_namespace():
    """Restarts this test in a namespace where it may mount; its mounts vanish with it."""
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
        # Lazily: whatever still looks at the folder, on a busy machine, must not fail the test.
        subprocess.run(["umount", "--lazy", folder], check=True)


def case_full_disk(work):
    disk = work.folder / "disk"
    disk.mkdir()
    database = disk / "database.db"
    work.add_folders()
    for step in (*STEPS, LEARNS):
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
    """How to start the program so that permissions apply: as it is or, for root, as the user nobody, from a copy
    that this user can read."""
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
    work.add_folders()
    how = as_one_who_may_not(work)
    closed = work.folder / "closed"
    closed.mkdir()
    database = closed / "database.db"
    for step in (*STEPS, LEARNS):
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
            check(left == ([database] if database.exists() else []), f"{what}: leaves {left}")
            check(database.exists() == work.before[step].exists(), f"{what}: makes a database, or deletes it")
            if database.exists():
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


def jobs_of_two(work, steps):
    """The steps, and extract with one camera: with their flags and their expected contents."""
    single = work.folder / "single.db"
    work.run("extract", single, flags=["--single-camera"]).check_done("extract with a single camera, undisturbed")
    check(len(contents(single)["cameras"]) == 1, "a single camera is not one")
    return [(step, [], work.expected[step]) for step in steps] + [("extract", ["--single-camera"], contents(single))]


def case_two_at_once(work):
    database = work.folder / "out" / "database.db"
    database.parent.mkdir()
    work.add_folders()
    for step, flags, expected in jobs_of_two(work, (*STEPS, *FOLDERS)):
        words = " ".join([step, *flags])
        for round in range(4):
            # At the same time, and then with the second one later and later.
            what, late = f"two times {words} at once", work.random.random() * work.seconds[step] * round / 4
            work.begin(step, database)
            processes = [work.start(step, database, flags)]
            time.sleep(late)
            processes.append(work.start(step, database, flags))
            for outcome in [Outcome(process, 0) for process in processes]:
                outcome.check_done(f"{what}, {1000 * late:.1f} ms apart")
            check_same(contents(database), expected, f"{what}, {1000 * late:.1f} ms apart")


def is_locked(database):
    """Whether a process is writing."""
    try:
        other = sqlite3.connect(f"file:{database}?mode=rw", uri=True, timeout=0, isolation_level=None)
        with contextlib.closing(other):
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
    except sqlite3.OperationalError:
        return True
    return False


def hold(process, database, seconds):
    """Pauses a process this many seconds after it has begun, while it is not writing."""
    while process.poll() is None and not os.path.exists(f"{database}-wal"):
        time.sleep(0.001)
    time.sleep(seconds)
    while process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        if not is_locked(database):
            return
        process.send_signal(signal.SIGCONT)
        time.sleep(0.001)


def case_overtaken(work):
    database = work.folder / "out" / "database.db"
    database.parent.mkdir()
    for step, flags, expected in jobs_of_two(work, STEPS):
        for late in (0.002, 0.005, 0.012, 0.03, 0.08):
            what = f"{' '.join([step, *flags])}, overtaken after {1000 * late:.0f} ms"
            work.begin(step, database)
            first = work.start(step, database, flags)
            hold(first, database, late)
            second = work.run(step, database, flags=flags)
            first.send_signal(signal.SIGCONT)
            outcome = Outcome(first, 0)
            second.check_done(f"{what}, the second")
            outcome.check_done(f"{what}, the first")
            check_same(contents(database), expected, what)
    check_options_are_not_mixed(work, database)


def check_options_are_not_mixed(work, database):
    """A run is overtaken by one over half the images with other options: one of the two must end and say why."""
    def descriptors(file):
        return {row[-1] for row in contents(file)["descriptors"]}

    plain, all_images = work.folder / "plain.db", work.images
    work.run("extract", plain, flags=["--no-root"]).check_done("extract of plain SIFT, undisturbed")
    kinds = [descriptors(plain), {row[-1] for row in work.expected["extract"]["descriptors"]}]
    half = work.folder / "first half"
    half.mkdir()
    for image in sorted(all_images.glob("*.png"))[:IMAGES // 2]:
        shutil.copy2(image, half / image.name)
    for late in (0.002, 0.01, 0.05):
        what = f"extract of other options at once, overtaken after {1000 * late:.0f} ms"
        work.begin("extract", database)
        first = work.start("extract", database, ["--no-root"])
        hold(first, database, late)
        work.images = half
        second = work.run("extract", database)
        work.images = all_images
        first.send_signal(signal.SIGCONT)
        outcomes = [Outcome(first, 0), second]
        check(any(descriptors(database) <= kind for kind in kinds), f"{what}: descriptors of both kinds")
        failed = [outcome for outcome in outcomes if outcome.code != 0]
        check(len(failed) == 1, f"{what}: {len(failed)} of the two end with an error")
        check("other options" in failed[0].err, f"{what}: does not say why: {failed[0].err}")


def half_extracted(work):
    """A database that exists already, which is needed to lock what extract writes."""
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

    # A reader blocks switching on the write-ahead log.
    threads = [threading.Thread(target=keep_failure, args=(step, journal, lock, seconds))
               for step in STEPS for seconds in (2, 3 * BUSY_SECONDS)
               for journal, lock in (("WAL", "EXCLUSIVE"), ("DELETE", "EXCLUSIVE"), ("DELETE", "DEFERRED"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not failures, "\n  ".join(failures))


CASES = {"full_disk": case_full_disk, "file_limit": case_file_limit, "read_only": case_read_only,
         "read_only_disk": case_read_only_disk, "two_at_once": case_two_at_once,
         "overtaken": case_overtaken, "locked": case_locked}
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
        sys.argv += ["--seed", str(seed)]  # also for the restart in the namespace
    if len(given.cases) == 1:
        return run_case(program, given.cases[0], seed)
    # One process per case, because some enter a namespace in which they may mount.
    codes = [subprocess.run([sys.executable, __file__, program, case, "--seed", str(seed)]).returncode
             for case in given.cases or CASES]
    return next((code for code in codes if code not in (0, SKIPPED)), SKIPPED if set(codes) == {SKIPPED} else 0)


if __name__ == "__main__":
    sys.exit(main())
