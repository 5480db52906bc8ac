# SPDX-License-Identifier: Apache-2.0
"""The summary of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional


@dataclass
class ItemFailed:
    """An item, or one attempt at it, that failed."""

    step: str
    item: int
    node: str
    reason: str

    def __str__(self) -> str:
        return f"{self.step} {self.item} on {self.node}: {self.reason}"


@dataclass
class Summary:
    """The result of a run. The files in the work folder are authoritative, not this summary."""

    work: str
    done: dict[str, int] = field(default_factory=dict)  # items per step, including those of earlier runs
    already: int = 0  # of these, by earlier runs
    seconds: float = 0
    wall_seconds: dict[str, float] = field(default_factory=dict)  # per step, including the one that follows it directly
    busy_seconds: dict[str, float] = field(default_factory=dict)  # over all workers, per step
    cpu_seconds: dict[str, float] = field(default_factory=dict)  # of the program on the workers
    tries: int = 0  # attempts that were started
    lost: list[ItemFailed] = field(default_factory=list)  # attempts whose worker or node was lost
    tried_again: list[ItemFailed] = field(default_factory=list)  # attempts that failed
    failed: list[ItemFailed] = field(default_factory=list)  # items that were given up
    photographs: list[str] = field(default_factory=list)  # and anything else missing in the result, one sentence each
    damaged: int = 0  # items whose existing file was damaged; they were recomputed and are listed in `notes`
    notes: list[str] = field(default_factory=list)  # recomputed files and similar events
    merged: Optional[dict[str, Any]] = None
    finished: bool = False  # all steps

    @property
    def exit_code(self) -> int:
        """0 if everything is in the result and nothing needs attention: no file was damaged, and no item failed on a
        node, for example because its disk was full. Lost workers and nodes do not count."""
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
