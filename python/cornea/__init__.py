# SPDX-License-Identifier: Apache-2.0
"""Cornea: interest points and two-view geometry, on an NVIDIA GPU or on a plain CPU, with the same answer
on both.

>>> import cornea
>>> first, second = (view.image for view in cornea.scene(width=320, height=240).views)
>>> a, b = cornea.detect(first, "sift"), cornea.detect(second, "sift")
>>> matches = cornea.match(a, b)
>>> result = cornea.fundamental(matches.points(a, b))
>>> result.kind
'general'

Images are NumPy arrays, height x width or height x width x 3 (RGB), of uint8, uint16 or float32 (0 to 1),
or files, or arrays on a GPU. Coordinates: x right, y down, the centre of the first pixel is (0, 0).
"""

from __future__ import annotations

from typing import Any

from . import _cornea, colmap, convert
from ._cornea import DeviceArray, DeviceError
from ._detect import Detector, Foagdd, Harris, Moravec, Sift, detect
from ._draw import draw, draw_matches
from ._features import Features, Matches, one_per_place
from ._files import read, write
from ._filter import Filter, filter
from ._geometry import (
    Camera,
    Essential,
    EssentialResult,
    Fundamental,
    FundamentalResult,
    Homography,
    HomographyResult,
    TwoView,
    TwoViewResult,
    epipolar_distances,
    essential,
    fundamental,
    homography,
    transfer_distances,
)
from ._match import Matcher, match
from ._options import table as _table
from ._pair import PairResult, pair
from ._scene import Scene, View, scene
from ._svd import Svd, SvdResult, svd

__all__ = [
    "Camera",
    "Detector",
    "DeviceArray",
    "DeviceError",
    "Essential",
    "EssentialResult",
    "Features",
    "Filter",
    "Foagdd",
    "Fundamental",
    "FundamentalResult",
    "Harris",
    "Homography",
    "HomographyResult",
    "Matcher",
    "Matches",
    "Moravec",
    "PairResult",
    "Scene",
    "Sift",
    "Svd",
    "SvdResult",
    "TwoView",
    "TwoViewResult",
    "View",
    "colmap",
    "convert",
    "detect",
    "draw",
    "draw_matches",
    "epipolar_distances",
    "essential",
    "filter",
    "fundamental",
    "homography",
    "info",
    "match",
    "one_per_place",
    "pair",
    "read",
    "read_matches",
    "scene",
    "svd",
    "transfer_distances",
    "transfers",
    "write",
]


def info() -> dict[str, Any]:
    """The features of this build and the available devices.

    >>> import cornea
    >>> sorted(cornea.info()["detectors"])
    ['foagdd', 'harris', 'moravec', 'sift']
    """
    return {**_cornea.info(), "detectors": list(_table("detectors")), "filters": list(_table("filters"))}


def read_matches(file: Any) -> Any:
    """n x 4 float32 from a text file with one line per match and the columns x1, y1, x2, y2 in any order."""
    import os

    return _cornea.read_matches(os.fspath(file))


def transfers(device: str = "auto", threads: int = 0) -> dict[str, int]:
    """Transfers to and from a GPU so far: uploads, upload_bytes, downloads, download_bytes."""
    return _cornea.shared_context(device, threads).transfers()


__version__: str = _cornea.info()["version"]
