# SPDX-License-Identifier: Apache-2.0
"""Filters: from images to images."""

from __future__ import annotations

import inspect
from typing import Any

from . import _cornea
from ._device import context, name_for
from ._files import image_of, in_groups
from ._options import OptionValue, options_text, settings, table

_FILTERS = table("filters")


class Filter:
    """A filter. Construct it once and apply it to any number of images or lists of images.

    filter     "gaussian", "bilateral" or "trilateral"
    device, threads, stream   as for detect()
    **options  of the filter; see help(cornea.filter)

    Threads may share it; one call runs at a time.
    """

    def __init__(
        self,
        filter: str = "trilateral",
        *,
        device: str = "auto",
        threads: int = 0,
        stream: Any = None,
        **options: OptionValue,
    ) -> None:
        known = _FILTERS[filter].options if filter in _FILTERS else {}
        self._made = _cornea.Filter(context(device, threads, stream), filter, settings(known, options))

    def apply(self, image: Any, *, as_float: bool = False) -> Any:
        """The filtered image, gray, of the same type, or float32: gray levels of 0..255 for an 8-bit or
        16-bit image, the image's own units for a float one. For an image on a GPU the result is a DeviceArray on it. A
        list gives a list."""
        if not isinstance(image, list):
            return self._made.apply([image_of(image)], as_float)[0]
        return in_groups(image, lambda group: self._made.apply(group, as_float))


def filter(
    image: Any,
    filter: str = "trilateral",
    *,
    as_float: bool = False,
    device: str = "auto",
    threads: int = 0,
    stream: Any = None,
    **options: OptionValue,
) -> Any:
    """Smooths an image, or each image of a list. Colour becomes gray.

    filter     "gaussian", "bilateral" or "trilateral"
    as_float   a float32 result: gray levels of 0..255 for an 8-bit or 16-bit image, the image's own
               units for a float one; otherwise the result has the image's type
    device, threads, stream   as for detect()
    **options  of the filter, below

    >>> import cornea
    >>> image = cornea.scene(width=320, height=240).views[0].image
    >>> smooth = cornea.filter(image, "bilateral", sigma=2)
    >>> smooth.shape, smooth.dtype.name
    ((240, 320), 'float32')
    """
    made = Filter(filter, device=name_for(device, image), threads=threads, stream=stream, **options)
    return made.apply(image, as_float=as_float)


filter.__doc__ = (
    inspect.cleandoc(filter.__doc__ or "")
    + "\n\n"
    + "\n\n".join(
        f"Options of {entry.name} ({entry.source}):\n\n{options_text(entry.options)}"
        for entry in _FILTERS.values()
    )
    + "\n"
)
