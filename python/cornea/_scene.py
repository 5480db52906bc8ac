# SPDX-License-Identifier: Apache-2.0
"""Synthetic views with exact ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cornea
from ._device import context
from ._options import OptionValue, options_of, settings, with_options

_OPTIONS = options_of("scene")


@dataclass(frozen=True, repr=False)
class View:
    """A view of a scene: x_cam = R x_world + t, pixel ~ K x_cam."""

    name: str
    image: NDArray[np.float32]  #: 0 to 1
    K: NDArray[np.float64]
    R: NDArray[np.float64]
    t: NDArray[np.float64]
    corners: NDArray[np.float64] | None  #: of a checkerboard, exact, n x 2

    def __repr__(self) -> str:
        height, width = self.image.shape
        return f"<cornea.View {self.name}: {width} x {height}>"


@dataclass(frozen=True, repr=False)
class Scene:
    """Views and the exact geometry between them."""

    views: list[View]
    pairs: dict[tuple[int, int], tuple[Any, Any]]

    def F(self, i: int = 0, j: int = 1) -> NDArray[np.float64]:
        """x_j^T F x_i = 0; i < j."""
        matrix: NDArray[np.float64] = self.pairs[i, j][0]
        return matrix

    def H(self, i: int = 0, j: int = 1) -> NDArray[np.float64] | None:
        """x_j ~ H x_i, if the scene is flat; i < j."""
        matrix: NDArray[np.float64] | None = self.pairs[i, j][1]
        return matrix

    def __repr__(self) -> str:
        return f"<cornea.Scene: {len(self.views)} views>"


@with_options(_OPTIONS)
def scene(*, threads: int = 0, **options: OptionValue) -> Scene:
    """Renders synthetic views with exact K, R, t, F and H.

    >>> import cornea
    >>> made = cornea.scene(views=2, width=320, height=240)
    >>> made.views[0].image.shape
    (240, 320)
    >>> made.F(0, 1).shape
    (3, 3)
    """
    views, pairs = _cornea.scene(context("cpu", threads), settings(_OPTIONS, options))
    return Scene([View(**view) for view in views], pairs)
