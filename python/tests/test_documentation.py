# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the docstrings, of docs/python.md, of the README and of the notebook."""

import doctest
import json
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cornea

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["cornea", *(f"cornea.{m.name}" for m in pkgutil.iter_modules(cornea.__path__) if m.name not in ("__main__", "_cornea"))]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = __import__(name, fromlist=["_"])
    assert module.__doc__
    assert doctest.testmod(module).failed == 0


def test_docstrings_have_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = set()
    for name in MODULES:
        names |= {test.name for test in finder.find(__import__(name, fromlist=["_"])) if test.examples}
    for function in ("_detect.detect", "_match.match", "_geometry.fundamental", "_pair.pair", "colmap"):
        assert f"cornea.{function}" in names


def blocks(file):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / file).read_text(), re.M | re.S)


@pytest.fixture
def in_a_folder_with_photographs(views, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photographs").mkdir()
    for name, view in zip(("a.jpg", "b.jpg"), views):
        for folder in (tmp_path, tmp_path / "photographs"):
            cornea.write(folder / name, cornea.read(view))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


# Modules that examples with other libraries need; without them the example is skipped.
NEEDS = {"import torch": "torch", "import cv2": "cv2", "import pycolmap": "pycolmap", "hloc": "h5py"}


@pytest.mark.parametrize("file", ["docs/python.md", "README.md"])
def test_documents(file, in_a_folder_with_photographs):
    examples = blocks(file)
    assert examples
    names = {}
    for example in examples:
        if any(words in example and not _has(module) for words, module in NEEDS.items()):
            continue
        if "cuda" in example and not cornea.info()["devices"]:
            continue
        exec(compile(example, file, "exec"), names)


def _has(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def test_the_notebook(in_a_folder_with_photographs, monkeypatch):
    """In a Jupyter kernel if there is one, otherwise cell by cell; a failing cell raises here."""
    pytest.importorskip("matplotlib")
    if not (_has("nbclient") and _has("ipykernel")):
        cells = json.loads((ROOT / "examples" / "pair.ipynb").read_text())["cells"]
        names = {}
        for number, cell in enumerate(cell for cell in cells if cell["cell_type"] == "code"):
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
        assert number >= 4 and names["result"].kind == "general"
        return
    import nbclient
    import nbformat

    monkeypatch.delenv("MPLBACKEND")  # the kernel's own shows figures
    notebook = nbformat.read(ROOT / "examples" / "pair.ipynb", 4)
    notebook.cells.append(nbformat.v4.new_code_cell("result.kind"))
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(in_a_folder_with_photographs)}}).execute()
    shown = [[output.get("data", {}) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]
    assert shown[-1][0]["text/plain"] == "'general'"
    assert sum("image/png" in data for outputs in shown for data in outputs) >= 3
    # The result of a pair has a rich representation.
    assert any("text/html" in data and "<img" in data["text/html"] for outputs in shown for data in outputs)


SAMPLE = '''
import cornea
import numpy as np
from numpy.typing import NDArray

image: NDArray[np.uint8] = np.zeros((100, 100), np.uint8)
features: cornea.Features = cornea.detect(image, "sift", max_points=500, doubled=False)
several: list[cornea.Features] = cornea.Harris(window=5).detect([image, image])
x: NDArray[np.float32] = features.x
matches: cornea.Matches = cornea.Matcher(ratio=0.9).match(features, features)
result: cornea.FundamentalResult = cornea.fundamental(matches.points(features, features), seed=3)
if result.F is not None:
    print(result.F @ np.ones(3), result.inlier_count + 1)
pair: cornea.PairResult = cornea.pair(image, image, detector="harris")
pose = cornea.essential(np.zeros((9, 4)), camera1=cornea.Camera(500, 500, 49.5, 49.5)).R
smooth = cornea.filter(image, "gaussian", sigma=2.0)
cornea.colmap.verify("database.db", progress=lambda done, total: print(done, total))
'''


def test_types(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "sample.py").write_text(SAMPLE)
    (tmp_path / "wrong.py").write_text("import cornea\ncornea.pair('a', 'b').F.shape + 'no'\ncornea.nothing()\n")
    environment = dict(os.environ)
    package = Path(cornea.__file__).parents[1]
    if "site-packages" not in package.parts:  # in site-packages mypy finds it by itself and rejects MYPYPATH
        environment["MYPYPATH"] = str(package)

    def check(*files):
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *files]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)

    done = check("sample.py")
    assert done.returncode == 0, done.stdout
    assert check("wrong.py").returncode == 1
