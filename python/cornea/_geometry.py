# SPDX-License-Identifier: Apache-2.0
"""Estimators: from matches to the geometry of two views."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from . import _cornea
from ._device import context
from ._options import Option, OptionValue, settings, table, with_options

_ESTIMATORS = table("estimators")
_F, _E, _H = (_ESTIMATORS[name].options for name in ("fundamental", "essential", "homography"))

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Camera:
    """The intrinsics of a camera in pixels; the centre of the first pixel is (0, 0), as in OpenCV.

    A point (X, Y, Z) in camera coordinates has x = X / Z, y = Y / Z, r2 = x x + y y, and is projected to
    u = fx (x (1 + k1 r2 + k2 r2 r2) + 2 p1 x y + p2 (r2 + 2 x x)) + cx, likewise v: OpenCV's first four
    coefficients, COLMAP's OPENCV model.
    """

    fx: float
    fy: float
    cx: float
    cy: float
    k1: float = 0
    k2: float = 0
    p1: float = 0
    p2: float = 0

    @staticmethod
    def from_matrix(K: Any, distortion: Sequence[float] = ()) -> Camera:
        """From a 3 x 3 matrix without skew, and up to four of OpenCV's distortion coefficients."""
        matrix = np.asarray(K, float)
        if matrix.shape != (3, 3) or matrix[0, 1] != 0 or tuple(matrix[2]) != (0, 0, 1):
            raise ValueError("a camera matrix is [[fx, 0, cx], [0, fy, cy], [0, 0, 1]]")
        if len(distortion) > 4:
            raise ValueError(f"Cornea knows k1, k2, p1 and p2; {len(distortion)} coefficients were given")
        return Camera(matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2], *map(float, distortion))

    @staticmethod
    def from_colmap(model: str, params: Sequence[float]) -> Camera:
        """From COLMAP's model and parameters, for which the centre of the first pixel is (0.5, 0.5)."""
        members = {
            "SIMPLE_PINHOLE": ("f", "cx", "cy"),
            "PINHOLE": ("fx", "fy", "cx", "cy"),
            "SIMPLE_RADIAL": ("f", "cx", "cy", "k1"),
            "RADIAL": ("f", "cx", "cy", "k1", "k2"),
            "OPENCV": ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2"),
        }
        if model not in members:
            raise ValueError(f"{model} is not a supported COLMAP model; supported are {', '.join(members)}")
        if len(params) != len(members[model]):
            raise ValueError(f"{model} takes {len(members[model])} numbers, {','.join(members[model])}")
        given = dict(zip(members[model], map(float, params)))
        if "f" in given:
            given["fx"] = given["fy"] = given.pop("f")
        given["cx"] -= 0.5
        given["cy"] -= 0.5
        return Camera(**given)

    @property
    def matrix(self) -> Matrix:
        """K, 3 x 3."""
        return np.array([[self.fx, 0, self.cx], [0, self.fy, self.cy], [0, 0, 1]])

    def _numbers(self) -> tuple[float, ...]:
        return tuple(float(getattr(self, field.name)) for field in fields(self))


#: A camera, its 3 x 3 matrix, or fx, fy, cx, cy followed by up to four distortion coefficients.
CameraLike = Union[Camera, Sequence[float], NDArray[Any]]


def _camera(thing: Any) -> tuple[float, ...]:
    if isinstance(thing, Camera):
        return thing._numbers()
    array = np.asarray(thing, float)
    if array.shape == (3, 3):
        return Camera.from_matrix(array)._numbers()
    if array.ndim == 1 and 4 <= array.size <= 8:
        return Camera(*array.tolist())._numbers()
    raise ValueError("a camera is a cornea.Camera, a 3 x 3 matrix, or fx, fy, cx, cy and up to k1, k2, p1, p2")


def _cameras(
    first: Any, second: Any, focal_known: bool = True
) -> tuple[tuple[float, ...], tuple[float, ...], bool] | None:
    if first is None and second is None:
        return None
    if first is None:
        raise ValueError("camera1 is missing; give both cameras, or camera1 alone where they are equal")
    numbers = _camera(first)
    return numbers, numbers if second is None else _camera(second), focal_known


_LARGEST_COORDINATE = 1 << 20  # pixels, as in files of matches


def _float32(numbers: Any) -> NDArray[np.float32]:
    given = np.asarray(numbers)
    if given.dtype.kind not in "biuf" and given.size:
        raise TypeError(f"points have elements of {given.dtype}; they must be numbers")
    # float32 cannot hold fractions of a pixel at such places.
    limit = np.float64(_LARGEST_COORDINATE)
    if given.size and np.any(np.isfinite(given) & ((given > limit) | (given < -limit))):
        raise ValueError(
            f"points have coordinates beyond {_LARGEST_COORDINATE}; no image has so many pixels, and single "
            "precision is too coarse for them: subtract an offset (also from the cx or cy of a camera)"
        )
    return given.astype(np.float32, copy=False)


def correspondences(x1: Any, x2: Any = None) -> NDArray[np.float32]:
    """n x 4 float32, from n x 4 numbers or from n x 2 and n x 2."""
    if x2 is not None:
        first, second = _float32(x1), _float32(x2)
        if first.ndim != 2 or second.ndim != 2 or first.shape[1:] != (2,) or first.shape != second.shape:
            raise ValueError(f"points are {first.shape} and {second.shape}; both must be n x 2")
        return np.ascontiguousarray(np.hstack([first, second]))
    points = _float32(x1)
    if points.ndim != 2 or points.shape[1] != 4:
        raise ValueError(f"matches are {points.shape}; they must be n x 4: x1, y1, x2, y2")
    return np.ascontiguousarray(points)


@dataclass(frozen=True)
class _Result:
    kind: str  #: "general", "planar", "none", "degenerate" or "too few points"
    inliers: NDArray[np.bool_]  #: of every match
    inlier_count: int  #: places: matches that are equal in all four coordinates count once
    places: int  #: matches, equal ones once
    threshold: float  #: that separates inliers from outliers, pixels
    hypotheses: int  #: drawn
    rounds: int
    converged: bool
    stopped_by: str  #: "confidence", "target", "maximum" or "nothing to do"

    def _facts(self) -> str:
        return f"{self.kind}, {self.inlier_count} of {self.places} inliers"


@dataclass(frozen=True, repr=False)
class FundamentalResult(_Result):
    """x2^T F x1 = 0. F is None if none was found. If the kind is "planar", use H: F is then only one of many that are
    compatible with it."""

    F: Matrix | None
    H: Matrix | None
    may_be_chance: bool  #: inliers are so few that they may agree by chance

    def __repr__(self) -> str:
        return f"<cornea.FundamentalResult: {self._facts()}>"


@dataclass(frozen=True, repr=False)
class EssentialResult(_Result):
    """x2^T E x1 = 0 for rays in camera coordinates; X2 = R X1 + t with |t| = 1."""

    E: Matrix | None
    R: Matrix | None
    t: Matrix | None
    points: NDArray[np.float32]  #: n x 3, in the first camera's coordinates; 0, 0, 0: none
    pure_rotation: bool  #: R is right and t means nothing
    median_angle_degrees: float  #: between the two rays of an inlier
    focal_factor: float  #: of the focal lengths that were given, where it was sought; otherwise 1
    may_be_chance: bool  #: inliers are so few that they may agree by chance
    second_pose: bool  #: nearly all inliers lie on one plane, which another pose explains as well
    leaves_points_behind: bool  #: over a quarter of the inliers with parallax lie behind a camera

    def __repr__(self) -> str:
        return f"<cornea.EssentialResult: {self._facts()}>"


@dataclass(frozen=True, repr=False)
class HomographyResult(_Result):
    """x2 ~ H x1."""

    H: Matrix | None

    def __repr__(self) -> str:
        return f"<cornea.HomographyResult: {self._facts()}>"


@dataclass(frozen=True, repr=False)
class TwoViewResult:
    """The geometry of two views, chosen by COLMAP's rule: E, F or H."""

    configuration: str  #: COLMAP's: "calibrated", "uncalibrated", "planar or panoramic", ...
    F: Matrix | None
    E: Matrix | None
    H: Matrix | None
    R: Matrix | None
    t: Matrix | None
    inliers: NDArray[np.bool_]
    inlier_count: int
    median_angle_degrees: float
    points: NDArray[np.float32]
    fundamental: FundamentalResult
    essential: EssentialResult
    homography: HomographyResult

    def __repr__(self) -> str:
        return f"<cornea.TwoViewResult: {self.configuration}, {self.inlier_count} inliers>"


def two_view_result(parts: dict[str, Any]) -> TwoViewResult:
    return TwoViewResult(
        **{
            **parts,
            "fundamental": FundamentalResult(**parts["fundamental"]),
            "essential": EssentialResult(**parts["essential"]),
            "homography": HomographyResult(**parts["homography"]),
        }
    )


def _keys(keys: Sequence[int] | None, count: int) -> list[int]:
    given = [0] * count if keys is None else [operator.index(key) for key in keys]
    for key in given:
        if not 0 <= key < 1 << 64:
            raise ValueError(f"a key is a whole number from 0 to 2^64 - 1, not {key}")
    return given


R = TypeVar("R", bound=_Result)


class _Estimator(Generic[R]):
    """Base of the estimators: the library's estimator and the type of its results."""

    _compiled: ClassVar[Any]
    _known: ClassVar[Mapping[str, Option]]
    _result: Callable[..., R]

    def __init__(
        self, *, device: str = "auto", threads: int = 0, stream: Any = None, **options: OptionValue
    ) -> None:
        self._made = self._compiled(context(device, threads, stream), settings(self._known, options))

    def _results(self, *given: Any) -> list[R]:
        return [self._result(**parts) for parts in self._made.estimate(*given)]


class _OfMatches(_Estimator[R]):
    """An estimator that takes only matches."""

    def estimate(self, x1: Any, x2: Any = None, *, key: int = 0) -> R:
        """Estimates from n x 4 matches, or from n x 2 and n x 2 points; `key` selects the random samples."""
        return self._results([correspondences(x1, x2)], _keys([key], 1))[0]

    def estimate_batch(self, pairs: Sequence[Any], *, keys: Sequence[int] | None = None) -> list[R]:
        """Estimates many pairs in one call, n x 4 each."""
        given = [correspondences(pair) for pair in pairs]
        return self._results(given, _keys(keys, len(given)))


@with_options(_F)
class Fundamental(_OfMatches[FundamentalResult]):
    """Estimates fundamental matrices by RANSAC. Construct it once for many pairs."""

    _compiled, _known, _result = _cornea.Fundamental, _F, FundamentalResult


@with_options(_H)
class Homography(_OfMatches[HomographyResult]):
    """Estimates homographies by RANSAC. Construct it once for many pairs."""

    _compiled, _known, _result = _cornea.Homography, _H, HomographyResult


@with_options(_E)
class Essential(_Estimator[EssentialResult]):
    """Estimates essential matrices and relative poses of known cameras by RANSAC. Construct it once for many pairs."""

    _compiled, _known, _result = _cornea.Essential, _E, EssentialResult

    def estimate(
        self, x1: Any, x2: Any = None, *, camera1: CameraLike, camera2: CameraLike | None = None, key: int = 0
    ) -> EssentialResult:
        """Estimates from n x 4 matches, or from n x 2 and n x 2 points, in pixels. Without camera2 both images have
        camera1."""
        points = correspondences(x1, x2)
        return self._results([points], [_cameras(camera1, camera2)], _keys([key], 1))[0]

    def estimate_batch(
        self,
        pairs: Sequence[Any],
        cameras: Sequence[tuple[CameraLike, CameraLike]],
        *,
        keys: Sequence[int] | None = None,
    ) -> list[EssentialResult]:
        """Estimates many pairs in one call, n x 4 each, with two cameras per pair."""
        given = [correspondences(pair) for pair in pairs]
        known = [_cameras(first, second) for first, second in cameras]
        return self._results(given, known, _keys(keys, len(given)))


class TwoView:
    """E, F and H of the same matches, and COLMAP's choice between them. Construct it once for many pairs.

    fundamental, essential, homography   options of each, as dictionaries
    essential_share    E is chosen if it has at least this share of F's inliers
    homography_share   H is chosen if it has at least this share of E's or F's inliers
    """

    def __init__(
        self,
        *,
        fundamental: Mapping[str, OptionValue] | None = None,
        essential: Mapping[str, OptionValue] | None = None,
        homography: Mapping[str, OptionValue] | None = None,
        essential_share: float = _cornea.ESSENTIAL_SHARE,
        homography_share: float = _cornea.HOMOGRAPHY_SHARE,
        device: str = "auto",
        threads: int = 0,
        stream: Any = None,
    ) -> None:
        self._made = _cornea.TwoView(
            context(device, threads, stream),
            settings(_F, fundamental or {}),
            settings(_E, essential or {}),
            settings(_H, homography or {}),
            essential_share,
            homography_share,
        )

    def estimate(
        self,
        x1: Any,
        x2: Any = None,
        *,
        camera1: CameraLike | None = None,
        camera2: CameraLike | None = None,
        focal_known: bool = True,
        key: int = 0,
    ) -> TwoViewResult:
        """Estimates from n x 4 matches, or from n x 2 and n x 2 points, with cameras if they are known.

        focal_known   False: the focal lengths are guesses, and a common factor is estimated as well
                      (`result.essential.focal_factor`)
        """
        points = correspondences(x1, x2)
        known = _cameras(camera1, camera2, focal_known)
        return two_view_result(self._made.estimate([points], [known], _keys([key], 1))[0])

    def estimate_batch(
        self,
        pairs: Sequence[Any],
        cameras: Sequence[tuple[CameraLike, CameraLike] | None] | None = None,
        *,
        focal_known: bool = True,
        keys: Sequence[int] | None = None,
    ) -> list[TwoViewResult]:
        """Estimates many pairs in one call, n x 4 each; None for a pair whose cameras are not known."""
        given = [correspondences(pair) for pair in pairs]
        all_cameras = cameras or [None] * len(given)
        known = [None if two is None else _cameras(*two, focal_known) for two in all_cameras]
        return [two_view_result(parts) for parts in self._made.estimate(given, known, _keys(keys, len(given)))]


@with_options(_F)
def fundamental(
    x1: Any,
    x2: Any = None,
    *,
    key: int = 0,
    device: str = "auto",
    threads: int = 0,
    stream: Any = None,
    **options: OptionValue,
) -> FundamentalResult:
    """The fundamental matrix of matched points, by RANSAC: x2^T F x1 = 0.

    x1, x2   n x 4 numbers (x1, y1, x2, y2), or n x 2 and n x 2; pixels, taken as float32
    key      selects the random samples, together with the seed

    >>> import cornea
    >>> first, second = (view.image for view in cornea.scene(width=320, height=240).views)
    >>> a, b = cornea.detect(first, "sift"), cornea.detect(second, "sift")
    >>> result = cornea.fundamental(cornea.match(a, b).points(a, b))
    >>> result.kind, result.F.shape
    ('general', (3, 3))
    """
    made = Fundamental(device=device, threads=threads, stream=stream, **options)
    return made.estimate(x1, x2, key=key)


@with_options(_H)
def homography(
    x1: Any,
    x2: Any = None,
    *,
    key: int = 0,
    device: str = "auto",
    threads: int = 0,
    stream: Any = None,
    **options: OptionValue,
) -> HomographyResult:
    """The homography of matched points, by RANSAC: x2 ~ H x1. Arguments as for fundamental()."""
    made = Homography(device=device, threads=threads, stream=stream, **options)
    return made.estimate(x1, x2, key=key)


@with_options(_E)
def essential(
    x1: Any,
    x2: Any = None,
    *,
    camera1: CameraLike,
    camera2: CameraLike | None = None,
    key: int = 0,
    device: str = "auto",
    threads: int = 0,
    stream: Any = None,
    **options: OptionValue,
) -> EssentialResult:
    """The essential matrix and the pose of matched points of known cameras, by RANSAC.

    x1, x2             as for fundamental(), in pixels
    camera1, camera2   Camera, 3 x 3 matrix, or fx, fy, cx, cy and up to k1, k2, p1, p2; without camera2
                       both images have camera1
    """
    made = Essential(device=device, threads=threads, stream=stream, **options)
    return made.estimate(x1, x2, camera1=camera1, camera2=camera2, key=key)


def _matrix(matrix: Any) -> Matrix:
    return np.ascontiguousarray(matrix, np.float64)


def epipolar_distances(F: Any, x1: Any, x2: Any = None) -> Matrix:
    """For every match the sum of its two distances to the epipolar lines, pixels."""
    return _cornea.epipolar_distances(_matrix(F), correspondences(x1, x2))


def transfer_distances(H: Any, x1: Any, x2: Any = None) -> Matrix:
    """For every match the symmetric transfer distance: of x2 to H x1 plus of x1 to H^-1 x2, pixels."""
    return _cornea.transfer_distances(_matrix(H), correspondences(x1, x2))
