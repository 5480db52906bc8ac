# SPDX-License-Identifier: Apache-2.0
"""Processes a collection of photographs on the nodes of a Ray cluster: ``pip install 'cornea[ray]'``.

    import cornea.cluster
    summary = cornea.cluster.run("photos", "/mnt/work", address="auto", gpus_per_worker=0.5, db="scene.db")

or ``cornea cluster photos -o /mnt/work --address auto``. It is a thin layer over the program's shards (``cornea shard
plan``, ``cornea extract --shard K/N``, ...): an item is done when its file is in the work folder, so that a stopped run
can be resumed, with or without Ray. Workers write these files themselves; only the names of items and their results go
through Ray.

``import cornea`` does not import this package, and only run() imports Ray.
"""

from __future__ import annotations

from .collection import run
from .summary import ItemFailed, Summary

__all__ = ["ItemFailed", "Summary", "run"]
