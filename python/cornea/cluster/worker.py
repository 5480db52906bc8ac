# SPDX-License-Identifier: Apache-2.0
"""The Ray actor that runs on the nodes."""

from __future__ import annotations

import importlib
import os
import socket
import time
from typing import Any

from .photographs import fetch_photographs, is_url, names_of_shard, scratch_folder
from .program import ProgramFailed, call, cpu_of_children, find_program, local_folder


class Worker:
    """An actor that processes one item at a time with the program, on its share of its node."""

    def __init__(self, settings: dict[str, Any]):
        self._settings = settings

    def where(self) -> tuple[str, str, int]:
        """The node's id and name, and the id of this process."""
        ray = importlib.import_module("ray")
        return ray.get_runtime_context().get_node_id(), socket.gethostname(), os.getpid()

    def do(self, step: str, number: int, count: int) -> dict[str, Any]:
        """Processes an item and returns its result; failures are results, so that only lost workers are Ray errors."""
        begin, cpu = time.monotonic(), cpu_of_children()
        try:
            found, lines = self._do(step, number, count)
            found["lines"] = lines
        except ProgramFailed as failed:
            found = {"error": failed.reason, "killed": failed.killed}
        except Exception as error:  # a failed download, or a missing program
            found = {"error": f"{type(error).__name__}: {error}", "killed": False}
        found["seconds"], found["cpu_seconds"] = time.monotonic() - begin, cpu_of_children() - cpu
        return found

    def _do(self, step: str, number: int, count: int) -> tuple[dict[str, Any], list[str]]:
        s = self._settings
        local = local_folder(s["local"])
        where = ["--device", "cuda" if s["gpus"] > 0 else "cpu", "--threads", str(max(1, int(s["cpus"])))]
        if local:
            where += ["--local", local]
        program = find_program(s["program"])
        if step in ("choose", "choose_further"):
            return call(program, ["shard", "pairs" if step == "choose" else "further", s["work"], *where])
        item = ["--work", s["work"], "--shard", f"{number}/{count}", *where]
        if step == "extract":
            if not is_url(s["photos"]):
                return call(program, ["extract", s["photos"], *item])
            with scratch_folder(local) as folder:
                fetch_photographs(s["photos"], names_of_shard(s["work"], number), folder, s["storage_options"])
                return call(program, ["extract", str(folder), *item])
        further = ["--further"] if step.endswith("_further") else []
        return call(program, ["match-all" if step.startswith("match") else "verify", *further, *item])
