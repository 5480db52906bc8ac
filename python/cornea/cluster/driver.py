# SPDX-License-Identifier: Apache-2.0
"""Assigns one item at a time to each worker and collects the results."""

from __future__ import annotations

import importlib
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from .summary import ItemFailed, Summary
from .worker import Worker

#: An item that loses more workers or nodes is given up.
_MOST_LOSSES = 20
#: The run ends if more workers than this, one after another, are lost before they have started.
_MOST_FAILED_STARTS = 30
#: A failed item waits so long for a worker that starts, perhaps on another node.
_MOST_SECONDS_OF_START = 60


@dataclass
class _Item:
    step: str
    number: int
    count: int
    tries: int = 0
    losses: int = 0
    bad_nodes: set[str] = field(default_factory=set)
    failed_at: float = 0


@dataclass
class _Hand:
    """The driver's record of a worker."""

    actor: Any
    node: str = ""  # its id; empty: not started yet
    name: str = ""
    item: Optional[_Item] = None


class Driver:
    def __init__(self, ray: Any, settings: dict[str, Any], workers: int, retries: int, summary: Summary, quiet: bool):
        self._ray, self._settings, self._workers, self._retries = ray, settings, workers, retries
        self._summary, self._quiet = summary, quiet
        self._hands: dict[Any, _Hand] = {}  # by the pending Ray object: its start, or its item
        self._idle: list[_Hand] = []
        self._told = 0.0
        self._waits = False
        self._failed_starts = 0  # one after another
        self._rooms: dict[str, int] = {}
        self._asked_for_nodes = -1.0
        self._begun = time.monotonic()
        metrics = importlib.import_module("ray.util.metrics")
        self._gauges = {name: metrics.Gauge(f"cornea_items_{name}", description=f"items of Cornea that are {name}",
                                            tag_keys=("step",)) for name in ("done", "open", "lost", "failed")}
        self._actor = ray.remote(Worker)

    def _room_by_node(self) -> dict[str, int]:
        """For how many workers each node has resources."""
        if time.monotonic() - self._asked_for_nodes > 0.5:
            shares = [(kind, self._settings[key]) for kind, key in (("CPU", "cpus"), ("GPU", "gpus"))]
            self._rooms = {node["NodeID"]: min(int(node["Resources"].get(kind, 0) / share + 1e-9)
                                               for kind, share in shares if share > 0)
                           for node in self._ray.nodes() if node["Alive"]}
            self._asked_for_nodes = time.monotonic()
        return self._rooms

    def _room(self) -> int:
        room = sum(self._room_by_node().values())
        return min(room, self._workers) if self._workers > 0 else room

    def _hire(self, wanted: int) -> None:
        """Backpressure: no more workers than there are resources for, one item per worker; the rest is queued here."""
        count = len(self._hands) + len(self._idle)
        for _ in range(min(wanted, self._room()) - count):  # none if it is negative
            actor = self._actor.options(num_cpus=self._settings["cpus"], num_gpus=self._settings["gpus"],
                                        max_restarts=0, scheduling_strategy="SPREAD").remote(self._settings)
            self._hands[actor.where.remote()] = _Hand(actor)

    def _wanted(self, waiting: deque[_Item]) -> int:
        """How many workers have something to do. An item that failed on the nodes of all workers needs one elsewhere."""
        wanted = len(waiting) + sum(hand.item is not None for hand in self._hands.values())
        nodes = {hand.node for hand in (*self._idle, *self._hands.values())}
        free = {node for node, room in self._room_by_node().items() if room > 0} - nodes
        if any(item.bad_nodes and nodes <= item.bad_nodes and free - item.bad_nodes for item in waiting):
            return max(wanted, len(self._hands) + len(self._idle) + 1)
        return wanted

    def _assign(self, waiting: deque[_Item]) -> None:
        """A failed item goes to another node if a worker is on one, or starts on one soon."""
        hands = (*self._idle, *self._hands.values())
        nodes = {hand.node for hand in hands if hand.node}
        starting = any(not hand.node for hand in hands)

        def fits(hand: _Hand, item: _Item) -> bool:
            waits = starting and time.monotonic() - item.failed_at < _MOST_SECONDS_OF_START
            return hand.node not in item.bad_nodes or (nodes <= item.bad_nodes and not waits)

        for hand in list(self._idle):
            item = next((i for i in waiting if fits(hand, i)), None)
            if item is None:
                continue
            waiting.remove(item)
            self._idle.remove(hand)
            hand.item = item
            item.tries += 1
            self._summary.tries += 1
            self._hands[hand.actor.do.remote(item.step, item.number, item.count)] = hand

    def _log(self, failed: ItemFailed) -> None:
        with open(Path(self._settings["work"]) / "failures.log", "a", errors="replace") as log:
            log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {failed}\n")

    def _lose(self, hand: _Hand, reason: str, waiting: deque[_Item]) -> None:
        item, hand.item = hand.item, None
        if item is None:  # it did not start
            self._failed_starts += 1
            if self._failed_starts > _MOST_FAILED_STARTS:
                raise RuntimeError(f"{self._failed_starts} workers one after another could not start ({reason}); is the "
                                   "package cornea, of this version, installed on all nodes?")
            return
        self._summary.lost.append(ItemFailed(item.step, item.number, hand.name or "?", reason))
        self._log(self._summary.lost[-1])
        item.losses += 1
        if item.losses > _MOST_LOSSES:
            self._summary.failed.append(self._summary.lost[-1])
        else:
            waiting.appendleft(item)

    def _fail(self, item: _Item, hand: _Hand, reason: str, waiting: deque[_Item]) -> None:
        failed = ItemFailed(item.step, item.number, hand.name, reason)
        self._log(failed)
        item.bad_nodes.add(hand.node)
        item.failed_at = time.monotonic()
        if item.tries - item.losses > self._retries:
            self._summary.failed.append(failed)
        else:
            self._summary.tried_again.append(failed)
            waiting.append(item)

    def _take(self, ref: Any, waiting: deque[_Item], follows: dict[str, str]) -> None:
        hand = self._hands.pop(ref)
        try:
            found = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            said = str(error).strip().splitlines() or [""]
            self._lose(hand, f"its worker or node was lost ({type(error).__name__})" if hand.item else said[-1], waiting)
            try:  # if only the connection was lost
                self._ray.kill(hand.actor)
            except Exception:
                pass
            return
        if hand.item is None:
            hand.node, host, pid = found
            hand.name = f"{host}/{hand.node[:8]}/{pid}"
            self._failed_starts = 0
            self._idle.append(hand)
            return
        item, summary = hand.item, self._summary
        if found.get("killed"):
            self._lose(hand, found["error"], waiting)
        elif "error" in found:
            self._fail(item, hand, found["error"], waiting)
        else:
            summary.done[item.step] = summary.done.get(item.step, 0) + 1
            summary.already += found["already"]
            summary.damaged += found["damaged"]
            for sums, key in ((summary.busy_seconds, "seconds"), (summary.cpu_seconds, "cpu_seconds")):
                sums[item.step] = sums.get(item.step, 0) + found[key]
            summary.photographs.extend(s for s in found["failed"] if s not in summary.photographs)
            failed = [sentence.replace("\n", " ") for sentence in found["failed"]]
            summary.notes.extend(line for line in found["lines"]
                                 if not any(line.endswith(sentence) for sentence in failed))
            if item.step in follows:
                waiting.append(_Item(follows[item.step], item.number, item.count))
        hand.item = None
        self._idle.append(hand)

    def _tell(self, steps: Sequence[str], count: int, waiting: int, last: bool = False) -> None:
        summary, now = self._summary, time.monotonic()
        if not last and now - self._told < 1:
            return
        self._told = now
        for step in steps:
            done = summary.done.get(step, 0)
            for name, value in (("done", done), ("open", count - done),
                                ("lost", sum(f.step == step for f in summary.lost)),
                                ("failed", sum(f.step == step for f in summary.failed))):
                self._gauges[name].set(value, tags={"step": step})
        if self._quiet or not sys.stderr.isatty():
            return
        words = ", ".join(f"{step} {summary.done.get(step, 0)}/{count}" for step in steps)
        line = (f"{words}; {len(self._hands)} at work, {waiting} wait, {len(summary.lost)} lost, "
                f"{now - self._begun:.0f} s")
        sys.stderr.write("\r\x1b[K" + line + ("\n" if last else ""))
        sys.stderr.flush()

    def _wait_for_nodes(self) -> None:
        """All nodes are gone, or none has resources for a worker; waits for others."""
        if not self._waits:
            self._waits = True
            self._summary.notes.append("for a time no node had room for a worker")
            if not self._quiet:
                print("cornea: no node has room for a worker; waiting for one", file=sys.stderr)
        time.sleep(1)

    def do(self, steps: Sequence[str], count: int) -> bool:
        """Processes all items of a group; returns whether all were done."""
        waiting = deque(_Item(steps[0], number, count) for number in range(1, count + 1))
        follows = dict(zip(steps, steps[1:]))
        failed_before, begin = len(self._summary.failed), time.monotonic()
        while waiting or any(hand.item for hand in self._hands.values()):
            self._hire(self._wanted(waiting))
            self._assign(waiting)
            ready, _ = self._ray.wait(list(self._hands), num_returns=1, timeout=1.0) if self._hands else ([], [])
            for ref in ready:
                self._take(ref, waiting, follows)
            if not self._hands and not self._idle:
                self._wait_for_nodes()
            self._tell(steps, count, len(waiting))
        self._summary.wall_seconds[steps[0]] = time.monotonic() - begin
        self._tell(steps, count, 0, last=True)
        return len(self._summary.failed) == failed_before

    def dismiss(self) -> None:
        for hand in (*self._idle, *self._hands.values()):
            try:
                self._ray.kill(hand.actor)
            except Exception:
                pass
