# SPDX-License-Identifier: Apache-2.0
"""Photographs below a URL: their list for the plan, and the download of one shard to this node's disk."""

from __future__ import annotations

import fcntl
import importlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes


def is_url(photos: str) -> bool:
    return "://" in photos


def _open_url(url: str, storage_options: Mapping[str, Any]) -> tuple[Any, str]:
    try:
        fsspec = importlib.import_module("fsspec")
    except ImportError as error:
        raise ImportError(f"{url}: URLs are read through fsspec; pip install fsspec, and s3fs, gcsfs or adlfs") from error
    system, root = fsspec.core.url_to_fs(url, **storage_options)
    return system, root.rstrip("/")


def _escaped(name: str) -> str:
    return "".join(f"%{b:02X}" if b < 0x20 or b in (0x7F, 0x25) else chr(b)
                   for b in name.encode(errors="surrogateescape"))


def write_list(url: str, storage_options: Mapping[str, Any], file: Path) -> None:
    """Writes the lines BYTES NAME of all files below a URL, for `cornea shard plan --list`."""
    system, root = _open_url(url, storage_options)
    found = system.find(root, detail=True)
    with open(file, "w", encoding="latin-1") as out:  # keeps the bytes of names
        for path, info in found.items():
            name = path[len(root):].lstrip("/")
            if name:
                out.write(f"{info['size']} {_escaped(name)}\n")


def names_of_shard(work: str, number: int) -> list[str]:
    """The names of a shard's photographs, from the plan."""
    names: list[bytes] = []
    size = 0
    with open(Path(work) / "plan.txt", "rb") as lines:
        for line in lines:
            if line.startswith(b"size="):
                size = int(line[5:])
            if line.startswith(b"images="):
                break
        for index, line in enumerate(lines):
            if index >= number * size or line.startswith(b"hash="):
                break
            if index >= (number - 1) * size:
                names.append(unquote_to_bytes(line.rstrip(b"\n").split(b" ", 1)[1]))
    return [name.decode(errors="surrogateescape") for name in names]


@contextmanager
def scratch_folder(local: str) -> Iterator[Path]:
    """A folder on this node's disk. The program removes those of killed workers, which it recognises by their lock."""
    place = local or tempfile.gettempdir()
    os.makedirs(place, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="cornea-item-", dir=place)
    try:
        with open(Path(folder) / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fetch_photographs(url: str, names: Sequence[str], folder: Path, storage_options: Mapping[str, Any]) -> None:
    """Downloads photographs. Missing ones are skipped; the program reports them."""
    system, root = _open_url(url, storage_options)

    def fetch(name: str) -> None:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            system.get_file(f"{root}/{name}", str(target))
        except FileNotFoundError:
            target.unlink(missing_ok=True)

    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(fetch, names):
            pass
