# SPDX-License-Identifier: Apache-2.0
"""Builds a COLMAP database from a folder of photographs, step by step.

>>> import cornea, tempfile, pathlib
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> (folder / "images").mkdir()
>>> for view in cornea.scene(views=3, width=320, height=240).views:
...     cornea.write(folder / "images" / f"{view.name}.png", view.image)
>>> database = folder / "database.db"
>>> cornea.colmap.extract(database, folder / "images")["extracted"]
3
>>> cornea.colmap.match(database)["matched"]
3
>>> cornea.colmap.verify(database)["verified"]
3

Every step resumes where an earlier run stopped. Databases of COLMAP, pycolmap and hloc are accepted as well, so that
verify() also works on matches of other programs.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, Union

from . import _cornea
from ._device import context
from ._files import PathLike
from ._match import _OPTIONS as _MATCH
from ._options import OptionValue, options_of, settings, table, with_options

__all__ = ["extract", "extract_features", "match", "match_exhaustive", "match_sequential", "verify", "verify_matches"]

#: Called with the number of completed steps and their total.
Progress = Callable[[int, int], object]
#: A function that is called between steps and returns whether to end early, or an event that is set to end early.
Cancel = Union[Callable[[], bool], threading.Event]

_SIFT = options_of("extract")
_VERIFY = {
    name: option
    for name, option in table("estimators")["fundamental"].options.items()
    if name in ("threshold", "threshold_per_line", "confidence", "max_hypotheses", "seed")
}


def _function(name: str) -> Any:
    if not hasattr(_cornea, name):
        raise ValueError("this build of Cornea has no COLMAP databases; build it with SQLite installed")
    return getattr(_cornea, name)


def _asked(cancel: Cancel | None) -> Callable[[], bool] | None:
    return cancel.is_set if isinstance(cancel, threading.Event) else cancel


@with_options(_SIFT)
def extract(
    database_path: PathLike,
    image_path: PathLike,
    *,
    mask_path: PathLike | None = None,
    cameras: str = "auto",
    single_camera: bool = False,
    camera_model: str | None = None,
    camera_params: Sequence[float] = (),
    schema: str | None = None,
    max_size: int = getattr(_cornea, "EXTRACT_MAX_SIZE", 3200),
    decoders: int = 0,
    range: str = "auto",
    changed: str = "stop",
    redo: bool = False,
    progress: Progress | None = None,
    note: Callable[[str], object] | None = None,
    cancel: Cancel | None = None,
    device: str = "auto",
    threads: int = 0,
    **options: OptionValue,
) -> dict[str, Any]:
    """Extracts SIFT features of a folder of images into a COLMAP database, which is created if it is missing.

    image_path     folder with JPEG, PNG, TIFF and WebP files, including its subfolders
    mask_path      folder with a mask NAME.png for image NAME; no features where it is black
    cameras        which images share a camera: "auto" (same make, model and focal length by EXIF, and
                   same size), "single" (all), "per-folder" or "per-image"
    single_camera  the same as cameras="single"
    camera_model   SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL (the default), RADIAL or OPENCV
    camera_params  of that model, in COLMAP's order; they are then marked as known
    schema         tables of a new database: "3.8" (the default) or "4", those of COLMAP 4.2.1
    max_size       longest side, pixels; larger images are reduced before detection; 0: no limit
    decoders       threads that decode images ahead; 0: one on the CPU, up to 8 with CUDA
    range          "auto" or "full", as for cornea.read()
    changed        what to do with existing features of other files or options: "stop" with an error,
                   "redo" or "keep"
    redo           extract all images again
    progress       called with (done, total) after every image
    note           called with a sentence for every image that failed or has changed
    cancel         a function that is called between images, or a threading.Event, to end early; Ctrl-C
                   does the same. Completed work is kept, and the next call resumes.
    **options      of SIFT

    Returns counts: images, extracted, skipped, failed, features, stopped, ...
    """
    if range not in ("auto", "full"):
        raise ValueError(f"range is 'auto' or 'full', not {range!r}")
    if single_camera and cameras not in ("auto", "single"):
        raise ValueError(f"single_camera is cameras='single', and cameras is {cameras!r}")
    report: dict[str, Any] = _function("colmap_extract")(
        context(device, threads),
        os.fspath(database_path),
        os.fspath(image_path),
        settings(_SIFT, options),
        "" if mask_path is None else os.fspath(mask_path),
        "single" if single_camera else cameras,
        camera_model or "",
        [float(value) for value in camera_params],
        schema or "",
        max_size,
        decoders,
        changed,
        redo,
        range == "auto",
        progress,
        note,
        _asked(cancel),
    )
    return report


@with_options(_MATCH)
def match(
    database_path: PathLike,
    *,
    sequential: int = 0,
    pairs_path: PathLike | None = None,
    changed: str = "stop",
    redo: bool = False,
    progress: Progress | None = None,
    note: Callable[[str], object] | None = None,
    cancel: Cancel | None = None,
    device: str = "auto",
    threads: int = 0,
    **options: OptionValue,
) -> dict[str, Any]:
    """Matches the images of a database: all pairs, each image with the `sequential` following ones by name, or the
    pairs listed in the file `pairs_path`, two names per line.

    The other arguments are those of extract(). Returns counts: pairs, matched, skipped, matches, ...
    """
    report: dict[str, Any] = _function("colmap_match")(
        context(device, threads),
        os.fspath(database_path),
        settings(_MATCH, options),
        sequential,
        "" if pairs_path is None else os.fspath(pairs_path),
        changed,
        redo,
        progress,
        note,
        _asked(cancel),
    )
    return report


@with_options(_VERIFY)
def verify(
    database_path: PathLike,
    *,
    min_inliers: int = getattr(_cornea, "VERIFY_MIN_INLIERS", 15),
    use_cameras: bool = True,
    detect_watermark: bool = True,
    changed: str = "stop",
    redo: bool = False,
    progress: Progress | None = None,
    note: Callable[[str], object] | None = None,
    cancel: Cancel | None = None,
    device: str = "auto",
    threads: int = 0,
    **options: OptionValue,
) -> dict[str, Any]:
    """Verifies the geometry of every matched pair of a database, whichever program matched them.

    min_inliers       pairs with fewer inliers are written as degenerate
    use_cameras       estimate E if both focal lengths are known
    detect_watermark  look for watermarks and time stamps

    The other arguments are those of extract(); the default of max_hypotheses is 10,000 here. Returns
    counts: pairs, verified, skipped, configurations, inliers, ...
    """
    report: dict[str, Any] = _function("colmap_verify")(
        context(device, threads),
        os.fspath(database_path),
        settings(_VERIFY, options),
        min_inliers,
        use_cameras,
        detect_watermark,
        changed,
        redo,
        progress,
        note,
        _asked(cancel),
    )
    return report


def match_exhaustive(database_path: PathLike, **options: Any) -> dict[str, Any]:
    """match() of all pairs, under pycolmap's name."""
    return match(database_path, **options)


def match_sequential(database_path: PathLike, *, overlap: int = 10, **options: Any) -> dict[str, Any]:
    """match() of each image with the `overlap` following ones by name, under pycolmap's name."""
    return match(database_path, sequential=overlap, **options)


extract_features = extract
verify_matches = verify
