# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures: generated photographs, and the program, whose results Python must reproduce."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import cornea

PROGRAM = Path(os.environ.get("CORNEA_PROGRAM", Path(cornea.__file__).parent / "bin" / "cornea"))


def run_program(*words):
    """The JSON that the program writes, on the CPU."""
    command = [str(PROGRAM), *map(str, words), "--device", "cpu", "--quiet", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def program():
    if not PROGRAM.exists():
        pytest.skip("this package was built without the program")
    return run_program


@pytest.fixture(scope="session")
def data():
    """Folders of photographs with ground truth, below the folder named by CORNEA_DATA (default: ../shared)."""
    root = Path(os.environ.get("CORNEA_DATA") or Path(__file__).resolve().parents[3] / "shared")

    def folder(name):
        found = root / "data" / name
        if not found.is_dir():
            assert os.environ.get("CORNEA_REQUIRE_DATA") != "1", f"{name} is asked for and not here"
            pytest.skip(f"{name} is not here; set CORNEA_DATA to the folder that holds it")
        return found

    return folder


@pytest.fixture(scope="session")
def scene():
    return cornea.scene(width=480, height=360)


@pytest.fixture(scope="session")
def views(scene, tmp_path_factory):
    """Two 8-bit photographs as files."""
    folder = tmp_path_factory.mktemp("views")
    files = []
    for view in scene.views:
        files.append(folder / f"{view.name}.png")
        cornea.write(files[-1], view.image)
    return files


@pytest.fixture(scope="session")
def image(views):
    return cornea.read(views[0])


@pytest.fixture(scope="session")
def matches(views):
    """n x 4 correspondences that include outliers."""
    a, b = (cornea.detect(file, "sift", device="cpu") for file in views)
    points = cornea.match(a, b, ratio=0.95, device="cpu").points(a, b)
    assert len(points) > 200
    return points


@pytest.fixture(scope="session")
def matches_file(matches, tmp_path_factory):
    file = tmp_path_factory.mktemp("matches") / "matches.csv"
    rows = [",".join(repr(float(v)) for v in row) for row in matches]
    file.write_text("x1,y1,x2,y2\n" + "\n".join(rows) + "\n")
    assert np.array_equal(cornea.read_matches(file), matches)
    return file
