# SPDX-License-Identifier: Apache-2.0
"""Options, errors, classes and results from the point of view of a user of the package."""

import inspect
import os
import sys
import threading

import numpy as np
import pytest

import cornea


def test_info():
    info = cornea.info()
    assert info["version"] == cornea.__version__
    assert set(info["detectors"]) == {"foagdd", "harris", "moravec", "sift"}
    assert (info["why_no_cuda"] is None) == bool(info["devices"])


@pytest.mark.parametrize("name", ["foagdd", "harris", "moravec", "sift"])
def test_signatures_come_from_the_table(name):
    made = getattr(cornea, name.capitalize())
    names = set(inspect.signature(made).parameters)
    assert {"device", "threads", "stream", "max_size", "max_points"} <= names
    assert f"max_points = {inspect.signature(made).parameters['max_points'].default}" in made.__doc__
    assert "--" not in made.__doc__


def test_help_reads_well():
    words = cornea.detect.__doc__
    assert words.startswith("Finds the points of an image")
    for name in cornea.info()["detectors"]:
        assert f"Options of {name}" in words
    assert max(map(len, words.splitlines())) <= 110


@pytest.mark.parametrize(
    "options, words",
    [
        ({"maximum": 3}, "the detector sift has no option maximum"),
        ({"max_points": "many"}, "max_points takes a whole number, not 'many'"),
        ({"max_points": 2.5}, "max_points takes a whole number, not '2.5'"),
        ({"doubled": 1}, "doubled is True or False, not 1"),
        ({"scale_space": "cubic"}, "scale_space is one of gaussian, bilateral, trilateral, not 'cubic'"),
        ({"sigma": -1}, "sigma"),
    ],
)
def test_wrong_options(options, words):
    with pytest.raises(ValueError, match=words):
        cornea.Sift(device="cpu", **options)


def test_option_values_of_numpy(image):
    plain = cornea.detect(image, "foagdd", max_points=7, scales=[1.5, 3.0], device="cpu")
    same = cornea.detect(
        image, "foagdd", max_points=np.int64(7), scales=np.array([1.5, 3.0]), relative=np.False_, device="cpu"
    )
    assert np.array_equal(plain.xy, same.xy)


def test_wrong_names(image):
    with pytest.raises(ValueError, match="no detector is called 'nothing'; there are foagdd, harris, moravec, sift"):
        cornea.detect(image, "nothing")
    with pytest.raises(ValueError, match="no filter is called 'median'"):
        cornea.filter(image, "median")
    with pytest.raises(ValueError, match="device|auto, cpu"):
        cornea.detect(image, device="gpu")


def test_no_flags_in_sentences(image):
    for call in (
        lambda: cornea.detect(image, "harris", max_per_cell=3, device="cpu"),
        lambda: cornea.detect(image, "harris", window=4, device="cpu"),
        lambda: cornea.fundamental(np.zeros((9, 4)), sample=3, device="cpu"),
        lambda: cornea.svd(np.eye(3), max_sweeps=0, device="cpu"),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert "--" not in str(caught.value)


def test_a_missing_device():
    if cornea.info()["devices"]:
        pytest.skip("there is a GPU here")
    with pytest.raises(cornea.DeviceError):
        cornea.Sift(device="cuda")
    assert issubclass(cornea.DeviceError, RuntimeError)


def test_errors_of_files(tmp_path):
    with pytest.raises(OSError, match="missing.png"):
        cornea.read(tmp_path / "missing.png")
    (tmp_path / "text.png").write_text("no image")
    with pytest.raises(OSError, match="text.png"):
        cornea.detect(tmp_path / "text.png")
    with pytest.raises(ValueError, match="range is 'auto', 'full' or two numbers"):
        cornea.read(tmp_path / "text.png", range="wide")
    with pytest.raises(OSError):
        cornea.write(tmp_path / "nowhere" / "a.png", np.zeros((9, 9), np.uint8))


def test_reading_depths(tmp_path):
    deep = np.arange(600, dtype=np.uint16).reshape(20, 30) * 100
    cornea.write(tmp_path / "deep.png", deep)
    assert np.array_equal(cornea.read(tmp_path / "deep.png"), deep)
    floats = np.linspace(0, 1, 600, dtype=np.float32).reshape(20, 30)
    cornea.write(tmp_path / "floats.pfm", floats)
    assert np.array_equal(cornea.read(tmp_path / "floats.pfm"), floats)
    colours = np.arange(1800, dtype=np.uint16).astype(np.uint8).reshape(20, 30, 3)
    cornea.write(tmp_path / "colours.png", colours)
    assert np.array_equal(cornea.read(tmp_path / "colours.png", colour=True), colours)
    assert cornea.read(tmp_path / "colours.png").shape == (20, 30)


def test_features(image):
    found = cornea.detect(image, "sift", max_points=50, device="cpu")
    assert found.x.dtype == np.float32 and found.descriptors.shape == (len(found), 128)
    strong = found[found.response > np.median(found.response)]
    assert 0 < len(strong) < len(found) and strong.descriptors.shape == (len(strong), 128)
    assert len(found[3]) == 1 and found[3].x[0] == found.x[3]
    assert "with descriptors" in repr(found)
    with pytest.raises(ValueError, match="2 points take 2 x 128 of uint8"):
        cornea.Features([1, 2], [3, 4], descriptors=np.zeros((3, 128), np.uint8))


def test_features_on_a_device_need_one(image):
    with pytest.raises(ValueError, match="features stay on the device for SIFT on a CUDA device; the detector is sift on cpu"):
        cornea.Sift(device="cpu").detect_on_device(image)


def test_describing_ellipses(image):
    """With keep_angles, points also keep their shapes."""
    sift = cornea.Sift(device="cpu", affine_shape=True, max_points=80)
    found = sift.detect(image)
    assert found.stretch.max() > 1.5 and found.stretch.min() >= 1
    again = sift.describe(image, found, keep_angles=True)
    assert np.array_equal(again._columns, found._columns)
    round_ones = cornea.Features(found.x, found.y, found.scale, found.angle, found.response, found.octave)
    assert np.array_equal(round_ones.stretch, np.ones(len(found)))
    assert not np.array_equal(sift.describe(image, round_ones, keep_angles=True).descriptors, again.descriptors)
    given = cornea.Features(
        found.x, found.y, found.scale, found.angle, octave=found.octave, stretch=found.stretch, axis=found.axis
    )
    assert np.array_equal(given.frames, found.frames) and np.array_equal(given[3:5].frames, found.frames[3:5])


def test_frames():
    """Frames map the unit circle to the ellipse, and the x axis to the direction of the angle."""
    points = cornea.Features([0, 0], [0, 0], [2, 2], [0.3, 0.3], stretch=[1, 3], axis=[0, 1.1])
    turned = 2 * np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    assert np.allclose(points.frames[0], turned, rtol=1e-6)
    u, s, _ = np.linalg.svd(points.frames[1])
    assert np.allclose(s, [6, 2], rtol=1e-6) and np.isclose(np.tan(1.1), u[1, 0] / u[0, 0], rtol=1e-5)
    assert np.isclose(np.arctan2(points.frames[1, 1, 0], points.frames[1, 0, 0]), 0.3, rtol=1e-5)


def test_describing_corners(image):
    corners = cornea.detect(image, "harris", max_points=80, device="cpu")
    sift = cornea.Sift(device="cpu")
    described = sift.describe(image, corners)
    together = cornea.detect(image, "harris", max_points=80, describe=True, device="cpu")
    assert np.array_equal(described.descriptors, together.descriptors)
    assert np.array_equal(described.xy, corners.xy)
    upright = sift.describe(image, corners, keep_angles=True)
    assert not np.array_equal(upright.descriptors, described.descriptors)


def test_matching_in_batches(views):
    a, b = (cornea.detect(file, "sift", device="cpu", max_points=300) for file in views)
    matcher = cornea.Matcher(device="cpu")
    one, two = matcher.match_batch([(a, b), (b, a)])
    assert np.array_equal(one.a, matcher.match(a, b).a) and np.array_equal(two.a, matcher.match(b, a).a)
    nearest = matcher.nearest(a, b)
    difference = a.descriptors[0].astype(int) - b.descriptors[nearest[0, 0]].astype(int)
    assert nearest.shape == (len(a), 4) and nearest[0, 1] == (difference**2).sum()


def test_estimating_in_batches(matches):
    estimator = cornea.Fundamental(device="cpu", seed=3)
    half = matches[::2]
    first, second = estimator.estimate_batch([matches, half], keys=[4, 9])
    assert np.array_equal(first.F, estimator.estimate(matches, key=4).F)
    assert np.array_equal(second.F, estimator.estimate(half, key=9).F)
    with pytest.raises(ValueError, match="there are 2 pairs and 1 keys"):
        estimator.estimate_batch([matches, half], keys=[4])


def test_two_views(scene, matches):
    K = scene.views[0].K
    two_view = cornea.TwoView(device="cpu", fundamental={"seed": 1})
    with_cameras = two_view.estimate(matches, camera1=K)
    assert with_cameras.configuration == "calibrated"
    essential = with_cameras.essential
    assert not essential.may_be_chance and not essential.leaves_points_behind and not essential.second_pose
    R = scene.views[1].R @ scene.views[0].R.T
    assert np.degrees(np.arccos((np.trace(with_cameras.R @ R.T) - 1) / 2)) < 0.5
    without = two_view.estimate(matches)
    assert without.configuration == "uncalibrated" and without.E is None and without.F is not None
    batch = two_view.estimate_batch([matches, matches], [(K, K), None])
    assert np.array_equal(batch[0].E, with_cameras.E) and np.array_equal(batch[1].F, without.F)


def test_distances(scene, matches):
    F = scene.F(0, 1)
    found = cornea.epipolar_distances(F, matches)
    x1, x2 = (np.column_stack([part, np.ones(len(part))]) for part in (matches[:, :2], matches[:, 2:]))
    line2, line1 = x1.astype(float) @ F.T, x2.astype(float) @ F
    error = np.abs((x2 * line2).sum(1))
    expected = error / np.hypot(line2[:, 0], line2[:, 1]) + error / np.hypot(line1[:, 0], line1[:, 1])
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_no_geometry_is_a_result():
    result = cornea.fundamental(np.zeros((0, 4)), device="cpu")
    assert result.kind.startswith("too few") and result.F is None and len(result.inliers) == 0


def test_wrong_matches():
    for wrong, words in (
        ((np.zeros((9, 3)),), "must be n x 4"),
        ((np.zeros((9, 2)), np.zeros((8, 2))), "both must be n x 2"),
        ((np.full((9, 4), np.nan),), "."),
        ((np.full((9, 4), 5.4e6),), "beyond 1048576"),
        ((np.full((9, 2), 3), np.full((9, 2), -(2**21))), "beyond 1048576"),
    ):
        with pytest.raises(ValueError, match=words):
            cornea.fundamental(*wrong, device="cpu")


def test_wrong_numbers(matches):
    for wrong in (np.zeros((9, 4), complex), np.full((9, 4), "a"), np.zeros((9, 4), object)):
        with pytest.raises(TypeError, match="they must be numbers"):
            cornea.fundamental(wrong, device="cpu")
    for bad in (np.inf, 1e39):
        worse = matches.astype(float)
        worse[5, 2] = bad
        with pytest.raises(ValueError), np.errstate(over="ignore"):
            cornea.homography(worse, device="cpu")
    for key in (-1, 1 << 64):
        with pytest.raises(ValueError, match="a key is a whole number from 0 to 2\\^64 - 1"):
            cornea.fundamental(matches, key=key, device="cpu")
    for camera in ([np.nan, 500, 3, 3], [500, 500, np.inf, 3], [-500, 500, 3, 3]):
        with pytest.raises(ValueError):
            cornea.essential(matches, camera1=camera, device="cpu")


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 10**30, "", None, [], [1, 2]])
@pytest.mark.parametrize("option", ["sigma", "max_points", "contrast"])
def test_invalid_options(option, bad):
    with pytest.raises((ValueError, TypeError)):
        cornea.Sift(device="cpu", **{option: bad})


@pytest.mark.parametrize("threads", [-1, 1 << 40])
def test_invalid_numbers_of_threads(image, threads):
    with pytest.raises((ValueError, TypeError)):
        cornea.detect(image, device="cpu", threads=threads)


def test_wrong_matrices():
    for empty in ((0, 3, 3), (2, 0, 3), (2, 3, 0)):
        try:
            assert cornea.svd(np.zeros(empty), device="cpu").S.size == 0
        except ValueError:
            pass
    turned = np.arange(12.0).reshape(3, 4)[::-1, ::-1]
    assert np.allclose(cornea.svd(turned, device="cpu").S, np.linalg.svd(turned, compute_uv=False))
    bad = np.ones((3, 4, 4))
    bad[1, 2, 2] = np.nan
    report = cornea.svd(bad, device="cpu").report
    assert report["not_finite"] == 1 and report["first_not_finite"] == 1


def test_cameras():
    camera = cornea.Camera.from_colmap("SIMPLE_RADIAL", [500, 320, 240, 0.1])
    assert camera == cornea.Camera(500, 500, 319.5, 239.5, 0.1)
    assert cornea.Camera.from_matrix(camera.matrix, [0.1]) == camera
    with pytest.raises(ValueError, match="PINHOLE takes 4 numbers"):
        cornea.Camera.from_colmap("PINHOLE", [1, 2, 3])
    with pytest.raises(ValueError, match="a camera is"):
        cornea.essential(np.zeros((9, 4)), camera1=[1, 2, 3], device="cpu")
    with pytest.raises(ValueError, match="focal"):
        cornea.essential(np.zeros((9, 4)), camera1=[0, 0, 3, 3], device="cpu")


def test_svd():
    random = np.random.default_rng(1)
    for dtype, tolerance in ((np.float32, 1e-5), (np.float64, 1e-13)):
        for shape in ((9, 9), (5, 40, 3), (2, 3, 4, 50)):
            a = random.normal(size=shape).astype(dtype)
            u, s, v, report = cornea.svd(a, device="cpu")
            assert u.dtype == dtype and report["not_converged"] == 0
            assert np.allclose(u * s[..., None, :] @ np.swapaxes(v, -1, -2), a, atol=10 * tolerance)
            assert np.allclose(s, np.linalg.svd(a, compute_uv=False), atol=10 * tolerance)
    only = cornea.svd(np.eye(3), with_u=False, with_v=False, device="cpu")
    assert only.U is None and only.V is None and np.array_equal(only.S, np.ones(3))
    with pytest.raises(TypeError, match="int64"):
        cornea.svd(np.eye(3, dtype=np.int64))
    with pytest.raises(ValueError, match="m x n"):
        cornea.svd(np.zeros(3))


def test_a_pair_has_a_rich_representation(views, tmp_path):
    result = cornea.pair(*views, device="cpu")
    assert result._repr_png_().startswith(b"\x89PNG")
    assert "<img" in result._repr_html_() and "matches agree" in result._repr_html_()
    result.save(tmp_path / "page.html")
    assert "view_000.png" in (tmp_path / "page.html").read_text()
    assert set(result.milliseconds) == {"features", "matching", "geometry"}


def test_a_pair_of_arrays(views):
    colours = [cornea.read(file, colour=True) for file in views]
    of_arrays, of_files = cornea.pair(*colours, device="cpu"), cornea.pair(*views, device="cpu")
    assert np.array_equal(of_arrays.F, of_files.F)
    mask = np.zeros(colours[0].shape[:2], bool)
    mask[:, :240] = True
    assert cornea.pair(*colours, mask1=mask, device="cpu").first.x.max() < 241
    with pytest.raises(ValueError, match="the second image is empty"):
        cornea.pair(colours[0], colours[1][:0], device="cpu")


def test_threads_share_a_detector(image):
    shared = cornea.Sift(device="cpu", threads=2)
    images = [np.roll(image, 20 * k, 1) for k in range(6)]
    expected = [cornea.Sift(device="cpu", threads=1).detect(one).descriptors for one in images]
    found = [None] * len(images)

    def work(k):
        found[k] = shared.detect(images[k]).descriptors

    workers = [threading.Thread(target=work, args=(k,)) for k in range(len(images))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(a, b) for a, b in zip(found, expected))


def test_threads_share_everything(views, image, matches):
    """One object of each kind, used from four threads at once, with its properties read concurrently."""
    a, b = (cornea.detect(file, "sift", device="cpu", max_points=200) for file in views)
    harris, smooth = cornea.Harris(device="cpu", threads=1), cornea.Filter("gaussian", device="cpu", threads=1)
    matcher, estimator = cornea.Matcher(device="cpu", threads=1), cornea.Fundamental(device="cpu", threads=1)
    two_view, svd = cornea.TwoView(device="cpu", threads=1), cornea.Svd(device="cpu", threads=1)
    half = matches[::4]

    def everything(k):
        turned = np.ascontiguousarray(np.roll(image, 30 * k, 1)[:120])
        return [
            harris.detect(turned).xy,
            harris.response(turned),
            smooth.apply(turned),
            matcher.match(a, b[k:]).b,
            estimator.estimate(half[k:]).F,
            two_view.estimate(half[k:]).F,
            svd.compute(half[k : k + 4].astype(float)).S,
        ]

    expected = [everything(k) for k in range(4)]
    failures, end = [], threading.Event()

    def work(k):
        for _ in range(5):
            if not all(np.array_equal(x, y) for x, y in zip(everything(k), expected[k])):
                failures.append(k)

    def look():
        while not end.is_set():
            assert matcher.kernel and harris.milliseconds >= 0

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    watcher = threading.Thread(target=look)
    for worker in [*workers, watcher]:
        worker.start()
    for worker in workers:
        worker.join()
    end.set()
    watcher.join()
    assert not failures


def test_other_threads_run_meanwhile(image):
    """A call releases the GIL: with this switch interval a waiting thread would not get it otherwise."""
    interval = sys.getswitchinterval()
    begun, ran = threading.Event(), []
    worker = threading.Thread(target=lambda: (begun.wait(), ran.append(True)))
    worker.start()
    large = np.tile(image, (2, 2))
    sys.setswitchinterval(1000)  # seconds
    try:
        begun.set()
        cornea.filter(large, "trilateral", sigma=8, device="cpu", threads=1)
        ran_meanwhile = bool(ran)
    finally:
        sys.setswitchinterval(interval)
        worker.join()
    assert ran_meanwhile


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_works(image):
    expected = len(cornea.detect(image, "foagdd", device="cpu", threads=2))
    child = os.fork()
    if child == 0:
        found = len(cornea.detect(image, "foagdd", device="cpu", threads=2))
        os._exit(0 if found == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_nothing_leaks(image):
    small = np.ascontiguousarray(image[:64, :64])

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    harris, matcher = cornea.Harris(device="cpu", threads=1), cornea.Matcher(device="cpu", threads=1)
    descriptors = np.zeros((30, 128), np.uint8)

    def calls(count):
        for _ in range(count):
            harris.detect(small)
            matcher.match(descriptors, descriptors)
            with pytest.raises(TypeError):
                harris.detect([[1]][0])

    calls(300)
    before = resident()
    calls(1000)
    assert resident() - before < 3 << 20
