# SPDX-License-Identifier: Apache-2.0
"""All steps of a collection, in order."""

from __future__ import annotations

import importlib
import os
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from .driver import Driver
from .photographs import is_url, write_list
from .program import ProgramFailed, call, find_program, local_folder
from .summary import ItemFailed, Summary

PathLike = Union[str, "os.PathLike[str]"]

#: The steps in order, in groups: the second step of a group runs for an item directly after the first.
_GROUPS = (("extract",), ("choose",), ("match", "verify"), ("choose_further",), ("match_further", "verify_further"))


#: Seconds after which a file that another node has written is visible here, on a network mount that caches folders.
_VISIBLE_AFTER = 90


def _count(program: str, work: str, step: str) -> int:
    """The number of items of a step, all of whose inputs are done."""
    begin = time.monotonic()
    while True:
        try:
            status, _ = call(program, ["shard", "status", work])
        except ProgramFailed as failed:
            raise RuntimeError(failed.reason) from None
        found = next(s for s in status["steps"] if s["step"] == step)
        if found["known"]:
            return int(found["items"])
        if time.monotonic() - begin > _VISIBLE_AFTER:
            raise RuntimeError(f"{work}: the items of the step {step} cannot be counted, though the steps before it are "
                               "done; is this the same folder on all nodes?")
        time.sleep(1)


def run(photos: PathLike, work: PathLike, address: Optional[str] = None, gpus_per_worker: float = 1, *,
        cpus_per_worker: float = 1, workers: int = 0, retries: int = 3, size: int = 1000, options: Sequence[str] = (),
        db: Optional[PathLike] = None, by_component: Optional[PathLike] = None, no_descriptors: bool = False,
        local: str = "", storage_options: Optional[Mapping[str, Any]] = None, quiet: bool = False,
        program: str = "") -> Summary:
    """Runs all steps of a collection and returns a summary; a failed item raises no exception.

    photos: a folder that all nodes can access, or a URL for fsspec (with `storage_options`), from which each worker
        downloads the photographs of its shard.
    work: a folder that all nodes can access, for the plan and the files of all items.
    address: of a Ray cluster; "auto": the one that runs on this machine. None: the one to which this process is
        connected, or a new local one.
    gpus_per_worker: 1; a fraction such as 0.5 if workers share a GPU; 0: the CPU.
    cpus_per_worker: cores, and threads of the program.
    workers: most concurrent workers; 0: as many as the cluster has resources for.
    retries: how often a failed item is retried, on another node if there is one.
    size, options: of the plan: images per shard, and flags of `cornea shard plan`.
    db, by_component, no_descriptors: merge all at the end, here.
    local: a folder on each node's own disk for temporary files; variables such as $TMPDIR are those of the node.
    """
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        raise ImportError("cornea.cluster needs Ray: pip install 'cornea[ray]'") from error
    if gpus_per_worker < 0 or cpus_per_worker < 0 or gpus_per_worker + cpus_per_worker == 0:
        raise ValueError("a worker has some share of a GPU or of the cores")
    begin = time.monotonic()
    here = find_program(program)
    source = os.fspath(photos) if is_url(os.fspath(photos)) else os.path.abspath(photos)
    folder = os.path.abspath(work)
    summary = Summary(folder)
    _plan(here, source, folder, size, options, storage_options or {}, summary)
    starts = not ray.is_initialized()
    if starts:
        ray.init(address=address, log_to_driver=False, include_dashboard=None)
    try:
        if gpus_per_worker > 0 and ray.cluster_resources().get("GPU", 0) < min(gpus_per_worker, 1):
            raise RuntimeError("this cluster has no GPU; gpus_per_worker=0 (--gpus-per-worker 0) uses its cores")
        settings = {"photos": source, "work": folder, "gpus": gpus_per_worker, "cpus": cpus_per_worker, "local": local,
                    "program": program, "storage_options": dict(storage_options or {})}
        driver = Driver(ray, settings, workers, retries, summary, quiet)
        try:
            summary.finished = all(driver.do(steps, _count(here, folder, steps[0])) for steps in _GROUPS)
        finally:
            driver.dismiss()
    finally:
        if starts:
            ray.shutdown()
    if summary.finished and (db or by_component):
        _merge(here, folder, db, by_component, no_descriptors, local_folder(local), summary)
    summary.seconds = time.monotonic() - begin
    return summary


def _plan(program: str, photos: str, work: str, size: int, options: Sequence[str],
          storage_options: Mapping[str, Any], summary: Summary) -> None:
    words = ["shard", "plan", photos, "-o", work, "--size", str(size), *options]
    try:
        if is_url(photos):
            with tempfile.TemporaryDirectory() as folder:
                names = Path(folder) / "names"
                write_list(photos, storage_options, names)
                found, _ = call(program, [*words, "--list", str(names)])
        else:
            found, _ = call(program, words)
        summary.photographs.extend(found["unreadable"])
    except ProgramFailed as failed:
        # An existing plan that no longer matches the folder is kept: changes are reported, and the rest is processed.
        if not (Path(work) / "plan.txt").exists() or "other photographs" not in failed.reason:
            raise RuntimeError(failed.reason) from None
        summary.photographs.append(failed.reason)


def _merge(program: str, work: str, db: Optional[PathLike], by_component: Optional[PathLike], no_descriptors: bool,
           local: str, summary: Summary) -> None:
    words = ["merge", work, *(["--db", os.fspath(db)] if db else []),
             *(["--by-component", os.fspath(by_component)] if by_component else []),
             *(["--no-descriptors"] if no_descriptors else []), *(["--local", local] if local else [])]
    try:
        summary.merged, _ = call(program, words)
    except ProgramFailed as failed:
        summary.failed.append(ItemFailed("merge", 1, socket.gethostname(), failed.reason))
