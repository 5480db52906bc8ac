# SPDX-License-Identifier: Apache-2.0
"""Image files and arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Union

from numpy.typing import NDArray

from . import _cornea

PathLike = Union[str, "os.PathLike[str]"]
#: The stored values of black and white, "auto" (16-bit images with values up to 4095 are 12-bit) or "full".
Range = Union[str, tuple[float, float]]


def is_path(thing: Any) -> bool:
    return isinstance(thing, (str, os.PathLike))


def read(
    file: PathLike,
    *,
    colour: bool = False,
    upright: bool = False,
    range: Range = "auto",
    max_pixels: int = _cornea.MAX_PIXELS,
) -> NDArray[Any]:
    """Reads an image file: PNG, JPEG, PBM/PGM/PPM, PFM, TIFF, WebP.

    Returns height x width (gray), or height x width x 3 (RGB) with `colour`, as uint8, uint16 or
    float32 (0 to 1), whichever the file holds. Pixels are returned as stored; `upright` applies the EXIF orientation.
    `range` gives the stored values of black and white: "auto" treats 16-bit images without values above 4095 as 12-bit,
    "full" uses the whole range of the type, and (low, high) sets them explicitly.

    >>> import cornea, tempfile, pathlib
    >>> view = cornea.scene(width=320, height=240).views[0]
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "view.png"
    >>> cornea.write(file, view.image)
    >>> image = cornea.read(file)
    >>> image.shape, image.dtype.name
    ((240, 320), 'uint8')
    """
    path = os.fspath(file)
    if colour:
        return _cornea.read_colour(path, upright, range, max_pixels, False)
    return _cornea.read_gray(path, upright, range, max_pixels)[0]


def write(file: PathLike, image: Any, *, jpeg_quality: int = 95) -> None:
    """Writes an image in the format given by the file extension: .png, .jpg, .pgm, .ppm, .pfm (float32,
    exact), .tif. The file is written atomically."""
    _cornea.write_image(os.fspath(file), image, jpeg_quality)


def image_of(thing: Any) -> Any:
    """Returns an array unchanged, and reads a file."""
    return read(thing) if is_path(thing) else thing


def in_groups(images: list[Any], call: Callable[[list[Any]], Iterable[Any]]) -> list[Any]:
    """Passes arrays and files to a call that takes several images of the same shape and type; returns the results in
    the order of the images."""
    read_ones = [image_of(one) for one in images]
    groups: dict[Any, list[int]] = {}
    for index, image in enumerate(read_ones):
        shape = getattr(image, "shape", None)
        kind = (tuple(shape) if shape is not None else index, str(getattr(image, "dtype", "")))
        groups.setdefault(kind, []).append(index)
    found: list[Any] = [None] * len(images)
    for group in groups.values():
        for index, result in zip(group, call([read_ones[i] for i in group])):
            found[index] = result
    return found
