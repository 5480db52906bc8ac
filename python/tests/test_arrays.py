# SPDX-License-Identifier: Apache-2.0
"""Arrays of every type and layout, and arrays that are rejected."""

import numpy as np
import pytest

import cornea


def points(image, name="harris", **options):
    found = cornea.detect(image, name, device="cpu", **options)
    return np.column_stack([found.xy, found.response])


@pytest.mark.parametrize("name", ["harris", "sift", "foagdd", "moravec"])
def test_every_layout_gives_the_same_result(image, name):
    expected = points(image, name)
    assert len(expected) > 0
    wide = np.zeros((image.shape[0], 2 * image.shape[1] + 7), np.uint8)
    wide[:, 3 : 3 + image.shape[1]] = image
    sparse = np.zeros((image.shape[0], 2 * image.shape[1]), np.uint8)
    sparse[:, ::2] = image
    read_only = image.copy()
    read_only.flags.writeable = False
    layouts = {
        "rows apart": wide[:, 3 : 3 + image.shape[1]],
        "columns apart": sparse[:, ::2],
        "Fortran order": np.asfortranarray(image),
        "backwards": np.ascontiguousarray(image[::-1, ::-1])[::-1, ::-1],
        "read-only": read_only,
    }
    for layout, array in layouts.items():
        assert np.array_equal(array, image)
        assert np.array_equal(points(array, name), expected), layout


def test_colour_layouts(image):
    rgb = np.dstack([image, np.roll(image, 3, 1), np.roll(image, 5, 0)])
    expected = points(rgb)
    bgr = np.ascontiguousarray(rgb[..., ::-1])
    planar = np.ascontiguousarray(rgb.transpose(2, 0, 1)).transpose(1, 2, 0)
    padded = np.zeros((rgb.shape[0], rgb.shape[1] + 5, 3), np.uint8)
    padded[:, : rgb.shape[1]] = rgb
    four = np.zeros((*rgb.shape[:2], 4), np.uint8)
    four[..., :3] = rgb
    for array in (bgr[..., ::-1], planar, padded[:, : rgb.shape[1]], four[..., :3]):
        assert np.array_equal(points(array), expected)
    assert not np.array_equal(points(bgr), expected)


def test_rows_that_are_not_a_multiple_of_a_pixel(image):
    rgb = np.dstack([image] * 3)
    row = 3 * rgb.shape[1] + 1  # bytes; not a whole number of RGB pixels
    buffer = np.zeros(row * rgb.shape[0], np.uint8)
    view = np.lib.stride_tricks.as_strided(buffer, rgb.shape, (row, 3, 1))
    view[...] = rgb
    assert np.array_equal(points(view), points(rgb))


@pytest.mark.parametrize("name", ["harris", "sift", "foagdd", "moravec"])
def test_depths(image, name):
    wide = image.astype(np.uint16) * 257
    assert np.allclose(points(wide, name, max_points=30)[:, :2], points(image, name, max_points=30)[:, :2], atol=0.05)
    floats = image.astype(np.float32) / 255
    assert len(points(floats, name)) == pytest.approx(len(points(image, name)), rel=0.05)


def test_an_unaligned_array(image):
    floats = image.astype(np.float32) / 255
    bytes_of = np.frombuffer(b"\0" + floats.tobytes(), np.uint8)[1:]
    unaligned = bytes_of.view(np.float32).reshape(floats.shape)
    assert not unaligned.flags.aligned
    assert np.array_equal(points(unaligned), points(floats))


def test_lists_of_images(image):
    other, small = np.roll(image, 40, 1), np.ascontiguousarray(image[:200, :300])
    for name in cornea.info()["detectors"]:
        found = cornea.detect([image, small, other], name, device="cpu")
        for one, alone in zip(found, (image, small, other)):
            expected = cornea.detect(alone, name, device="cpu")
            assert np.array_equal(one.xy, expected.xy)
            if name == "sift":
                assert np.array_equal(one.descriptors, expected.descriptors)
    assert cornea.detect([], "harris", device="cpu") == []
    filtered = cornea.filter([image, small], "gaussian", device="cpu")
    assert np.array_equal(filtered[1], cornea.filter(small, "gaussian", device="cpu"))


def test_results_own_their_memory(image):
    sift = cornea.Sift(device="cpu")
    first = sift.detect(image)
    copies = first.xy.copy(), first.descriptors.copy()
    sift.detect(np.roll(image, 17, 1))
    del sift
    assert np.array_equal(first.xy, copies[0]) and np.array_equal(first.descriptors, copies[1])


def test_filters_do_not_modify_their_input(image):
    before = image.copy()
    cornea.filter(image, "bilateral", device="cpu")
    assert np.array_equal(image, before)


@pytest.mark.parametrize(
    "wrong, error, words",
    [
        ([[1, 2], [3, 4]], TypeError, "image 0 is a list"),
        (((1, 2), (3, 4)), TypeError, "is a tuple; give an array"),
        (None, TypeError, "is a NoneType"),
        (3.5, TypeError, "is a float"),
        (np.zeros((20, 20)), TypeError, "elements of float64; they must be uint8, uint16 or float32"),
        (np.zeros((20, 20), np.int32), TypeError, "elements of int32"),
        (np.zeros((20, 20), bool), TypeError, "elements of bool"),
        (np.zeros((20, 20), np.complex64), TypeError, "elements of complex64"),
        (np.zeros((20, 20), object), TypeError, "is a ndarray with elements of object"),
        (np.zeros((20, 20), ">u2"), TypeError, "is a ndarray with elements of >u2"),
        (np.zeros((20, 20, 4), np.uint8), ValueError, "with 4 channels"),
        (np.zeros((20, 20, 1), np.uint8), ValueError, "with 1 channel;"),
        (np.zeros(20, np.uint8), ValueError, "height x width"),
        (np.zeros((2, 20, 20, 3), np.uint8), ValueError, "2 x 20 x 20 x 3"),
        (np.zeros((0, 20), np.uint8), ValueError, "is empty"),
        (np.zeros((20, 0, 3), np.uint8), ValueError, "is empty"),
        (np.full((20, 20), 200, np.float32), ValueError, "200"),
        (np.full((20, 20), np.nan, np.float32), ValueError, "NaN|nan|not a number"),
    ],
)
def test_wrong_images(wrong, error, words):
    with pytest.raises(error, match=words):
        cornea.detect(wrong, "harris", device="cpu")


def test_wrong_masks(image):
    with pytest.raises(ValueError, match="the mask is 10 x 10 pixels and the image"):
        cornea.detect(image, mask=np.ones((10, 10), bool), device="cpu")
    with pytest.raises(TypeError, match="the mask has elements of float32; they must be uint8 or bool"):
        cornea.detect(image, mask=np.ones(image.shape, np.float32), device="cpu")
    with pytest.raises(ValueError, match="the mask is 360 x 480 x 1"):
        cornea.detect(image, mask=np.ones((*image.shape, 1), bool), device="cpu")


def test_wrong_descriptors():
    good = np.zeros((4, 128), np.uint8)
    for wrong, error, words in (
        (np.zeros((4, 64), np.uint8), ValueError, "they must be n x 128"),
        (np.zeros((4, 128), np.float32), TypeError, "elements of float32; they must be uint8"),
        (np.zeros((4, 256), np.uint8)[:, ::2], ValueError, "contiguous"),
        ([[0] * 128], TypeError, "is a list"),
        (cornea.Features([1], [2]), ValueError, "have no descriptors"),
    ):
        with pytest.raises(error, match=words):
            cornea.match(good, wrong, device="cpu")
    assert len(cornea.match(good[:0], good, device="cpu")) == 0


def test_a_tensor_of_torch(image):
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(image.copy())
    assert np.array_equal(points(tensor), points(image))
    assert np.array_equal(points(tensor.t().contiguous().t()), points(image))


def test_a_memory_view(image):
    assert np.array_equal(points(memoryview(image)), points(image))


def test_a_device_array_without_a_device():
    class Pretended:
        __cuda_array_interface__ = {"shape": (4, 4), "typestr": "|u1", "data": (4096, False), "version": 3}

    with pytest.raises(ValueError, match="lies on a CUDA device and the work is to run on cpu"):
        cornea.detect(Pretended(), device="cpu")


def test_repeated_pixels(image):
    """Strides of 0."""
    row = image[100]
    repeated = np.broadcast_to(row, (90, len(row)))
    assert np.array_equal(points(repeated), points(np.ascontiguousarray(repeated)))
    column = np.broadcast_to(image[:, 100:101], (len(image), 90))
    assert np.array_equal(points(column, "sift"), points(np.ascontiguousarray(column), "sift"))


@pytest.mark.parametrize("shape", [(1 << 20, 1 << 20), (50000, 50000), (2, (1 << 20) + 1), (1 << 20, 4096, 3)])
def test_huge_images(shape):
    """Images beyond the limits are rejected before they are copied. Strides of 0 create one from a single byte."""
    huge = np.broadcast_to(np.uint8(7), shape)
    with pytest.raises(ValueError, match="the limits are 1048576 pixels per side and 2147483647 in all"):
        cornea.detect(huge, device="cpu")
    with pytest.raises(ValueError, match="the limits are"):
        cornea.filter(huge, "gaussian", device="cpu")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
def test_float_values_that_are_invalid(image, bad):
    floats = image.astype(np.float32) / 255
    floats[77, 99] = bad
    for call in (
        lambda: cornea.detect(floats, "sift", device="cpu"),
        lambda: cornea.detect([floats, floats], "foagdd", device="cpu"),
        lambda: cornea.Harris(device="cpu").response(floats),
        lambda: cornea.Sift(device="cpu").describe(floats, cornea.Features([50], [50])),
        lambda: cornea.pair(floats, floats, device="cpu"),
    ):
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30, -50])
def test_points_without_a_valid_position(image, bad):
    nowhere = cornea.Features([bad, 40], [50, 60], [3, 3])
    with pytest.raises(ValueError, match="point 0 .* lies outside the image"):
        cornea.Sift(device="cpu").describe(image, nowhere)
    here = cornea.Features([40, 40], [50, 60], [3, 3])
    alone = cornea.draw(image, here[1])
    assert np.array_equal(cornea.draw(image, nowhere), alone)  # it is not drawn
    cornea.draw_matches(image, image, nowhere, here, cornea.Matches([0, 1], [0, 1]))


def test_features_of_columns_that_differ():
    assert len(cornea.Features(3, 4)) == 1 and len(cornea.Features([], [])) == 0
    for wrong in (
        lambda: cornea.Features([1, 2, 3], [4]),
        lambda: cornea.Features([[1, 2], [3, 4]], [5, 6]),
        lambda: cornea.Features([1, 2], [3, 4], scale=[1, 2, 3]),
        lambda: cornea.Features([1, 2], [3, 4], octave=[0.5, 1]),
    ):
        with pytest.raises(ValueError):
            wrong()


def test_matches_that_are_not_valid_indices():
    features = cornea.Features([1, 2], [3, 4])
    for wrong in ([0.5], [1 << 32], [np.nan], ["a"]):
        with pytest.raises(ValueError, match="a must be whole numbers of 32 bits"):
            cornea.Matches(wrong, [0])
    assert len(cornea.Matches(np.array([], float), [])) == 0
    for wrong in ([-1], [2]):
        with pytest.raises(ValueError, match="b names points that are not there; there are 2"):
            cornea.Matches([0], wrong).points(features, features)


def test_wrong_pictures(image):
    points = cornea.Features([40], [50])
    for colour in ((300, 0, 0), (-1, 0, 0), (1, 2), (1, 2, 3, 4), "red", (0.5, 0, 0)):
        with pytest.raises(ValueError, match="a colour is three whole numbers from 0 to 255"):
            cornea.draw(image, points, colour=colour)
    drawn = cornea.draw(image, points, colour=(255, 0, 0))
    assert (drawn == (255, 0, 0)).all(axis=2).any()
    matches = cornea.Matches([0], [0])
    matches.a = matches.a.astype(np.int64)
    with pytest.raises(ValueError, match="a and b of int32"):
        cornea.draw_matches(image, image, points, points, matches)


def test_features_can_be_pickled(image):
    import copy
    import pickle

    found = cornea.detect(image, "sift", max_points=20, device="cpu")
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert np.array_equal(other._columns, found._columns) and np.array_equal(other.descriptors, found.descriptors)
    result = cornea.fundamental(np.zeros((0, 4)), device="cpu")
    assert pickle.loads(pickle.dumps(result)).kind == result.kind
