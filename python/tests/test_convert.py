# SPDX-License-Identifier: Apache-2.0
"""Conversion to and from OpenCV's types and hloc's files."""

import numpy as np
import pytest

import cornea
from cornea import convert


@pytest.fixture(scope="module")
def features(image):
    # Like OpenCV's descriptors: no RootSIFT.
    return cornea.detect(image, "sift", device="cpu", max_points=200, root=False)


def test_keypoints_of_opencv(features, image):
    cv2 = pytest.importorskip("cv2")
    keypoints = features.to_cv2()
    assert isinstance(keypoints[0], cv2.KeyPoint)
    back = cornea.Features.from_cv2(keypoints, convert.to_cv2_descriptors(features))
    assert np.array_equal(back.xy, features.xy)
    assert np.allclose(back.scale, features.scale)
    turned = np.abs(np.angle(np.exp(1j * (back.angle - features.angle))))
    assert turned.max() < 1e-4
    assert np.array_equal(back.octave, features.octave)
    assert np.array_equal(back.descriptors, features.descriptors)
    # OpenCV describes the points: angles, scales and descriptors have the same meaning there.
    _, described = cv2.SIFT_create().compute(image, keypoints)
    own = convert.to_cv2_descriptors(features)
    alike = (own * described).sum(1) / np.linalg.norm(own, axis=1) / np.linalg.norm(described, axis=1)
    assert np.median(alike) > 0.98


def test_corners_of_opencv(image):
    pytest.importorskip("cv2")
    corners = cornea.detect(image, "harris", max_points=10, device="cpu")
    keypoints = corners.to_cv2()
    assert keypoints[0].angle == -1
    assert np.array_equal(cornea.Features.from_cv2(keypoints).xy, corners.xy)


def test_matches_of_opencv(features):
    cv2 = pytest.importorskip("cv2")
    matches = cornea.match(features.descriptors, features.descriptors, device="cpu")
    back = cornea.Matches.from_cv2(matches.to_cv2())
    assert np.array_equal(back.a, matches.a) and np.array_equal(back.distance, matches.distance)
    floats = features.descriptors.astype(np.float32)
    pairs = cv2.BFMatcher().knnMatch(floats, floats, k=2)
    both = cornea.Matches.from_cv2(pairs)
    assert len(both) == len(features) and (both.ratio == 0).all()
    assert len(cornea.Matches.from_cv2([])) == 0


def test_descriptors_that_are_not_bytes(features):
    pytest.importorskip("cv2")
    with pytest.raises(ValueError, match="whole numbers from 0 to 255"):
        cornea.Features.from_cv2(features.to_cv2(), features.descriptors / 512)


def test_files_of_hloc(features, image, tmp_path):
    h5py = pytest.importorskip("h5py")
    file = tmp_path / "features.h5"
    size = (image.shape[1], image.shape[0])
    for _ in range(2):  # a second time replaces the first
        convert.write_hloc_features(file, "db/a.jpg", features, size)
    back = convert.read_hloc_features(file, "db/a.jpg")
    assert np.array_equal(back.xy, features.xy) and np.array_equal(back.scale, features.scale)
    with h5py.File(file) as opened:
        group = opened["db/a.jpg"]
        assert group["descriptors"].shape == (128, len(features))
        assert tuple(group["image_size"][()]) == size
    with pytest.raises(ValueError, match="has no image db/b.jpg"):
        convert.read_hloc_features(file, "db/b.jpg")
    matches = cornea.match(features.descriptors, features.descriptors, device="cpu")
    convert.write_hloc_matches(tmp_path / "matches.h5", "db/a.jpg", "b.jpg", matches, len(features))
    with h5py.File(tmp_path / "matches.h5") as opened:
        nearest = opened["db-a.jpg/b.jpg"]["matches0"][()]
    assert np.array_equal(np.flatnonzero(nearest >= 0), matches.a)
