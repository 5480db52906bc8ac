# SPDX-License-Identifier: Apache-2.0
"""Points and matches, stored as columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _cornea


def _whole(numbers: ArrayLike, what: str) -> NDArray[np.int32]:
    """Converts to int32; raises ValueError if a value would change."""
    given = np.asarray(numbers)
    with np.errstate(invalid="ignore"):
        whole = given.astype(np.int32) if given.dtype.kind in "biuf" else None
    if whole is None or not (whole == given).all():
        raise ValueError(f"{what} must be whole numbers of 32 bits")
    return whole


def _column_of(column: Any, n: int, name: str) -> Any:
    """A column of n numbers, from n numbers or one for all."""
    given = np.asarray(column)
    if given.shape not in ((), (n,)):
        raise ValueError(f"{name} has the shape {given.shape}; {n} points take {n} numbers, or one for all")
    return np.broadcast_to(given, (n,))


class Features:
    """The points of an image, one column per property, and their descriptors.

    x, y           pixels, float32; the centre of the first pixel is (0, 0)
    scale          sigma of the level it was found at, pixels of the image; 0 for corners
    angle          radians, from x towards y; 0 for corners
    response       in the detector's own units
    octave         int32
    stretch, axis  with affine_shape: the point is an ellipse whose shorter axis is `scale` and whose
                   longer one is `stretch` times that, in direction `axis` (radians); 1 and 0 elsewhere
    frames         n x 2 x 2 float32: maps the unit circle to a point's ellipse and the x axis to the
                   direction of its angle: a11, a12, a21, a22 of COLMAP's databases
    descriptors    n x 128 uint8; None for points without descriptors
    keypoints      None, unless the features are on a GPU

    detect_on_device() leaves them on the GPU: `descriptors` is then a DeviceArray, and so is `keypoints`, n x 8 float32
    of x, y, scale, angle, response, octave (the bits of an int32), stretch and axis. Other columns are downloaded on
    first access.

    >>> points = Features([1, 2, 3], [4, 5, 6], response=[9, 8, 7])
    >>> len(points)
    3
    >>> points[points.response > 7].x
    array([1., 2.], dtype=float32)
    """

    __slots__ = ("_host", "descriptors", "keypoints")
    _host: tuple[NDArray[np.float32], NDArray[np.int32]] | None  # columns and octave
    descriptors: Any
    keypoints: _cornea.DeviceArray | None

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        scale: ArrayLike = 0,
        angle: ArrayLike = 0,
        response: ArrayLike = 0,
        octave: ArrayLike = 0,
        descriptors: Any = None,
        *,
        stretch: ArrayLike = 1,
        axis: ArrayLike = 0,
    ) -> None:
        n = np.atleast_1d(np.asarray(x)).shape[0]
        columns = np.empty((7, n), np.float32)
        for row, (name, column) in enumerate(
            {"x": x, "y": y, "scale": scale, "angle": angle, "response": response, "stretch": stretch, "axis": axis}.items()
        ):
            columns[row] = _column_of(column, n, name)
        self._host = columns, np.array(_column_of(_whole(octave, "octave"), n, "octave"))
        self.keypoints = None
        if descriptors is not None:
            descriptors = np.ascontiguousarray(descriptors)
            if descriptors.shape != (n, 128) or descriptors.dtype != np.uint8:
                raise ValueError(
                    f"descriptors are {descriptors.shape} of {descriptors.dtype}; "
                    f"{n} points take {n} x 128 of uint8"
                )
        self.descriptors = descriptors

    @classmethod
    def _of(cls, parts: tuple[Any, Any, Any]) -> Features:
        made = cls.__new__(cls)
        made._host, made.descriptors, made.keypoints = parts[:2], parts[2], None
        return made

    @classmethod
    def _on_device(cls, keypoints: _cornea.DeviceArray, descriptors: _cornea.DeviceArray) -> Features:
        made = cls.__new__(cls)
        made._host, made.descriptors, made.keypoints = None, descriptors, keypoints
        return made

    def _on_host(self) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        if self._host is None:
            assert self.keypoints is not None
            rows = self.keypoints.numpy()
            octave = np.ascontiguousarray(rows[:, 5]).view(np.int32)
            self._host = np.ascontiguousarray(rows[:, [0, 1, 2, 3, 4, 6, 7]].T), octave
        return self._host

    @property
    def _columns(self) -> NDArray[np.float32]:
        return self._on_host()[0]

    @property
    def octave(self) -> NDArray[np.int32]:
        return self._on_host()[1]

    def _column(self, row: int) -> NDArray[np.float32]:
        column: NDArray[np.float32] = self._columns[row]
        return column

    @property
    def x(self) -> NDArray[np.float32]:
        return self._column(0)

    @property
    def y(self) -> NDArray[np.float32]:
        return self._column(1)

    @property
    def scale(self) -> NDArray[np.float32]:
        return self._column(2)

    @property
    def angle(self) -> NDArray[np.float32]:
        return self._column(3)

    @property
    def response(self) -> NDArray[np.float32]:
        return self._column(4)

    @property
    def stretch(self) -> NDArray[np.float32]:
        return self._column(5)

    @property
    def axis(self) -> NDArray[np.float32]:
        return self._column(6)

    @property
    def frames(self) -> NDArray[np.float32]:
        """n x 2 x 2: maps the unit circle to the ellipse of every point; scale times rotation for round points."""
        return _cornea.frames_of(self._columns, self.octave)

    @property
    def xy(self) -> NDArray[np.float32]:
        """n x 2: x and y of every point."""
        return np.ascontiguousarray(self._columns[:2].T)

    def _host_descriptors(self) -> NDArray[np.uint8] | None:
        if isinstance(self.descriptors, _cornea.DeviceArray):
            return self.descriptors.numpy()
        return None if self.descriptors is None else np.asarray(self.descriptors)

    def __len__(self) -> int:
        return int(self._columns.shape[1]) if self.keypoints is None else len(self.keypoints)

    def __getitem__(self, which: Any) -> Features:
        """A subset of the points: a slice, indices or a mask."""
        if isinstance(which, (int, np.integer)):
            which = [which]
        described = self._host_descriptors()
        if described is not None:
            described = np.ascontiguousarray(described[which])
        return Features._of(
            (np.ascontiguousarray(self._columns[:, which]), np.ascontiguousarray(self.octave[which]), described)
        )

    def __repr__(self) -> str:
        n = len(self)
        described = ", with descriptors" if self.descriptors is not None else ""
        return f"<cornea.Features: {n} point{'' if n == 1 else 's'}{described}>"

    def to_cv2(self) -> list[Any]:
        """A list of cv2.KeyPoint; see cornea.convert."""
        from . import convert

        return convert.to_cv2_keypoints(self)

    @staticmethod
    def from_cv2(keypoints: Any, descriptors: Any = None) -> Features:
        """From cv2.KeyPoint, and n x 128 descriptors of OpenCV's SIFT."""
        from . import convert

        return convert.from_cv2_keypoints(keypoints, descriptors)


class Matches:
    """Matched points, one column per property.

    a, b       int32: indices into the first and the second set
    distance   of the descriptors, float32
    ratio      nearest distance over second nearest, float32
    """

    __slots__ = ("a", "b", "distance", "ratio")
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    distance: NDArray[np.float32]
    ratio: NDArray[np.float32]

    def __init__(self, a: ArrayLike, b: ArrayLike, distance: ArrayLike = 0, ratio: ArrayLike = 0) -> None:
        self.a = np.ascontiguousarray(_whole(a, "a"))
        self.b = np.ascontiguousarray(_whole(b, "b"))
        if self.a.ndim != 1 or self.a.shape != self.b.shape:
            raise ValueError(f"a and b must be two lists of one length, not {self.a.shape} and {self.b.shape}")
        self.distance = np.ascontiguousarray(np.broadcast_to(np.asarray(distance, np.float32), self.a.shape))
        self.ratio = np.ascontiguousarray(np.broadcast_to(np.asarray(ratio, np.float32), self.a.shape))

    @classmethod
    def _of(cls, parts: tuple[Any, Any, Any, Any]) -> Matches:
        made = cls.__new__(cls)
        made.a, made.b, made.distance, made.ratio = parts
        return made

    @property
    def _parts(self) -> tuple[Any, Any, Any, Any]:
        return self.a, self.b, self.distance, self.ratio

    def __len__(self) -> int:
        return int(self.a.shape[0])

    def __getitem__(self, which: Any) -> Matches:
        """A subset of the matches: a slice, indices or a mask."""
        if isinstance(which, (int, np.integer)):
            which = [which]
        return Matches._of(tuple(np.ascontiguousarray(part[which]) for part in self._parts))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        n = len(self)
        return f"<cornea.Matches: {n} match{'' if n == 1 else 'es'}>"

    def points(self, first: Features, second: Features) -> NDArray[np.float32]:
        """n x 4: x1, y1, x2, y2 of every match, for the estimators."""
        for name, indices, points in (("a", self.a, first), ("b", self.b, second)):
            if len(indices) and not 0 <= indices.min() <= indices.max() < len(points):
                raise ValueError(f"{name} names points that are not there; there are {len(points)}")
        out = np.empty((len(self), 4), np.float32)
        out[:, 0], out[:, 1] = first.x[self.a], first.y[self.a]
        out[:, 2], out[:, 3] = second.x[self.b], second.y[self.b]
        return out

    def to_cv2(self) -> list[Any]:
        """A list of cv2.DMatch."""
        from . import convert

        return convert.to_cv2_matches(self)

    @staticmethod
    def from_cv2(matches: Any) -> Matches:
        """From cv2.DMatch, or from pairs of them as knnMatch gives."""
        from . import convert

        return convert.from_cv2_matches(matches)


def one_per_place(matches: Matches, first: Features, second: Features) -> Matches:
    """Keeps only the nearest of the matches between the same two positions (points with several orientations)."""
    parts = _cornea.one_per_place(
        matches._parts, first._columns, first.octave, second._columns, second.octave
    )
    return Matches._of(parts)
