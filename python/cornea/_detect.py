# SPDX-License-Identifier: Apache-2.0
"""Detectors: from images to points."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from . import _cornea
from ._device import context, name_for
from ._features import Features
from ._files import image_of, in_groups
from ._options import OptionValue, options_text, parameters, settings, table

_DETECTORS = table("detectors")


class Detector:
    """A detector, selected by name. Construct it once and apply it to any number of images or lists of images.

    detector   "foagdd", "harris", "moravec" or "sift"
    device     "auto", "cpu", "cuda" or "cuda:N"
    threads    on the CPU; 0: OMP_NUM_THREADS, or all that the process may use
    stream     CUDA stream to work on: an int, or a stream of torch, CuPy or CUDA Python
    max_size   longest side, pixels; larger images are reduced to it before points are detected, and
               coordinates remain those of the original image; 0: no limit
    describe   whether SIFT describes corners too, at one scale
    **options  of the detector

    Threads may share it; one call runs at a time.
    """

    name: ClassVar[str] = ""

    def __init__(
        self,
        detector: str,
        *,
        device: str = "auto",
        threads: int = 0,
        stream: Any = None,
        max_size: int = 0,
        describe: bool = False,
        **options: OptionValue,
    ) -> None:
        known = _DETECTORS[detector].options if detector in _DETECTORS else {}
        self._made = _cornea.Detector(
            context(device, threads, stream), detector, settings(known, options), max_size, describe
        )

    @overload
    def detect(self, image: list[Any], mask: Any = None) -> list[Features]: ...
    @overload
    def detect(self, image: Any, mask: Any = None) -> Features: ...
    def detect(self, image: Any, mask: Any = None) -> Features | list[Features]:
        """The points of an image, or of each image of a list.

        An image is height x width or height x width x 3 (RGB) of uint8, uint16 or float32 (0 to 1), or
        the name of a file. No point lies where the mask (uint8 or bool, height x width) is 0. Images of a list that
        have the same size and type are processed in one batch.
        """
        if not isinstance(image, list):
            return Features._of(self._made.detect(image_of(image), mask))
        return [Features._of(parts) for parts in in_groups(image, lambda group: self._made.detect_batch(group, mask))]

    @property
    def device(self) -> str:
        """The device it runs on: "cpu", "cuda:0"."""
        return str(self._made.context.name)

    @property
    def milliseconds(self) -> float:
        """Wall-clock time of the last call."""
        return float(self._made.milliseconds)


class _Named(Detector):
    """Base of the detectors that have their own class."""

    def __init__(
        self,
        *,
        device: str = "auto",
        threads: int = 0,
        stream: Any = None,
        max_size: int = 0,
        **options: OptionValue,
    ) -> None:
        given: dict[str, Any] = options
        super().__init__(self.name, device=device, threads=threads, stream=stream, max_size=max_size, **given)

    def __init_subclass__(cls) -> None:
        if not cls.name:
            return
        known = _DETECTORS[cls.name].options
        plain = inspect.signature(_Named.__init__)
        kept = [p for p in plain.parameters.values() if p.kind is p.KEYWORD_ONLY]
        cls.__signature__ = inspect.Signature(kept + parameters(known))  # type: ignore[attr-defined]
        head = inspect.cleandoc(cls.__doc__ or "")
        source = _DETECTORS[cls.name].source
        cls.__doc__ = f"{head}\n\n{source}.\n\nOptions:\n\n{options_text(known)}\n"


class _Corners(_Named):
    def response(self, image: Any) -> NDArray[np.float32]:
        """The response at every pixel, in the detector's units."""
        return self._made.response(image_of(image))


class Foagdd(_Corners):
    """FOAGDD corners: anisotropic Gaussian derivatives in many directions at several scales."""

    name = "foagdd"


class Harris(_Corners):
    """Harris or Shi-Tomasi corners."""

    name = "harris"


class Moravec(_Corners):
    """Moravec corners, in integers."""

    name = "moravec"


class Sift(_Named):
    """SIFT features: scale, angle and a descriptor of 128 bytes.

    >>> import cornea
    >>> image = cornea.scene(width=320, height=240).views[0].image
    >>> sift = cornea.Sift(device="cpu", max_points=100)
    >>> features = sift.detect(image)
    >>> features.descriptors.shape[1], features.descriptors.dtype.name
    (128, 'uint8')
    """

    name = "sift"

    def describe(self, image: Any, points: Features, *, scale: float = 2.5, keep_angles: bool = False) -> Features:
        """Describes points of any detector: one feature per point, in their order.

        Points without a scale (corners) get `scale`, pixels. Orientations (and shapes, with affine_shape) are computed,
        or kept with keep_angles.
        """
        columns = points._columns.copy()
        columns[2][columns[2] <= 0] = scale
        return Features._of(self._made.describe(image_of(image), columns, points.octave, keep_angles))

    def detect_on_device(self, image: Any, mask: Any = None) -> Features:
        """As detect() of one image, with all features left on the GPU, for torch, CuPy or a Matcher on the same device:
        `keypoints` and `descriptors` are DeviceArrays. If the image is on the GPU, only the number of points is
        transferred; other columns are downloaded on first access."""
        return Features._on_device(*self._made.detect_on_device(image_of(image), mask))


@overload
def detect(
    image: list[Any],
    detector: str = "harris",
    *,
    mask: Any = None,
    device: str = "auto",
    threads: int = 0,
    stream: Any = None,
    max_size: int = 0,
    describe: bool = False,
    **options: OptionValue,
) -> list[Features]: ...
@overload
def detect(
    image: Any,
    detector: str = "harris",
    *,
    mask: Any = None,
    device: str = "auto",
    threads: int = 0,
    stream: Any = None,
    max_size: int = 0,
    describe: bool = False,
    **options: OptionValue,
) -> Features: ...
def detect(
    image: Any,
    detector: str = "harris",
    *,
    mask: Any = None,
    device: str = "auto",
    threads: int = 0,
    stream: Any = None,
    max_size: int = 0,
    describe: bool = False,
    **options: OptionValue,
) -> Features | list[Features]:
    """Finds the points of an image, or of each image of a list.

    image      height x width or height x width x 3 (RGB) of uint8, uint16 or float32 (0 to 1); or the
               name of a file; or a list of these. Arrays on a GPU (DLPack, __cuda_array_interface__)
               are used without a copy.
    detector   "foagdd", "harris", "moravec" or "sift"
    mask       uint8 or bool, height x width: no point where it is 0
    device     "auto", "cpu", "cuda" or "cuda:N"
    threads    on the CPU; 0: OMP_NUM_THREADS, or all that the process may use
    stream     CUDA stream to work on: an int, or a stream of torch, CuPy or CUDA Python
    max_size   longest side, pixels; larger images are reduced to it before points are detected;
               0: no limit
    describe   whether SIFT describes corners too
    **options  of the detector, below

    Returns Features, in reading order for corners. For many images construct a detector once: Sift(...),
    Harris(...), Foagdd(...), Moravec(...) or Detector(name, ...).

    >>> import cornea
    >>> image = cornea.scene(width=320, height=240).views[0].image
    >>> corners = cornea.detect(image, "foagdd", max_points=50)
    >>> len(corners)
    50
    """
    place = name_for(device, image)
    made = Detector(
        detector, device=place, threads=threads, stream=stream, max_size=max_size, describe=describe, **options
    )
    found: Features | list[Features] = made.detect(image, mask)
    return found


def _all_options() -> str:
    parts = []
    for entry in _DETECTORS.values():
        parts.append(f"Options of {entry.name} ({entry.source}):\n\n{options_text(entry.options)}")
    return "\n\n".join(parts)


detect.__doc__ = f"{inspect.cleandoc(detect.__doc__ or '')}\n\n{_all_options()}\n"
