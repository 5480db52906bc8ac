# SPDX-License-Identifier: Apache-2.0
"""Shards on a Ray cluster of several nodes on this machine: the contents equal those of one run of `cornea folder`,
even if processes are killed and files are truncated or missing."""

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import PROGRAM
from sharded import do_all_steps, kill_on, wall

import cornea
import cornea.cluster

# Several nodes on one busy machine start slowly and respond late.
for variable, value in (("RAY_raylet_start_wait_time_s", "180"), ("RAY_health_check_failure_threshold", "20")):
    os.environ.setdefault(variable, value)

OPTIONS = ["--pairs", "retrieve", "--neighbours", "3", "--further", "2", "--block-images", "8", "--block-pairs", "12"]
SIZE = 4


def make_photographs(folder, walls=2, windows=7):
    (folder / "b c").mkdir(parents=True)
    for number in range(walls):
        pixels = wall(number, 160 + 24 * windows, 120)
        for i in range(windows):
            name = f"a{number}_{i}.png" if number % 2 == 0 else f"b c/it's {number} 100% \u00fc {i}.png"
            cornea.write(folder / name, np.ascontiguousarray(pixels[:, 24 * i:24 * i + 160]))
    return folder


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    if not PROGRAM.exists():
        pytest.skip("this package was built without the program")
    return make_photographs(tmp_path_factory.mktemp("cluster") / "photos")


def program(*words, codes=(0,)):
    done = subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True)
    assert done.returncode in codes, done.stderr
    return done


def contents(file):
    """Every row of every table."""
    with sqlite3.connect(file) as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {table: sorted(database.execute(f"SELECT * FROM {table}").fetchall(), key=repr) for table in tables}


FOLDER_OPTIONS = OPTIONS[:6]


@pytest.fixture(scope="module")
def expected(photographs, tmp_path_factory):
    out = tmp_path_factory.mktemp("single")
    program("folder", photographs, "-o", out / "scene", *FOLDER_OPTIONS, "--device", "cpu", "-q")
    return contents(out / "scene" / "database.db")


@pytest.mark.parametrize("processes", [1, 2])
def test_plain_processes_end_with_the_contents_of_one_run(photographs, expected, tmp_path, processes):
    steps = do_all_steps(PROGRAM, photographs, tmp_path / "work", processes, SIZE, OPTIONS)
    assert steps["extract"]["items"] == 4 and steps["match"]["items"] > 1 and steps["match_further"]["items"] > 0
    program("merge", tmp_path / "work", "--db", tmp_path / "merged.db", "-q")
    assert contents(tmp_path / "merged.db") == expected


def test_the_options_of_a_plan_are_those_of_its_items(photographs, tmp_path):
    work = tmp_path / "work"
    program("shard", "plan", photographs, "-o", work, "--size", "100", "--max-features", "50", "--no-root", "-q")
    done = json.loads(program("extract", "--work", work, "--shard", "1/1", "--device", "cpu", "--json", "-", "-q").stdout)
    assert 0 < done["features"] <= 14 * 50 * 2  # at most two orientations per point
    with sqlite3.connect(done["file"]) as database:
        assert "root=no" in database.execute("SELECT options FROM cornea_images").fetchone()[0]
    for words in (["--max-features", "10"], ["--db", "x.db"], ["--contrast", "0.1"]):
        assert "plan" in program("extract", "--work", work, "--shard", "1/1", *words, codes=(2,)).stderr or words[0] == "--db"
    assert "has 1 item" in program("extract", "--work", work, "--shard", "1/2", codes=(1,)).stderr
    program("extract", "--work", work, "--shard", "2/1", codes=(2,))
    program("extract", "--work", work, codes=(2,))
    program("extract", photographs, "--shard", "1/1", codes=(2,))
    assert "other options" in program("shard", "plan", photographs, "-o", work, "--size", "100", codes=(1,)).stderr
    program("shard", "pairs", work, "--max-features", "50", codes=(2,))


def test_without_ray_nothing_of_the_package_changes(monkeypatch, photographs, tmp_path):
    code = "import sys, cornea; assert not {'ray', 'fsspec', 'cornea.cluster'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match="pip install"):
        cornea.cluster.run(photographs, tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_items_that_cannot_be_counted_are_not_taken_for_none(monkeypatch):
    """On a network mount the file of a finished step can be invisible for a while."""
    from cornea.cluster import collection

    answers = [{"known": False, "items": 0}, {"known": False, "items": 0}, {"known": True, "items": 7}]
    monkeypatch.setattr(collection, "call", lambda *_: ({"steps": [{"step": "match", **answers.pop(0)}]}, []))
    monkeypatch.setattr(collection.time, "sleep", lambda _: None)
    assert collection._count("cornea", "work", "match") == 7
    answers = [{"known": False, "items": 0}] * 5
    monkeypatch.setattr(collection, "_VISIBLE_AFTER", -1)
    with pytest.raises(RuntimeError, match="cannot be counted"):
        collection._count("cornea", "work", "match")


# The tests below use Ray.


@pytest.fixture(scope="module")
def make_cluster():
    pytest.importorskip("ray")
    import ray
    from ray.cluster_utils import Cluster

    made = []

    def make(nodes, variables=({}, {}, {}, {})):
        stop()
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 80 << 20})
        cluster.workers = [cluster.add_node(num_cpus=1, object_store_memory=80 << 20, env_vars=variables[i])
                           for i in range(nodes)]
        ray.init(address=cluster.address, log_to_driver=False)
        made.append(cluster)
        return cluster

    def stop():
        if made:
            ray.shutdown()
            made.pop().shutdown()

    make.stop = stop
    yield make
    stop()


@pytest.fixture(scope="module")
def three_nodes(make_cluster):
    return make_cluster(3)


def run(photographs, work, **words):
    words = {"gpus_per_worker": 0, "size": SIZE, "options": OPTIONS, "program": str(PROGRAM), "quiet": True, **words}
    return cornea.cluster.run(photographs, work, **words)


def test_a_cluster_ends_with_the_contents_of_one_run(three_nodes, photographs, expected, tmp_path):
    summary = run(photographs, tmp_path / "work", db=tmp_path / "merged.db")
    assert summary.exit_code == 0, str(summary)
    assert contents(tmp_path / "merged.db") == expected
    assert summary.already == 0 and not summary.lost
    again = run(photographs, tmp_path / "work")
    assert again.already == sum(again.done.values()) == sum(summary.done.values())


def test_a_truncated_file_is_reported_and_recomputed(three_nodes, photographs, expected, tmp_path):
    work = tmp_path / "work"
    run(photographs, work)
    cut = sorted((work / "match").iterdir())[0]
    os.truncate(cut, cut.stat().st_size // 2)
    summary = run(photographs, work, db=tmp_path / "merged.db")
    assert summary.exit_code == 1 and summary.finished and summary.damaged == 1
    assert cut.name in str(summary) and sum(summary.done.values()) - summary.already == 1
    assert contents(tmp_path / "merged.db") == expected
    assert run(photographs, work).exit_code == 0


def test_failures_are_reported_and_the_rest_is_completed(three_nodes, tmp_path):
    photos, work = make_photographs(tmp_path / "photos"), tmp_path / "work"
    (photos / "a0_1.png").write_bytes(b"no picture")
    (photos / "a0_3.png").unlink()
    (photos / "a0_3.png").symlink_to("nowhere")
    summary = run(photos, work, db=tmp_path / "merged.db")
    assert summary.exit_code == 1 and summary.finished
    assert [name in str(summary) for name in ("a0_1.png", "a0_3.png")] == [True, True]
    assert summary.merged["images"] == 12 and len(summary.photographs) == 2
    before = contents(tmp_path / "merged.db")

    # The folder no longer matches the plan, and a file was truncated.
    cornea.write(photos / "new.png", wall(9, 160, 120))
    cut = sorted((work / "extract").iterdir())[2]
    os.truncate(cut, cut.stat().st_size // 2)
    summary = run(photos, work, db=tmp_path / "merged.db")
    assert summary.exit_code == 1 and summary.finished
    assert "other photographs" in str(summary)
    assert cut.name in str(summary) and sum(summary.done.values()) - summary.already == 1
    assert contents(tmp_path / "merged.db") == before


def test_an_item_that_cannot_be_done_anywhere_is_given_up(three_nodes, photographs, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "extract").write_text("in the way")
    summary = run(photographs, work, retries=1)
    assert summary.exit_code == 1 and not summary.finished
    assert len(summary.failed) == 4 and len(summary.tried_again) == 4
    nodes = {}
    for failed in summary.failed + summary.tried_again:
        nodes.setdefault(failed.item, set()).add(failed.node.split("/")[1])
    assert all(len(where) == 2 for where in nodes.values()), nodes
    assert (work / "failures.log").read_text().count("\n") == 8


def test_workers_that_cannot_start_end_the_run(three_nodes, photographs, tmp_path, monkeypatch):
    from cornea.cluster import driver

    class Broken:
        def __init__(self, settings):
            raise ModuleNotFoundError("No module named 'cornea'")

        def where(self):
            return None

    monkeypatch.setattr(driver, "Worker", Broken)
    monkeypatch.setattr(driver, "_MOST_FAILED_STARTS", 3)
    with pytest.raises(RuntimeError, match="could not start .*No module named 'cornea'"):
        run(photographs, tmp_path / "work")


def test_photographs_of_an_object_store(three_nodes, photographs, expected, tmp_path, monkeypatch):
    server = pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    import fsspec

    moto = server.ThreadedMotoServer(port=0)
    moto.start()
    try:
        host, port = moto.get_host_and_port()
        options = {"key": "k", "secret": "s", "endpoint_url": f"http://{host}:{port}"}
        store = fsspec.filesystem("s3", **options)
        store.mkdir("bucket")
        store.put(f"{photographs}/", "bucket/photos", recursive=True)
        summary = run("s3://bucket/photos", tmp_path / "work", storage_options=options, db=tmp_path / "merged.db")
        assert summary.exit_code == 0, str(summary)
        found = contents(tmp_path / "merged.db")
        records = [list(row) for row in found.pop("cornea_images")]
        wanted = dict(expected)
        # Paths and times of files differ there.
        assert [r[:2] + [r[3]] + r[5:] for r in records] == [
            [r[0], r[1], r[3], *r[5:]] for r in wanted.pop("cornea_images")]
        assert found == wanted
        assert records[0][2] == "s3://bucket/photos"
    finally:
        moto.stop()


def test_a_full_disk_on_one_node(make_cluster, photographs, expected, tmp_path):
    full, roomy = tmp_path / "full", tmp_path / "roomy"
    full.mkdir(), roomy.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(full)], capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        make_cluster(2, [{"CORNEA_LOCAL": str(full)}, {"CORNEA_LOCAL": str(roomy)}])
        summary = run(photographs, tmp_path / "work", local="$CORNEA_LOCAL", db=tmp_path / "merged.db")
        assert summary.finished and summary.exit_code == 1 and "disk is full" in str(summary)
        assert contents(tmp_path / "merged.db") == expected
    finally:
        make_cluster.stop()
        subprocess.run(["umount", "--lazy", str(full)], check=True)


def test_an_item_is_tried_on_a_node_that_has_no_worker(make_cluster, photographs, tmp_path):
    """One shard needs one worker. Where it fails, another node is asked."""
    good, bad = str(tmp_path), "/proc/none"
    make_cluster(2, [{"CORNEA_A": good, "CORNEA_B": bad}, {"CORNEA_A": bad, "CORNEA_B": good}])
    for local in ("$CORNEA_A", "$CORNEA_B"):
        summary = run(photographs, tmp_path / local[1:], size=100, local=local)
        assert summary.finished and not summary.failed, str(summary)


def test_kills_lose_nothing(make_cluster, tmp_path):
    """Workers, programs and nodes are killed with SIGKILL; each lost node is replaced by a new one."""
    pytest.importorskip("psutil")
    photos = make_photographs(tmp_path / "photos", 3, 8)
    program("folder", photos, "-o", tmp_path / "scene", *FOLDER_OPTIONS, "--device", "cpu", "-q")
    cluster, rng, kills = make_cluster(2), random.Random(1), []

    def kill(kind):
        """Whether there was something to kill."""
        node = rng.choice(cluster.workers)
        if kind != "node":
            return kill_on(node, kind)
        cluster.workers.remove(node)
        cluster.remove_node(node, allow_graceful=False)
        cluster.workers.append(cluster.add_node(num_cpus=1, object_store_memory=80 << 20))
        return True

    with ThreadPoolExecutor(1) as pool:  # Ray adds nodes in the main thread only
        running = pool.submit(run, photos, tmp_path / "work", db=tmp_path / "merged.db")
        next_kill = time.monotonic()
        while not running.done():
            time.sleep(0.02)
            if len(kills) < 8 and time.monotonic() >= next_kill:
                kind = ("program", "worker", "node", "program")[len(kills) % 4]
                if kill(kind):
                    kills.append(kind)
                    # One of each kind soon, before a fast machine has done everything.
                    next_kill = time.monotonic() + (0.1 if len(kills) < 3 else 0.3 + 0.6 * rng.random())
        summary = running.result()
    assert summary.exit_code == 0, str(summary)
    assert set(kills) == {"worker", "program", "node"} and 0 < len(summary.lost) <= len(kills)
    assert summary.tries == sum(summary.done.values()) + len(summary.lost) + len(summary.tried_again)
    assert contents(tmp_path / "merged.db") == contents(tmp_path / "scene" / "database.db")
