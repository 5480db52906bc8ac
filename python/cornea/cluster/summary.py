"""What became of a collection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional


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
    damaged: int = 0  # items whose file was there and damaged; they were made again, and `notes` says which
    notes: list[str] = field(default_factory=list)  # files that were made again, and the like
    merged: Optional[dict[str, Any]] = None
    finished: bool = False  # all steps

    @property
    def exit_code(self) -> int:
        """0 where everything is in the result and nothing asks for a look: no file was damaged, and no item failed on
        a node, as where its disk is full. Workers and nodes that were lost do not count."""
        asks = self.failed or self.tried_again or self.photographs or self.damaged
        return 0 if self.finished and not asks else 1

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
