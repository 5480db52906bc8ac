"""A collection of photographs over the nodes of a Ray cluster: ``pip install 'cornea[ray]'``.

    import cornea.cluster
    summary = cornea.cluster.run("photos", "/mnt/work", address="auto", gpus_per_worker=0.5, db="scene.db")

or ``cornea cluster photos -o /mnt/work --address auto``. It is a thin layer over the shards that the program
makes (``cornea shard plan``, ``cornea extract --shard K/N``, ...): an item is done when its file is in the
folder of the work, so that a run that was stopped goes on, also by other means than Ray. Workers write these
files themselves; through Ray go only the names of items and what became of them.

Nothing of this package is imported by ``import cornea``, and Ray only by run().
"""

from __future__ import annotations

from .collection import run
from .summary import ItemFailed, Summary

__all__ = ["ItemFailed", "Summary", "run"]
