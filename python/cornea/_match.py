# SPDX-License-Identifier: Apache-2.0
"""Descriptor matching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cornea
from ._device import context
from ._features import Features, Matches, one_per_place
from ._options import OptionValue, options_of, settings, with_options

_OPTIONS = options_of("match")


def _descriptors(thing: Any, what: str) -> Any:
    if not isinstance(thing, Features):
        return thing
    if thing.descriptors is None:
        raise ValueError(
            f"{what} points have no descriptors; use Sift, or detect(..., describe=True) for corners"
        )
    return thing.descriptors


@with_options(_OPTIONS)
class Matcher:
    """Exact nearest-neighbour matching of descriptors. Construct it once and apply it to any number of pairs. Threads
    may share it; one call runs at a time."""

    def __init__(
        self, *, device: str = "auto", threads: int = 0, stream: Any = None, **options: OptionValue
    ) -> None:
        self._made = _cornea.Matcher(context(device, threads, stream), settings(_OPTIONS, options))

    def match(self, a: Any, b: Any, *, places_once: bool = True) -> Matches:
        """The matches of two Features or of two arrays of descriptors (n x 128 uint8), in the order of
        the first. If both are Features, duplicate matches between the same two positions (points with several
        orientations) are removed; places_once=False keeps them."""
        return self.match_batch([(a, b)], places_once=places_once)[0]

    def match_batch(self, pairs: Sequence[tuple[Any, Any]], *, places_once: bool = True) -> list[Matches]:
        """The same for many pairs in one call."""
        given = [(_descriptors(a, "the first"), _descriptors(b, "the second")) for a, b in pairs]
        if not given:
            return []
        found = [Matches._of(parts) for parts in self._made.match(given)]
        if places_once:
            for i, (a, b) in enumerate(pairs):
                if isinstance(a, Features) and isinstance(b, Features):
                    found[i] = one_per_place(found[i], a, b)
        return found

    def nearest(self, a: Any, b: Any) -> NDArray[np.int32]:
        """n x 4 int32: for every descriptor of `a` the nearest one of `b`, its squared distance, the second nearest,
        its squared distance; -1 and 2147483647 if there is none. No ratio or mutual test is applied."""
        return self._made.nearest(_descriptors(a, "the first"), _descriptors(b, "the second"))

    @property
    def kernel(self) -> str:
        """The kernel that computed the dot products of the last call: "avx512-vnni", "tensor cores", ..."""
        return str(self._made.kernel)


@with_options(_OPTIONS)
def match(
    a: Any,
    b: Any,
    *,
    places_once: bool = True,
    device: str = "auto",
    threads: int = 0,
    stream: Any = None,
    **options: OptionValue,
) -> Matches:
    """Matches two Features, or two arrays of descriptors (n x 128 uint8).

    >>> import cornea
    >>> first, second = (view.image for view in cornea.scene(width=320, height=240).views)
    >>> a, b = cornea.detect(first, "sift"), cornea.detect(second, "sift")
    >>> matches = cornea.match(a, b)
    >>> points = matches.points(a, b)  # n x 4: x1, y1, x2, y2
    >>> points.shape == (len(matches), 4)
    True
    """
    place = context(device, threads, None, _descriptors(a, "the first"))
    matcher = Matcher(device=place.name, threads=threads, stream=stream, **options)
    return matcher.match(a, b, places_once=places_once)
