# SPDX-License-Identifier: Apache-2.0
"""Conversion to and from the types of other libraries: OpenCV's keypoints and matches, hloc's HDF5 files.

OpenCV and hloc have the centre of the first pixel at (0, 0), like Cornea, so coordinates are unchanged. The eight
directions of a descriptor's cell have the opposite sense of rotation in OpenCV and COLMAP; they are reordered.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._features import Features, Matches
from ._files import PathLike

__all__ = [
    "from_cv2_keypoints",
    "from_cv2_matches",
    "read_hloc_features",
    "to_cv2_descriptors",
    "to_cv2_keypoints",
    "to_cv2_matches",
    "write_hloc_features",
    "write_hloc_matches",
]


# Reverses the 8 directions of a cell except the first; the permutation is its own inverse.
_OTHER_WAY_ROUND = (np.arange(128).reshape(16, 8)[:, [0, 7, 6, 5, 4, 3, 2, 1]]).ravel()


def to_cv2_descriptors(features: Features) -> NDArray[np.float32]:
    """n x 128 float32 in the layout of cv2.SIFT, for OpenCV's matchers and for matching with OpenCV's descriptors."""
    described = features._host_descriptors()
    if described is None:
        raise ValueError("the points have no descriptors")
    return np.ascontiguousarray(described[:, _OTHER_WAY_ROUND], np.float32)


def to_cv2_keypoints(features: Features) -> list[Any]:
    """A list of cv2.KeyPoint. Its size is a diameter, twice the scale, as in OpenCV's SIFT; its angle is in degrees, -1
    for corners. Octave and level are packed as in OpenCV's SIFT. Ellipses become circles."""
    import cv2

    keypoints = []
    for x, y, scale, angle, response, octave in zip(
        features.x.tolist(),
        features.y.tolist(),
        features.scale.tolist(),
        features.angle.tolist(),
        features.response.tolist(),
        features.octave.tolist(),
    ):
        packed = 0
        degrees = -1.0
        if scale > 0:
            level = min(max(round(3 * math.log2(scale / (1.6 * 2.0**octave))), 1), 3)
            packed = (octave & 255) | (level << 8)
            degrees = math.degrees(angle) % 360.0
        keypoints.append(cv2.KeyPoint(x, y, max(2 * scale, 1.0), degrees, response, packed, -1))
    return keypoints


def from_cv2_keypoints(keypoints: Sequence[Any], descriptors: Any = None) -> Features:
    """Features from cv2.KeyPoint; descriptors of OpenCV's SIFT are n x 128 integers stored as float32."""
    octaves = [((k.octave & 255) ^ 128) - 128 for k in keypoints]
    if descriptors is not None:
        given = np.asarray(descriptors)
        if given.dtype != np.uint8:
            rounded = np.rint(given)
            if not (rounded == given).all() or given.min(initial=0) < 0 or given.max(initial=0) > 255:
                raise ValueError("descriptors must be whole numbers from 0 to 255, as those of OpenCV's SIFT")
            given = rounded.astype(np.uint8)
        descriptors = given[:, _OTHER_WAY_ROUND] if given.ndim == 2 and given.shape[1] == 128 else given
    return Features(
        [k.pt[0] for k in keypoints],
        [k.pt[1] for k in keypoints],
        [k.size / 2 for k in keypoints],
        [math.radians(k.angle) if k.angle >= 0 else 0.0 for k in keypoints],
        [k.response for k in keypoints],
        octaves if octaves else 0,
        descriptors,
    )


def to_cv2_matches(matches: Matches) -> list[Any]:
    """A list of cv2.DMatch."""
    import cv2

    return [
        cv2.DMatch(a, b, distance)
        for a, b, distance in zip(matches.a.tolist(), matches.b.tolist(), matches.distance.tolist())
    ]


def from_cv2_matches(matches: Iterable[Any]) -> Matches:
    """Matches from cv2.DMatch, or from the two nearest of each point as knnMatch returns them, which have a ratio."""
    rows = []
    for match in matches:
        if hasattr(match, "queryIdx"):
            rows.append((match.queryIdx, match.trainIdx, match.distance, 0.0))
        elif len(match) > 0:
            ratio = match[0].distance / match[1].distance if len(match) > 1 and match[1].distance > 0 else 0.0
            rows.append((match[0].queryIdx, match[0].trainIdx, match[0].distance, ratio))
    columns: list[Any] = [list(column) for column in zip(*rows)] if rows else [[], [], [], []]
    return Matches(*columns)


def _h5py() -> Any:
    return importlib.import_module("h5py")  # has no type annotations


def write_hloc_features(file: PathLike, name: str, features: Features, image_size: tuple[int, int]) -> None:
    """Adds an image's features to an HDF5 file in hloc's layout: keypoints n x 2, descriptors 128 x n of unit length
    (up to the rounding to bytes) in COLMAP's order, scores n, image_size (width, height). Needs h5py."""
    h5py = _h5py()

    described = to_cv2_descriptors(features)
    lengths = np.maximum(np.linalg.norm(described, axis=1, keepdims=True), 1e-9)
    with h5py.File(file, "a") as open_file:
        if name in open_file:
            del open_file[name]
        group = open_file.create_group(name)
        group.create_dataset("keypoints", data=features.xy)
        group.create_dataset("descriptors", data=np.ascontiguousarray((described / lengths).T))
        group.create_dataset("scores", data=np.ascontiguousarray(features.response))
        group.create_dataset("scales", data=np.ascontiguousarray(features.scale))
        group.create_dataset("oris", data=np.ascontiguousarray(features.angle))
        group.create_dataset("image_size", data=np.array(image_size))


def read_hloc_features(file: PathLike, name: str) -> Features:
    """The points of an image in hloc's layout, of any detector; descriptors other than SIFT's bytes are omitted."""
    h5py = _h5py()

    with h5py.File(file, "r") as open_file:
        if name not in open_file:
            raise ValueError(f"{file}: has no image {name}")
        group = open_file[name]
        xy = group["keypoints"][()]
        columns = {
            key: group[stored][()] if stored in group else 0
            for key, stored in (("response", "scores"), ("scale", "scales"), ("angle", "oris"))
        }
    return Features(xy[:, 0], xy[:, 1], **columns)


def write_hloc_matches(
    file: PathLike, first_name: str, second_name: str, matches: Matches, first_count: int
) -> None:
    """Adds a pair's matches to an HDF5 file in hloc's layout: for every point of the first image the index in the
    second, -1 for none, and a score of 1 - ratio. Needs h5py."""
    h5py = _h5py()

    nearest = np.full(first_count, -1, np.int32)
    scores = np.zeros(first_count, np.float16)
    nearest[matches.a] = matches.b
    scores[matches.a] = 1 - matches.ratio
    pair = "/".join(name.replace("/", "-") for name in (first_name, second_name))
    with h5py.File(file, "a") as open_file:
        if pair in open_file:
            del open_file[pair]
        group = open_file.create_group(pair)
        group.create_dataset("matches0", data=nearest)
        group.create_dataset("matching_scores0", data=scores)
