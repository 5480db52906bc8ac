"""A collection of photographs over the nodes of a Ray cluster: ``pip install 'cornea[ray]'``.

    import cornea.cluster
    summary = cornea.cluster.run("photos", "/mnt/work", address="auto", gpus_per_worker=0.5, db="scene.db")

or ``cornea cluster photos -o /mnt/work --address auto``. It is a thin layer over the shards that the program
makes (``cornea shard plan``, ``cornea extract --shard K/N``, ...): an item is done when its file is in the
folder of the work, so that a run that was stopped goes on, also by other means than Ray. Workers write these
files themselves; through Ray go only the names of items and what became of them.

Nothing of this module is imported by ``import cornea``, and Ray only by run().
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import importlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Union
from urllib.parse import unquote_to_bytes

__all__ = ["ItemFailed", "Summary", "run"]

PathLike = Union[str, "os.PathLike[str]"]

#: The steps in their order, in groups: an item of the second of a group follows that of the first.
_GROUPS = (("extract",), ("choose",), ("match", "verify"), ("choose_further",), ("match_further", "verify_further"))
#: Workers and nodes that were lost under an item before it is given up.
_MOST_LOSSES = 10


@dataclass
class ItemFailed:
    """An item, or one try of it, that failed."""

    step: str
    item: int
    node: str
    reason: str

    def __str__(self) -> str:
        return f"{self.step} {self.item} on {self.node}: {self.reason}"


@dataclass
class Summary:
    """What a run did. Its items are in the folder of the work, whatever this says."""

    work: str
    done: dict[str, int] = field(default_factory=dict)  # items of each step, with those of earlier runs
    already: int = 0  # of these: by earlier runs
    seconds: float = 0
    wall_seconds: dict[str, float] = field(default_factory=dict)  # of each step, with the one that goes along with it
    busy_seconds: dict[str, float] = field(default_factory=dict)  # of all workers, by step
    cpu_seconds: dict[str, float] = field(default_factory=dict)  # of the program on them
    tries: int = 0  # items that were started
    lost: list[ItemFailed] = field(default_factory=list)  # tries whose worker or node was lost
    tried_again: list[ItemFailed] = field(default_factory=list)  # tries that failed
    failed: list[ItemFailed] = field(default_factory=list)  # items that were given up
    photographs: list[str] = field(default_factory=list)  # and what else is not in the result, a sentence each
    notes: list[str] = field(default_factory=list)  # files that were damaged and made again, and the like
    merged: Optional[dict[str, Any]] = None
    finished: bool = False  # all steps

    @property
    def exit_code(self) -> int:
        """0 where everything is in the result."""
        return 0 if self.finished and not self.failed and not self.photographs else 1

    def __str__(self) -> str:
        lines = [f"{sum(self.done.values())} items done, {self.already} of them before, in {self.seconds:.1f} s: "
                 + ", ".join(f"{step} {count}" for step, count in self.done.items())]
        for title, entries in (("lost with their worker and done again", self.lost),
                               ("failed and tried again", self.tried_again), ("given up", self.failed),
                               ("not in the result", self.photographs), ("noted", self.notes)):
            if entries:
                lines.append(f"{len(entries)} {title}:")
                lines.extend(f"  {entry}" for entry in entries)
        if not self.finished:
            lines.append("the rest is not done; the same command goes on")
        if self.merged:
            lines.append(f"merged: {self.merged['images']} images, {self.merged['verified']} verified pairs, "
                         f"{len(self.merged['components'])} components: {self.merged['database']}")
        return "\n".join(lines)


class _ProgramFailed(Exception):
    def __init__(self, reason: str, killed: bool):
        super().__init__(reason)
        self.reason, self.killed = reason, killed


def _program(given: str = "") -> str:
    """Here, on whichever node that is."""
    for candidate in (given, os.environ.get("CORNEA_PROGRAM", ""), str(Path(__file__).parent / "bin" / "cornea"),
                      shutil.which("cornea") or ""):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise FileNotFoundError("the program cornea is not on this node; install the package there, or name it by CORNEA_PROGRAM")


def _die_with_parent() -> None:
    """A worker that is killed takes the program with it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _call(program: str, words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The program's JSON and its lines on standard error."""
    done = subprocess.run([program, *words, "--quiet", "--json", "-"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", preexec_fn=_die_with_parent)
    lines = done.stderr.strip().splitlines()
    if done.returncode in (0, 1) and done.stdout.strip():
        found: dict[str, Any] = json.loads(done.stdout)
        return found, lines
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise _ProgramFailed(f"the program was ended by {name}", done.returncode == -signal.SIGKILL)
    raise _ProgramFailed(lines[-1] if lines else f"the program ended with {done.returncode}", False)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _is_url(photos: str) -> bool:
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


def _write_list(url: str, storage_options: Mapping[str, Any], file: Path) -> None:
    """BYTES NAME of all that lies below a URL, for `cornea shard plan --list`."""
    system, root = _open_url(url, storage_options)
    found = system.find(root, detail=True)
    with open(file, "w", encoding="latin-1") as out:  # names are bytes here
        for path, info in found.items():
            name = path[len(root):].lstrip("/")
            if name:
                out.write(f"{info['size']} {_escaped(name)}\n")


def _names_of_shard(work: str, number: int) -> list[str]:
    """Of the plan's file."""
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
def _scratch(local: str) -> Iterator[Path]:
    """A folder on this node's disk; the program removes what killed workers left, by the lock in it."""
    place = local or tempfile.gettempdir()
    os.makedirs(place, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="cornea-item-", dir=place)
    try:
        with open(Path(folder) / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fetch(url: str, names: Sequence[str], folder: Path, storage_options: Mapping[str, Any]) -> None:
    """What is gone is left out; the program says so."""
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


class _Worker:
    """An actor: does one item at a time with the program, on its share of its node."""

    def __init__(self, settings: dict[str, Any]):
        self._settings = settings

    def where(self) -> tuple[str, str, int]:
        """Node id, its name and this process."""
        ray = importlib.import_module("ray")
        return ray.get_runtime_context().get_node_id(), socket.gethostname(), os.getpid()

    def do(self, step: str, number: int, count: int) -> dict[str, Any]:
        """What became of an item; failures are results, so that only lost workers are errors of Ray."""
        begin, cpu = time.monotonic(), _cpu_of_children()
        try:
            found, lines = self._do(step, number, count)
            found["lines"] = lines
        except _ProgramFailed as failed:
            found = {"error": failed.reason, "killed": failed.killed}
        except Exception as error:  # of a download, or a program that is not there
            found = {"error": f"{type(error).__name__}: {error}", "killed": False}
        found["seconds"], found["cpu_seconds"] = time.monotonic() - begin, _cpu_of_children() - cpu
        return found

    def _do(self, step: str, number: int, count: int) -> tuple[dict[str, Any], list[str]]:
        s = self._settings
        local = os.path.expandvars(s["local"]) if s["local"] else ""
        where = ["--device", "cuda" if s["gpus"] > 0 else "cpu", "--threads", str(max(1, int(s["cpus"])))]
        if local:
            where += ["--local", local]
        program = _program(s["program"])
        if step in ("choose", "choose_further"):
            return _call(program, ["shard", "pairs" if step == "choose" else "further", s["work"], *where])
        item = ["--work", s["work"], "--shard", f"{number}/{count}", *where]
        if step == "extract":
            if not _is_url(s["photos"]):
                return _call(program, ["extract", s["photos"], *item])
            with _scratch(local) as folder:
                _fetch(s["photos"], _names_of_shard(s["work"], number), folder, s["storage_options"])
                return _call(program, ["extract", str(folder), *item])
        further = ["--further"] if step.endswith("_further") else []
        return _call(program, ["match-all" if step.startswith("match") else "verify", *further, *item])


@dataclass
class _Item:
    step: str
    number: int
    count: int
    tries: int = 0
    losses: int = 0
    bad_nodes: set[str] = field(default_factory=set)


@dataclass
class _Hand:
    """A worker as the driver sees it."""

    actor: Any
    node: str = ""  # its id; empty: not started yet
    name: str = ""
    item: Optional[_Item] = None


class _Driver:
    def __init__(self, ray: Any, settings: dict[str, Any], workers: int, retries: int, summary: Summary, quiet: bool):
        self._ray, self._settings, self._workers, self._retries = ray, settings, workers, retries
        self._summary, self._quiet = summary, quiet
        self._hands: dict[Any, _Hand] = {}  # by what is waited for: its start, or its item
        self._idle: list[_Hand] = []
        self._told = 0.0
        self._waits = False
        self._begun = time.monotonic()
        metrics = importlib.import_module("ray.util.metrics")
        self._gauges = {name: metrics.Gauge(f"cornea_items_{name}", description=f"items of Cornea that are {name}",
                                            tag_keys=("step",)) for name in ("done", "open", "lost", "failed")}
        self._actor = ray.remote(_Worker)

    def _room(self) -> int:
        """For how many workers the cluster has room now."""
        have, s = self._ray.cluster_resources(), self._settings
        room = int(have.get("CPU", 0) / s["cpus"]) if s["cpus"] > 0 else 1000
        if s["gpus"] > 0:
            room = min(room, int(have.get("GPU", 0) / s["gpus"] + 1e-9))
        return min(room, self._workers) if self._workers > 0 else room

    def _hire(self, wanted: int) -> None:
        """Backpressure: no more workers than there is room for, and one item per worker; the rest waits here."""
        count = len(self._hands) + len(self._idle)
        for _ in range(min(wanted, self._room()) - count):
            actor = self._actor.options(num_cpus=self._settings["cpus"], num_gpus=self._settings["gpus"],
                                        max_restarts=0, scheduling_strategy="SPREAD").remote(self._settings)
            self._hands[actor.where.remote()] = _Hand(actor)

    def _assign(self, waiting: deque[_Item]) -> None:
        """An item that failed goes to another node, where a worker is on one."""
        nodes = {hand.node for hand in (*self._idle, *self._hands.values()) if hand.node}
        for hand in list(self._idle):
            item = next((i for i in waiting if hand.node not in i.bad_nodes or nodes <= i.bad_nodes), None)
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
        if item is None:
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
            self._lose(hand, f"its worker or node was lost ({type(error).__name__})", waiting)
            try:  # where only the connection is gone
                self._ray.kill(hand.actor)
            except Exception:
                pass
            return
        if hand.item is None:
            hand.node, host, pid = found
            hand.name = f"{host}/{hand.node[:8]}/{pid}"
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
        """Every node is gone, or none has room for a worker; others may come."""
        if not self._waits:
            self._waits = True
            self._summary.notes.append("for a time no node had room for a worker")
            if not self._quiet:
                print("cornea: no node has room for a worker; waiting for one", file=sys.stderr)
        time.sleep(1)

    def do(self, steps: Sequence[str], count: int) -> bool:
        """All items of a group; whether each was done."""
        waiting = deque(_Item(steps[0], number, count) for number in range(1, count + 1))
        follows = dict(zip(steps, steps[1:]))
        failed_before, begin = len(self._summary.failed), time.monotonic()
        while waiting or any(hand.item for hand in self._hands.values()):
            self._hire(len(waiting) + sum(hand.item is not None for hand in self._hands.values()))
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


def _count(program: str, work: str, step: str) -> int:
    status, _ = _call(program, ["shard", "status", work])
    return int(next(s["items"] for s in status["steps"] if s["step"] == step))


def run(photos: PathLike, work: PathLike, address: Optional[str] = None, gpus_per_worker: float = 1, *,
        cpus_per_worker: float = 1, workers: int = 0, retries: int = 3, size: int = 1000, options: Sequence[str] = (),
        db: Optional[PathLike] = None, by_component: Optional[PathLike] = None, no_descriptors: bool = False,
        local: str = "", storage_options: Optional[Mapping[str, Any]] = None, quiet: bool = False,
        program: str = "") -> Summary:
    """Does all steps of a collection and returns what became of them; an item that fails raises nothing.

    photos: a folder that all nodes see, or a URL that fsspec opens (with `storage_options`), of which each
        worker fetches the photographs of its shard.
    work: a folder that all nodes see, for the plan and the files of all items.
    address: of a Ray cluster; "auto": the one that runs here. None: the one that this process is connected
        to, or a new one on this machine.
    gpus_per_worker: 1; a share, as 0.5, where workers share a GPU; 0: the CPU.
    cpus_per_worker: cores, and threads of the program.
    workers: at most so many at a time; 0: as many as the cluster has room for.
    retries: how often an item that fails is tried again, on another node where there is one.
    size, options: of the plan: images per shard, and flags of `cornea shard plan`.
    db, by_component, no_descriptors: merge all at the end, here.
    local: a folder on each node's own disk, where files are made; variables as $TMPDIR are those of the node.
    """
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        raise ImportError("cornea.cluster needs Ray: pip install 'cornea[ray]'") from error
    if gpus_per_worker < 0 or cpus_per_worker < 0 or gpus_per_worker + cpus_per_worker == 0:
        raise ValueError("a worker has some share of a GPU or of the cores")
    begin = time.monotonic()
    here = _program(program)
    source = os.fspath(photos) if _is_url(os.fspath(photos)) else os.path.abspath(photos)
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
        driver = _Driver(ray, settings, workers, retries, summary, quiet)
        try:
            summary.finished = all(driver.do(steps, _count(here, folder, steps[0])) for steps in _GROUPS)
        finally:
            driver.dismiss()
    finally:
        if starts:
            ray.shutdown()
    if summary.finished and (db or by_component):
        _merge(here, folder, db, by_component, no_descriptors, os.path.expandvars(local), summary)
    summary.seconds = time.monotonic() - begin
    return summary


def _plan(program: str, photos: str, work: str, size: int, options: Sequence[str],
          storage_options: Mapping[str, Any], summary: Summary) -> None:
    words = ["shard", "plan", photos, "-o", work, "--size", str(size), *options]
    try:
        if _is_url(photos):
            with tempfile.TemporaryDirectory() as folder:
                names = Path(folder) / "names"
                _write_list(photos, storage_options, names)
                found, _ = _call(program, [*words, "--list", str(names)])
        else:
            found, _ = _call(program, words)
        summary.photographs.extend(found["unreadable"])
    except _ProgramFailed as failed:
        # A plan that is there and does not fit any more is kept to: what changed is named, the rest is done.
        if not (Path(work) / "plan.txt").exists() or "other photographs" not in failed.reason:
            raise RuntimeError(failed.reason) from None
        summary.photographs.append(failed.reason)


def _merge(program: str, work: str, db: Optional[PathLike], by_component: Optional[PathLike], no_descriptors: bool,
           local: str, summary: Summary) -> None:
    words = ["merge", work, *(["--db", os.fspath(db)] if db else []),
             *(["--by-component", os.fspath(by_component)] if by_component else []),
             *(["--no-descriptors"] if no_descriptors else []), *(["--local", local] if local else [])]
    try:
        summary.merged, _ = _call(program, words)
    except _ProgramFailed as failed:
        summary.failed.append(ItemFailed("merge", 1, socket.gethostname(), failed.reason))


def main(words: Optional[Sequence[str]] = None) -> int:
    """``cornea cluster``."""
    parser = argparse.ArgumentParser(
        "cornea cluster", description="All steps of a collection of photographs over a Ray cluster.",
        epilog="Options of `cornea shard plan` are taken too.", allow_abbrev=False)
    parser.add_argument("photographs")
    parser.add_argument("-o", "--out", required=True, metavar="WORK")
    parser.add_argument("--address")
    parser.add_argument("--gpus-per-worker", type=float, default=1)
    parser.add_argument("--cpus-per-worker", type=float, default=1)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--retries", type=int, default=3)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--db")
    parser.add_argument("--by-component", metavar="DIR")
    parser.add_argument("--no-descriptors", action="store_true")
    parser.add_argument("--local", default="", metavar="DIR")
    parser.add_argument("-q", "--quiet", action="store_true")
    given, options = parser.parse_known_args(words)
    try:
        summary = run(given.photographs, given.out, given.address, given.gpus_per_worker,
                      cpus_per_worker=given.cpus_per_worker, workers=given.workers, retries=given.retries,
                      size=given.size, options=options, db=given.db, by_component=given.by_component,
                      no_descriptors=given.no_descriptors, local=given.local, quiet=given.quiet)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"cornea: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("cornea: interrupted; all items that are done are kept, and the same command goes on", file=sys.stderr)
        return 130
    print(summary)
    return summary.exit_code


if __name__ == "__main__":
    sys.exit(main())
