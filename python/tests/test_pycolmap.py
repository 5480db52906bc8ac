# SPDX-License-Identifier: Apache-2.0
"""Databases of both schemas, read by COLMAP itself: pycolmap finds what was written."""

import shutil
import sqlite3
import struct

import numpy as np
import pytest

import cornea

pycolmap = pytest.importorskip("pycolmap")

if not cornea.info()["sqlite"]:
    pytest.skip("this build has no COLMAP databases", allow_module_level=True)

MOST = 2147483647  # pair_id = first * MOST + second
NAMES = ["a.jpg", "b c.jpg", "d'e \"ü\".jpg", "sub/f.jpg"]
ALTITUDE = 433.25


def exif(north_seconds):
    """Make, model, 35 mm equivalent focal length and GPS position, as a camera's APP1 segment; little-endian."""
    def entry(tag, kind, count, value):
        return struct.pack("<HHI", tag, kind, count) + value

    def folder(entries):
        return struct.pack("<H", len(entries)) + b"".join(entries) + struct.pack("<I", 0)

    def at(offset):
        return struct.pack("<I", offset)

    values = b"Maker\0\0\0" + b"Model\0\0\0"
    seconds = struct.pack("<6I", 50, 1, 7, 1, int(north_seconds * 100), 100)
    east = struct.pack("<6I", 14, 1, 25, 1, 0, 1)
    place = struct.pack("<2I", int(ALTITUDE * 100), 100)
    data = values + seconds + east + place
    first = 8 + 2 + 5 * 12 + 4
    second = first + 2 + 12 + 4
    third = second + 2 + 6 * 12 + 4
    ifd = folder([entry(0x010F, 2, 6, at(third)), entry(0x0110, 2, 6, at(third + 8)),
                  entry(0x0112, 3, 1, struct.pack("<HH", 1, 0)), entry(0x8769, 4, 1, at(first)),
                  entry(0x8825, 4, 1, at(second))])
    ifd += folder([entry(0xA405, 3, 1, struct.pack("<HH", 28, 0))])
    ifd += folder([entry(1, 2, 2, b"N\0\0\0"), entry(2, 5, 3, at(third + 16)), entry(3, 2, 2, b"E\0\0\0"),
                   entry(4, 5, 3, at(third + 40)), entry(5, 1, 1, b"\0\0\0\0"), entry(6, 5, 1, at(third + 64))])
    body = b"Exif\0\0" + b"II*\0" + at(8) + ifd + data
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """Views of one scene with unusual names; all but the last have a GPS position."""
    folder = tmp_path_factory.mktemp("photographs")
    (folder / "sub").mkdir()
    for i, view in enumerate(cornea.scene(views=4, width=400, height=300).views):
        file = folder / NAMES[i]
        cornea.write(file, view.image)
        bytes_of_file = file.read_bytes()
        if i < 3:
            file.write_bytes(bytes_of_file[:2] + exif(i) + bytes_of_file[2:])
    return folder


@pytest.fixture(scope="module", params=["3.8", "4"])
def made(request, program, photographs, tmp_path_factory):
    """A database of this schema by `cornea folder`, a copy of it that pycolmap has opened, and its rows as SQLite has
    them. pycolmap migrates the tables of a file that it opens to its own version, hence the copy."""
    out = tmp_path_factory.mktemp("out")
    report = program("folder", photographs, "-o", out, "--schema", request.param)
    assert report["images"] == 4 and report["verified"] >= 3
    shutil.copy(out / "database.db", out / "copy.db")
    with sqlite3.connect(out / "database.db") as file:
        file.row_factory = sqlite3.Row
        database = pycolmap.Database.open(out / "copy.db")
        yield request.param, database, lambda sql: file.execute(sql).fetchall()
        database.close()


def floats(blob, kind, *shape):
    return np.frombuffer(blob, kind).reshape(shape)


def test_images_and_cameras(made):
    _, database, rows = made
    written = rows("SELECT * FROM images ORDER BY image_id")
    assert [row["name"] for row in written] == sorted(NAMES, key=str.encode)
    read = {image.image_id: image for image in database.read_all_images()}
    assert {i: (image.name, image.camera_id) for i, image in read.items()} == {
        row["image_id"]: (row["name"], row["camera_id"]) for row in written}
    cameras = rows("SELECT * FROM cameras")
    assert len(cameras) == 2  # one from EXIF, and one for the photograph without EXIF
    assert database.num_cameras() == 2
    for row in cameras:
        camera = database.read_camera(row["camera_id"])
        assert camera.model == pycolmap.CameraModelId(row["model"])
        assert (camera.width, camera.height) == (row["width"], row["height"]) == (400, 300)
        assert np.array_equal(camera.params, floats(row["params"], np.float64, -1))
        assert camera.has_prior_focal_length == bool(row["prior_focal_length"])
    assert sorted(database.read_camera(row["camera_id"]).focal_length for row in cameras) == [320, 480]


def test_features(made):
    _, database, rows = made
    for row in rows("SELECT * FROM keypoints"):
        points = database.read_keypoints(row["image_id"])
        written = floats(row["data"], np.float32, row["rows"], row["cols"])
        assert len(written) > 100
        assert np.array_equal(points, written)
    for row in rows("SELECT * FROM descriptors"):
        read = database.read_descriptors(row["image_id"])
        assert np.array_equal(read.data, floats(row["data"], np.uint8, row["rows"], row["cols"]))
        assert read.type == pycolmap.FeatureExtractorType.SIFT


def test_matches_and_geometries(made):
    _, database, rows = made
    written = rows("SELECT * FROM matches")
    assert len(written) == database.num_matched_image_pairs() == 6
    for row in written:
        first, second = divmod(row["pair_id"], MOST)
        assert np.array_equal(database.read_matches(first, second), floats(row["data"] or b"", np.uint32, row["rows"], 2))
    general = 0
    for row in rows("SELECT * FROM two_view_geometries"):
        first, second = divmod(row["pair_id"], MOST)
        read = database.read_two_view_geometry(first, second)
        assert int(read.config) == row["config"]
        inliers = floats(row["data"] or b"", np.uint32, row["rows"], 2)
        assert np.array_equal(read.inlier_matches, inliers)
        for name in ("F", "E", "H"):
            if row[name]:
                assert np.array_equal(getattr(read, name), floats(row[name], np.float64, 3, 3)), name
        if row["qvec"]:
            w, x, y, z = floats(row["qvec"], np.float64, 4)
            assert np.allclose(read.cam2_from_cam1.rotation.quat, [x, y, z, w], atol=1e-15)
            assert np.array_equal(read.cam2_from_cam1.translation, floats(row["tvec"], np.float64, 3))
        if row["F"] and row["rows"] > 0:
            # In COLMAP's own coordinates, in which F is valid for the points that pycolmap returns.
            a, b = (np.c_[database.read_keypoints(image)[inliers[:, side], :2], np.ones(len(inliers))]
                    for side, image in enumerate((first, second)))
            lines = a @ read.F.T
            distance = np.abs((b * lines).sum(1)) / np.hypot(lines[:, 0], lines[:, 1])
            assert np.median(distance) < 1
            general += 1
    assert general >= 3


def test_pose_priors(made):
    schema, database, rows = made
    priors = database.read_all_pose_priors()
    if schema == "3.8":  # which has no columns for them
        assert priors == []
        return
    names = {row["image_id"]: row["name"] for row in rows("SELECT image_id, name FROM images")}
    found = {names[prior.corr_data_id.id]: prior for prior in priors}
    assert len(rows("SELECT * FROM pose_priors")) == len(priors)
    for i, name in enumerate(NAMES[:3]):
        prior = found[name]
        assert prior.coordinate_system == pycolmap.PosePriorCoordinateSystem.WGS84
        assert np.allclose(prior.position, [50 + 7 / 60 + i / 3600, 14 + 25 / 60, ALTITUDE], atol=1e-9)
        assert np.array_equal(prior.gravity, [0, 1, 0])
    assert NAMES[3] not in found or not found[NAMES[3]].has_position()


# The two other combinations take as long again (half a minute of two cores) and were tried by hand: docs/colmap.md.
@pytest.mark.parametrize("schema, mapper", [("3.8", "incremental_mapping"), ("4", "global_mapping")])
def test_the_fountain_is_reconstructed(program, data, tmp_path, schema, mapper):
    photographs = data("fountain_p11") / "images"
    program("folder", photographs, "-o", tmp_path, "--schema", schema)
    models = getattr(pycolmap, mapper)(tmp_path / "database.db", photographs, tmp_path / "sparse")
    assert len(models) == 1
    model = next(iter(models.values()))
    assert model.num_reg_images() == 11
    assert model.num_points3D() > 5000
    assert model.compute_mean_reprojection_error() < 0.5
