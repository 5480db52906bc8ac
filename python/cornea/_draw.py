# SPDX-License-Identifier: Apache-2.0
"""Drawing points and matches on images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cornea
from ._device import context
from ._features import Features, Matches
from ._files import is_path, read
from ._options import OptionValue, options_of, settings, with_options

_OPTIONS = options_of("draw")


def _coloured(image: Any) -> Any:
    return read(image, colour=True) if is_path(image) else image


@with_options(_OPTIONS)
def draw(
    image: Any,
    features: Features,
    *,
    colour: tuple[int, int, int] | None = None,
    **options: OptionValue,
) -> NDArray[np.uint8]:
    """The image as RGB with a ring around every point; small images are enlarged. For points with a scale the radius of
    the ring is twice the scale, and a line shows the angle.

    >>> import cornea
    >>> image = cornea.scene(width=320, height=240).views[0].image
    >>> cornea.draw(image, cornea.detect(image, "harris", max_points=20)).shape
    (480, 640, 3)
    """
    return _cornea.draw_points(
        context("cpu", 0), _coloured(image), features._columns, features.octave, settings(_OPTIONS, options), colour
    )


@with_options(_OPTIONS)
def draw_matches(
    first: Any,
    second: Any,
    first_features: Features,
    second_features: Features,
    matches: Matches,
    **options: OptionValue,
) -> NDArray[np.uint8]:
    """Both images side by side as RGB, with one line per match."""
    return _cornea.draw_matches(
        context("cpu", 0),
        _coloured(first),
        _coloured(second),
        first_features._columns,
        first_features.octave,
        second_features._columns,
        second_features.octave,
        matches._parts,
        settings(_OPTIONS, options),
    )
