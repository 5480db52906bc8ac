# SPDX-License-Identifier: Apache-2.0
"""COLMAP databases of folders, compared with the program's, and databases of other programs."""

import json
import sqlite3
import subprocess
import sys
import threading

import numpy as np
import pytest

import cornea
from cornea import colmap

if not cornea.info()["sqlite"]:
    pytest.skip("this build has no COLMAP databases", allow_module_level=True)


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photographs")
    for view in cornea.scene(views=4, width=400, height=300).views:
        cornea.write(folder / f"{view.name}.png", view.image)
    return folder


def rows(database, table):
    with sqlite3.connect(database) as opened:
        return sorted(opened.execute(f"SELECT * FROM {table}").fetchall())


@pytest.fixture(scope="module")
def made(photographs, tmp_path_factory):
    """A database with all three steps done."""
    database = tmp_path_factory.mktemp("made") / "database.db"
    reports = [
        colmap.extract(database, photographs, device="cpu"),
        colmap.match(database, device="cpu"),
        colmap.verify(database, device="cpu"),
    ]
    return database, reports


def test_the_same_database_as_the_program(program, photographs, made, tmp_path):
    database = tmp_path / "program.db"
    program("extract", photographs, "--db", database)
    program("match-all", "--db", database)
    program("verify", "--db", database)
    for table in ("cameras", "images", "keypoints", "descriptors", "matches", "two_view_geometries"):
        found = rows(made[0], table)
        assert len(found) > 0
        assert found == rows(database, table), table


def test_ellipses_as_the_database_holds_them(photographs, tmp_path):
    """COLMAP's six columns: positions shifted by half a pixel, and the frames of Features, bit for bit."""
    options = {"affine_shape": True, "max_points": 150}
    colmap.extract(tmp_path / "database.db", photographs, device="cpu", **options)
    with sqlite3.connect(tmp_path / "database.db") as opened:
        blob, name = opened.execute(
            "SELECT data, name FROM keypoints JOIN images USING (image_id) ORDER BY name"
        ).fetchone()
    held = np.frombuffer(blob, np.float32).reshape(-1, 6)
    defaults = {name: option.default for name, option in colmap._SIFT.items()}
    found = cornea.detect(photographs / name, "sift", device="cpu", **{**defaults, **options})
    assert len(found) > 100 and found.stretch.max() > 1.2
    assert np.array_equal(held, np.column_stack([found.xy + np.float32(0.5), found.frames.reshape(-1, 4)]))


def test_counts(made):
    extracted, matched, verified = made[1]
    assert extracted["extracted"] == 4 and extracted["features"] > 400
    assert matched["matched"] == 6
    assert verified["verified"] == 6 and sum(verified["configurations"].values()) == 6


def test_what_is_done_is_kept(made, photographs):
    assert colmap.extract(made[0], photographs, device="cpu")["skipped"] == 4
    assert colmap.match(made[0], device="cpu")["skipped"] == 6
    assert colmap.verify(made[0], device="cpu")["skipped"] == 6


def test_other_options_are_noticed(made, photographs):
    with pytest.raises((ValueError, OSError), match="changed|options|redo"):
        colmap.extract(made[0], photographs, device="cpu", max_points=100)


def test_progress_and_cancelling(photographs, tmp_path):
    database = tmp_path / "database.db"
    seen, end = [], threading.Event()

    def progress(done, total):
        seen.append((done, total))
        if done == 2:
            end.set()

    report = colmap.extract(database, photographs, device="cpu", progress=progress, cancel=end)
    assert report["stopped"] and 2 <= report["extracted"] < 4
    assert seen[0] == (0, 4)
    again = colmap.extract(database, photographs, device="cpu", progress=lambda done, total: None)
    assert again["skipped"] == report["extracted"] and not again["stopped"]
    stopped = colmap.match(database, device="cpu", cancel=lambda: True)
    assert stopped["stopped"]


def test_an_exception_of_a_callback_ends_the_run(photographs, tmp_path):
    database = tmp_path / "database.db"

    def progress(done, total):
        if done == 1:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        colmap.extract(database, photographs, device="cpu", progress=progress)
    assert colmap.extract(database, photographs, device="cpu")["skipped"] >= 1


@pytest.mark.parametrize("name", ["progress", "note", "cancel"])
def test_callbacks_that_raise(photographs, made, tmp_path, name):
    """Each exception ends the run and is rethrown, and the database remains usable."""

    def enough(*_):
        raise LookupError(name)

    database = tmp_path / "database.db"
    colmap.extract(database, photographs, device="cpu", max_points=60)
    (tmp_path / "pairs.txt").write_text("view_000.png view_001.png\nview_001.png nobody.png\n")
    with pytest.raises(LookupError, match=name):
        colmap.match(database, pairs_path=tmp_path / "pairs.txt", device="cpu", **{name: enough})
    assert colmap.match(database, device="cpu")["pairs"] == 6
    with pytest.raises(TypeError, match="not callable"):
        colmap.match(database, pairs_path=tmp_path / "pairs.txt", redo=True, device="cpu", **{name: 3})


@pytest.mark.parametrize("answer, stops", [(None, False), (0, False), (np.False_, False), (np.True_, True), ("yes", True)])
def test_answers_of_cancel(photographs, tmp_path, answer, stops):
    report = colmap.extract(tmp_path / "a.db", photographs, device="cpu", max_points=60, cancel=lambda: answer)
    assert report["stopped"] == stops and (report["extracted"] < 4) == stops


def test_an_interrupt_ends_the_run(photographs, tmp_path):
    """Ctrl-C during a run raises KeyboardInterrupt, and completed work is kept."""
    code = f"""
import os, signal, cornea
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test in the background would ignore it
def progress(done, total):
    if done == 1:
        os.kill(os.getpid(), signal.SIGINT)
try:
    cornea.colmap.extract({str(tmp_path / 'a.db')!r}, {str(photographs)!r}, device="cpu", progress=progress)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "interrupted\n", done.stderr
    assert 1 <= colmap.extract(tmp_path / "a.db", photographs, device="cpu")["skipped"] < 4


def test_a_database_that_another_process_holds(photographs, tmp_path):
    """A call waits until the lock is released, and other Python threads continue to run."""
    database = tmp_path / "database.db"
    colmap.extract(database, photographs, device="cpu", max_points=60)
    code = f"""
import sqlite3, sys
opened = sqlite3.connect({str(database)!r}, isolation_level=None)
opened.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    reports = []
    caller = threading.Thread(target=lambda: reports.append(colmap.match(database, device="cpu")))
    try:
        assert holder.stdout.readline() == "held\n"
        caller.start()
        caller.join(0.5)
        assert caller.is_alive() and not reports
    finally:
        holder.communicate("")
    caller.join()
    assert reports[0]["matched"] == 6


def test_files_that_are_no_databases(photographs, tmp_path):
    (tmp_path / "text.db").write_text("no database " * 100)
    for wrong in (tmp_path / "text.db", tmp_path):
        with pytest.raises(OSError, match=wrong.name):
            colmap.verify(wrong, device="cpu")
        with pytest.raises(OSError, match=wrong.name):
            colmap.extract(wrong, photographs, device="cpu")


def test_wrong_calls(photographs, tmp_path):
    with pytest.raises(OSError, match="missing.db"):
        colmap.match(tmp_path / "missing.db", device="cpu")
    with pytest.raises(OSError, match="nowhere"):
        colmap.extract(tmp_path / "a.db", tmp_path / "nowhere", device="cpu")
    with pytest.raises(ValueError, match="changed is 'stop', 'redo' or 'keep', not 'maybe'"):
        colmap.extract(tmp_path / "a.db", photographs, changed="maybe", device="cpu")
    with pytest.raises(ValueError, match="SIFT has no option maximum"):
        colmap.extract(tmp_path / "a.db", photographs, maximum=3, device="cpu")
    with pytest.raises(ValueError, match="verify has no option sample"):
        colmap.verify(tmp_path / "a.db", sample=7, device="cpu")


def test_a_list_of_pairs(made, photographs, tmp_path):
    database, notes = tmp_path / "database.db", []
    colmap.extract(database, photographs, device="cpu")
    (tmp_path / "pairs.txt").write_text("view_000.png view_001.png\nview_001.png view_002.png\nview_001.png nobody.png\n")
    report = colmap.match(database, pairs_path=tmp_path / "pairs.txt", note=notes.append, device="cpu")
    assert report["matched"] == 2 and report["refused"] == 1 and "nobody.png" in notes[0]
    assert colmap.match_sequential(database, overlap=1, device="cpu")["pairs"] == 3


def test_a_database_of_pycolmap(photographs, tmp_path):
    """Matches of pycolmap are verified in one call, and its mapper accepts the result."""
    pycolmap = pytest.importorskip("pycolmap")
    database = tmp_path / "pycolmap.db"
    pycolmap.extract_features(database, photographs, device=pycolmap.Device.cpu)
    # pycolmap verifies as it matches; only its matches are kept.
    pycolmap.match_exhaustive(database, device=pycolmap.Device.cpu)
    with sqlite3.connect(database) as opened:
        opened.execute("DELETE FROM two_view_geometries")
    report = colmap.verify(database, device="cpu")
    matched = len(rows(database, "matches"))
    assert report["verified"] == report["pairs"] == matched > 0
    assert report["inliers"] > 100 and report["configurations"]["degenerate"] < matched
    with pycolmap.Database.open(database) as opened:
        geometries = opened.read_two_view_geometries()
    assert sum(len(g.inlier_matches) for g in geometries[1]) == report["inliers"]


def centres_of(rotations, translations):
    return np.array([-np.asarray(R).T @ np.asarray(t) for R, t in zip(rotations, translations)])


def test_the_fountain(data, tmp_path):
    """Features and matches of pycolmap, verified in one call; its mapper finds the correct positions of all cameras."""
    pycolmap = pytest.importorskip("pycolmap")
    folder = data("fountain_p11")
    database, images = tmp_path / "database.db", folder / "images"
    extraction = pycolmap.FeatureExtractionOptions(max_image_size=800, sift={"max_num_features": 1500, "first_octave": 0})
    pycolmap.extract_features(
        database, images, camera_mode=pycolmap.CameraMode.SINGLE, extraction_options=extraction, device=pycolmap.Device.cpu
    )
    matching = pycolmap.FeatureMatchingOptions(skip_geometric_verification=True)
    pycolmap.match_exhaustive(database, matching_options=matching, device=pycolmap.Device.cpu)
    assert not rows(database, "two_view_geometries")
    report = colmap.verify(database, device="cpu")
    assert report["verified"] == report["pairs"] == 55
    options = pycolmap.IncrementalPipelineOptions(multiple_models=False, random_seed=1)
    (model,) = pycolmap.incremental_mapping(database, images, tmp_path / "models", options).values()
    assert model.num_reg_images() == 11
    known = json.loads((folder / "cameras.json").read_text())
    expected = centres_of(*zip(*((c["R_cam_from_world"], c["t_cam_from_world"]) for c in map(known.get, sorted(known)))))
    poses = [image.cam_from_world() for image in sorted(model.images.values(), key=lambda image: image.name)]
    found = centres_of([pose.rotation.matrix() for pose in poses], [pose.translation for pose in poses])
    # The similarity between the two (Umeyama).
    x, y = found - found.mean(0), expected - expected.mean(0)
    u, s, vt = np.linalg.svd(y.T @ x)
    flip = np.diag([1, 1, np.linalg.det(u @ vt)])
    errors = np.linalg.norm(y - (s * np.diag(flip)).sum() / (x**2).sum() * x @ (u @ flip @ vt).T, axis=1)
    assert errors.max() < 0.01 * np.ptp(expected, axis=0).max()
