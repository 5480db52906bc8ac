# SPDX-License-Identifier: Apache-2.0
"""The scripts in examples/ do what they say: the checks are those of their C++ siblings."""

import subprocess
import sys
from pathlib import Path

import pytest

import cornea
from conftest import PROGRAM

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import examples_checks  # noqa: E402


def run(name, *words):
    command = [sys.executable, "-B", str(ROOT / "examples" / f"{name}.py"), *words]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def example_views(tmp_path_factory):
    if not PROGRAM.exists() or not cornea.info()["scenes"]:
        pytest.skip("this package was built without the program, which draws the views")
    return examples_checks.make_views(PROGRAM, tmp_path_factory.mktemp("examples"))


@pytest.mark.parametrize("name", examples_checks.CHECKS)
def test_example(name, example_views):
    if name == "folder_to_colmap" and not cornea.info()["sqlite"]:
        pytest.skip("this build has no COLMAP databases")
    examples_checks.CHECKS[name](run, example_views)


def test_usage():
    examples_checks.check_usage(run, examples_checks.CHECKS)


def test_every_example_is_there_twice():
    scripts = {file.stem for file in (ROOT / "examples").glob("*.py")}
    assert scripts == {file.stem for file in (ROOT / "examples").glob("*.cc")} == set(examples_checks.CHECKS)
