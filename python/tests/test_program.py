# SPDX-License-Identifier: Apache-2.0
"""Python gives the same results as the program, bit for bit: every detector, filter, matcher and estimator."""

import numpy as np
import pytest

import cornea


def flags(options):
    words = []
    for name, value in options.items():
        flag = name.replace("_", "-")
        if value is True:
            words.append(f"--{flag}")
        elif value is False:
            words.append(f"--no-{flag}")
        elif isinstance(value, tuple):
            words += [f"--{flag}", ",".join(map(str, value))]
        else:
            words += [f"--{flag}", str(value)]
    return words


DETECTORS = [
    ("foagdd", {}),
    ("foagdd", {"scales": (1.5, 2.5), "directions": 6, "max_points": 40}),
    ("harris", {}),
    ("harris", {"measure": "shi-tomasi", "subpixel": "quadratic", "cell": 32, "max_per_cell": 3}),
    ("moravec", {"threshold": 3000}),
    ("sift", {}),
    ("sift", {"root": True, "doubled": False, "max_points": 100}),
    ("sift", {"scale_space": "bilateral", "edge_ratio": 0}),
    ("sift", {"affine_shape": True, "domain_size_pooling": True, "max_points": 100}),
]


@pytest.mark.parametrize("name, options", DETECTORS)
def test_detectors(program, views, image, name, options):
    found = cornea.detect(image, name, device="cpu", **options)
    expected = program("detect", views[0], "--detector", name, *flags(options))[0]["points"]
    columns = [found.x, found.y, found.response]
    if name == "sift":
        columns += [found.scale, found.angle]
    if options.get("affine_shape"):
        columns += list(found.frames.reshape(-1, 4).T)
    assert len(found) > 0
    assert np.array_equal(np.stack(columns, 1), np.array(expected, np.float32))


def test_every_detector_is_compared():
    assert {name for name, _ in DETECTORS} == set(cornea.info()["detectors"])


def test_descriptors(program, views, image, tmp_path):
    file = tmp_path / "descriptors.npy"
    program("detect", views[0], "--detector", "sift", "--descriptors", file)
    assert np.array_equal(cornea.Sift(device="cpu").detect(image).descriptors, np.load(file))


def test_response_maps(program, views, image, tmp_path):
    for name, made in (("foagdd", cornea.Foagdd), ("harris", cornea.Harris), ("moravec", cornea.Moravec)):
        file = tmp_path / f"{name}.pfm"
        program("detect", views[0], "--detector", name, "--response", file)
        assert np.array_equal(made(device="cpu").response(image), cornea.read(file, range="full"))


def test_masks_and_sizes(program, views, image, tmp_path):
    mask = np.zeros(image.shape, np.uint8)
    mask[100:250, 50:300] = 255
    cornea.write(tmp_path / "mask.png", mask)
    for name in cornea.info()["detectors"]:
        expected = program("detect", views[0], "--detector", name, "--mask", tmp_path / "mask.png", "--max-size", 300)
        for given in (mask, mask > 0):
            found = cornea.detect(image, name, mask=given, max_size=300, device="cpu")
            rows = np.array(expected[0]["points"], np.float32)
            assert len(found) > 0
            assert np.array_equal(found.xy, rows[:, :2])


FILTERS = [
    ("gaussian", {"sigma": 2.5}),
    ("bilateral", {"sigma": 2, "sigma_range": 30, "radius": 4}),
    ("trilateral", {"sigma": 3, "grouping": "sorted"}),
]


@pytest.mark.parametrize("name, options", FILTERS)
def test_filters(program, views, image, tmp_path, name, options):
    exact, picture = tmp_path / "exact.pfm", tmp_path / "picture.png"
    for file in (exact, picture):
        program("filter", views[0], "-o", file, "--filter", name, *flags(options))
    found = cornea.filter(image, name, as_float=True, device="cpu", **options)
    assert np.array_equal(found, cornea.read(exact, range="full"))
    assert np.array_equal(cornea.filter(image, name, device="cpu", **options), cornea.read(picture))


def test_every_filter_is_compared():
    assert {name for name, _ in FILTERS} == set(cornea.info()["filters"])


@pytest.mark.parametrize("detector", ["sift", "harris", "foagdd", "moravec"])
def test_matching(program, views, detector):
    a, b = (cornea.detect(file, detector, describe=True, device="cpu", max_points=800) for file in views)
    for options, words in (({}, []), ({"ratio": 0.9, "mutual": False, "max_distance": 300}, None)):
        found = cornea.match(a, b, device="cpu", **options)
        words = words if words is not None else ["--ratio", 0.9, "--no-mutual", "--max-distance", 300]
        expected = program("match", *views, "--detector", detector, "--max-features", 800, *words)
        assert len(found) > 20
        assert np.array_equal(np.stack([found.a, found.b], 1), expected["indices"])
        rows = np.column_stack([found.points(a, b), found.ratio])
        assert np.array_equal(rows, np.array(expected["matches"], np.float32))


def same_counts(found, expected):
    assert found.kind == expected["kind"]
    assert np.array_equal(found.inliers, np.array(expected["inliers"], bool))
    for key in ("inlier_count", "places", "hypotheses", "rounds", "converged", "threshold", "stopped_by"):
        if key in expected:
            assert getattr(found, key) == expected[key], key


@pytest.mark.parametrize("options", [{}, {"threshold": 2, "sample": 7, "seed": 5, "refine": False}])
def test_fundamental(program, matches, matches_file, options):
    found = cornea.fundamental(matches, device="cpu", **options)
    expected = program("fundamental", matches_file, *flags(options))
    assert np.array_equal(found.F, expected["F"])
    same_counts(found, expected)


@pytest.mark.parametrize("options", [{}, {"threshold": 4, "seed": 5, "optimise": False}])
def test_homography(program, matches, matches_file, options):
    found = cornea.homography(matches[:, :2], matches[:, 2:], device="cpu", **options)
    expected = program("homography", matches_file, *flags(options))
    assert np.array_equal(found.H, expected["H"])
    same_counts(found, expected)


@pytest.mark.parametrize("options", [{}, {"threshold_per_line": 1, "seed": 5}, {"shared_focal": True}])
def test_essential(program, scene, matches, matches_file, options):
    K = scene.views[0].K
    camera = ",".join(repr(float(v)) for v in (K[0, 0], K[1, 1], K[0, 2], K[1, 2]))
    found = cornea.essential(matches, camera1=K, device="cpu", **options)
    expected = program("essential", matches_file, "--camera", camera, *flags(options))
    for key in ("E", "R", "t"):
        assert np.array_equal(getattr(found, key), expected[key]), key
    assert found.median_angle_degrees == expected["median_angle_degrees"]
    assert found.focal_factor == expected["focal_factor"]
    same_counts(found, expected)


def test_pair(program, scene, views, tmp_path):
    found = cornea.pair(*views, device="cpu")
    expected = program("pair", *views, "-o", tmp_path / "pair")
    assert np.array_equal(found.F, expected["F"])
    assert [len(found.first), len(found.second)] == expected["keypoints"]
    assert found.csv() == (tmp_path / "pair" / "matches.csv").read_text()
    found.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "matches.csv").read_text() == found.csv()
    assert "</html>" in (tmp_path / "saved" / "report.html").read_text()


def test_pair_with_cameras(program, scene, views, tmp_path):
    focal = float(scene.views[0].K[0, 0])
    options = {"threshold": 3, "seed": 7}
    found = cornea.pair(*views, focal=focal, fundamental=options, ratio=0.9, device="cpu")
    expected = program(
        "pair", *views, "-o", tmp_path / "pair", "--focal", focal, "--ratio", 0.9, *flags(options)
    )
    assert found.by_essential
    for key in ("F", "E", "R", "t"):
        assert np.array_equal(getattr(found, key), expected[key]), key
    assert found.csv() == (tmp_path / "pair" / "matches.csv").read_text()


def test_scene(program, scene, views, tmp_path):
    made = program("scene", "-o", tmp_path, "--width", 480, "--height", 360)
    assert np.array_equal(cornea.read(tmp_path / "view_000.png"), cornea.read(views[0]))
    assert np.array_equal(scene.views[1].R, made["views"][1]["R"])
    assert np.array_equal(scene.F(0, 1), made["pairs"][0]["F"])


def test_drawing(program, views, image, tmp_path):
    for name in ("harris", "sift"):
        file = tmp_path / f"{name}.png"
        program("detect", views[0], "--detector", name, "--draw", file)
        picture = cornea.draw(image, cornea.detect(image, name, device="cpu"))
        assert np.array_equal(picture, cornea.read(file, colour=True))


def test_drawing_matches(program, views, tmp_path):
    a, b = (cornea.detect(file, "sift", device="cpu") for file in views)
    program("match", *views, "--draw", tmp_path / "matches.png")
    picture = cornea.draw_matches(*views, a, b, cornea.match(a, b, device="cpu"))
    assert np.array_equal(picture, cornea.read(tmp_path / "matches.png", colour=True))


def test_the_module_runs_the_program(program):
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-m", "cornea", "--version"], capture_output=True, text=True)
    assert done.stdout == f"cornea {cornea.__version__}\n"
