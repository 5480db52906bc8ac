# SPDX-License-Identifier: Apache-2.0
"""The photographs of faults_test.py and kills_test.py, the three steps and `cornea folder` on them, and the allowed
contents of a database after a fault.
"""
import random
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

IMAGES = 24
STEPS = ("extract", "match-all", "verify")
# `cornea folder` as steps too: with all pairs, and with similar ones, so few that the further round
# has something to do.
LEARNS = "folder --pairs retrieve"
FOLDERS = {"folder": [], LEARNS: ["--pairs", "retrieve", "--neighbours", "2", "--further", "2"]}
RESULTS = ("pairs.csv", "report.html")  # of a folder, beside its database


def check(condition, sentence):
    if not condition:
        raise AssertionError(sentence)


def files_of(database):
    """The database and the files that SQLite keeps beside it."""
    return [Path(f"{database}{ending}") for ending in ("", "-wal", "-shm")]


def remove_database(database):
    for file in files_of(database) + [Path(database).parent / name for name in RESULTS]:
        file.unlink(missing_ok=True)


def contents(database):
    """Schema and rows of all tables, read from a copy, so that the state after a fault is not changed; None if there
    is no database. The copy must be intact."""
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
    """Checks that the contents are between the initial ones and those of an undisturbed run."""
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
        """Checks that there is one line on standard error that names the problem."""
        check(self.code == 1, f"{what}: exit code {self.code}, not 1: {self.out}{self.err}")
        check(self.err.count("\n") == 1, f"{what}: not one line: {self.err}")
        for word in words:
            check(word in self.err, f"{what}: does not say '{word}': {self.err}")


class Work:
    """The photographs, and for every step the database before it and the contents after it."""

    def __init__(self, program, folder, seed):
        self.program, self.folder = program, Path(folder)
        self.random, self.images = random.Random(seed), self.folder / "images"
        self.before, self.expected, self.seconds, self.tables = {}, {}, {}, {}
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

    def add_folders(self):
        """Runs `cornea folder` once, undisturbed; with all pairs it gives the contents of the three steps."""
        for step in FOLDERS:
            database = self.folder / f"undisturbed {step}" / "database.db"
            self.before[step] = self.folder / "nothing"
            outcome = self.run(step, database)
            outcome.check_done(f"{step}, undisturbed")
            self.expected[step], self.seconds[step] = contents(database), outcome.seconds
            self.tables[step] = (database.parent / "pairs.csv").read_bytes()
        check_same(self.expected["folder"], self.expected["verify"], "folder and the three commands")

    def start(self, step, database, flags=(), **how):
        if step in FOLDERS:
            words = [self.program, "folder", self.images, "-o", database.parent, *FOLDERS[step]]
        else:
            words = [self.program, step, *([self.images] if step == "extract" else []), "--db", database]
        return subprocess.Popen(words + [*flags, "--device", "cpu", "-q"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **how)

    def run(self, step, database, **how):
        began = time.monotonic()
        return Outcome(self.start(step, database, **how), began)

    def begin(self, step, database):
        """Restores the database as it is before the step."""
        remove_database(database)
        if self.before[step].exists():
            shutil.copyfile(self.before[step], database)

    def check_left(self, step, database, what):
        found, before = contents(database), contents(self.before[step])
        check_nothing_wrong(found, before, self.expected[step], what)
        return found

    def check_goes_on(self, step, database, what):
        self.run(step, database).check_done(f"{what}, then again")
        self.check_ended(step, database, f"{what}, then again")

    def check_ended(self, step, database, what):
        check_same(contents(database), self.expected[step], what)
        if step in FOLDERS:
            check((database.parent / "pairs.csv").read_bytes() == self.tables[step], f"{what}: another pairs.csv")
            page = (database.parent / "report.html").read_text()
            check(page.rstrip().endswith("</html>"), f"{what}: report.html is not whole")

    def check_full(self, step, outcome, database, what, *words):
        """Checks a run that had space for everything, or for a part; returns whether it was a part."""
        found = self.check_left(step, database, what)
        if outcome.code == 0:
            check_same(found, self.expected[step], what)
            return False
        outcome.check_failed(what, str(database.parent if step in FOLDERS else database), *words)
        return True
