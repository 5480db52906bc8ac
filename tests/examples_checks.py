# SPDX-License-Identifier: Apache-2.0
"""What the programs in examples/ must print and refuse: the same for those in C++ and those in Python.

Each check takes `run`, which runs an example by name with arguments and returns the finished process,
and a folder of generated views. Only the standard library is needed.
"""
import json
import math
import re
import sqlite3
import struct
import subprocess
import zlib

FOCAL_35MM = 35  # of the views' EXIF: with it the focal length is the longer side, 640 pixels


def make_views(program, folder):
    """Four views of 640 x 480 under names with spaces and quotes, and copies with EXIF."""
    folder = folder / "views of 'a' \"scène\""
    words = ["--views", "4", "--width", "640", "--height", "480", "--focal", "640", "--samples", "2", "--quiet"]
    subprocess.run([str(program), "scene", "-o", str(folder / "plain"), *words], check=True)
    (folder / "exif").mkdir()
    for file in sorted((folder / "plain").glob("*.png")):
        (folder / "exif" / file.name).write_bytes(with_exif(file.read_bytes()))
    return folder


def with_exif(png):
    """A PNG with an eXIf chunk behind its header that states the focal length."""
    entry = struct.Struct("<HHIHH")
    tiff = b"II*\0" + struct.pack("<I", 8)
    tiff += struct.pack("<HHHIII", 1, 0x8769, 4, 1, 26, 0)
    tiff += struct.pack("<H", 1) + entry.pack(0xA405, 3, 1, FOCAL_35MM, 0) + struct.pack("<I", 0)
    chunk = b"eXIf" + tiff
    chunk = struct.pack(">I", len(tiff)) + chunk + struct.pack(">I", zlib.crc32(chunk))
    after_header = 8 + 25
    return png[:after_header] + chunk + png[after_header:]


def views(folder, kind="plain"):
    return sorted(str(file) for file in (folder / kind).glob("*.png"))


def succeed(done):
    assert done.returncode == 0, f"{done.args} ended with {done.returncode}: {done.stderr}"
    return done.stdout


def refuse(done, name, words):
    """One sentence on stderr that begins with the program's name, and exit code 1."""
    assert done.returncode == 1, f"{done.args} ended with {done.returncode}: {done.stdout}{done.stderr}"
    lines = done.stderr.strip().split("\n")
    assert len(lines) == 1 and lines[0].startswith(f"{name}: ") and words in lines[0], done.stderr


def numbers(text):
    return [float(word) for word in text.split()]


def multiply(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(len(b[0]))] for i in range(3)]


def true_pose(folder):
    """R and t with X2 = R X1 + t between the first two views, |t| = 1."""
    a, b = json.loads((folder / "plain" / "cameras.json").read_text())["views"][:2]
    rotation = multiply(b["R"], [list(column) for column in zip(*a["R"])])
    moved = multiply(rotation, [[value] for value in a["t"]])
    t = [b["t"][i] - moved[i][0] for i in range(3)]
    length = math.sqrt(sum(value * value for value in t))
    return rotation, [value / length for value in t]


def degrees_between(r, s):
    """The angle of R S^T."""
    trace = sum(r[i][j] * s[i][j] for i in range(3) for j in range(3))
    return math.degrees(math.acos(max(-1, min(1, (trace - 1) / 2))))


def check_corner_stream(run, folder):
    frames = views(folder)
    out = succeed(run("corner_stream", *frames))
    lines = out.strip().split("\n")
    assert re.match(r"Harris corners on (NVIDIA|cuda|(CPU|cpu).*, because there is no GPU: .+)", lines[0]), out
    counts = [int(re.fullmatch(r".*: (\d+) corners, [-+.\de]+ ms", line)[1]) for line in lines[1:5]]
    batch = re.fullmatch(r"batch of 4: (\d+) corners, [-+.\de]+ ms per frame", lines[5])
    assert min(counts) > 200 and max(counts) <= 500 and sum(counts) == int(batch[1]), out
    assert all(line.startswith(frame) for line, frame in zip(lines[1:], frames)), out
    refuse(run("corner_stream", "none.png"), "corner_stream", "none.png")
    refuse(run("corner_stream", str(folder / "plain" / "cameras.json")), "corner_stream", "cameras.json")
    small = folder / "small.pgm"
    small.write_bytes(b"P5\n32 24\n255\n" + bytes(range(256)) * 3)
    done = run("corner_stream", frames[0], str(small))
    assert done.returncode == 1 and done.stderr.startswith("corner_stream: "), done.stderr


def check_sift_match(run, folder):
    first, second = views(folder)[:2]
    picture = folder / "matches.png"
    out = succeed(run("sift_match", first, second, str(picture)))
    a, b, matches = map(int, re.match(r"(\d+) and (\d+) features, (\d+) matches on ", out).groups())
    assert min(a, b) > 2000 and 1000 < matches < min(a, b), out
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    # Of the matches that are printed most lie on their epipolar lines by the scene's own F.
    pairs = json.loads((folder / "plain" / "cameras.json").read_text())["pairs"]
    matrix = next(pair["F"] for pair in pairs if (pair["a"], pair["b"]) == (0, 1))
    rows = [line.split(",") for line in out.split("\n") if re.fullmatch(r"[-.\d]+(,[-.\d]+){3}", line)]
    assert len(rows) == 5, out
    near = 0
    for x1, y1, x2, y2 in ([float(value) for value in row] for row in rows):
        line = [sum(row[k] * (x1, y1, 1)[k] for k in range(3)) for row in matrix]
        near += abs(line[0] * x2 + line[1] * y2 + line[2]) / math.hypot(line[0], line[1]) < 1.5
    assert near >= 4, f"{near} of 5 matches are right: {out}"
    refuse(run("sift_match", first, "none.png"), "sift_match", "none.png")
    refuse(run("sift_match", first, second, str(folder / "no" / "such.png")), "sift_match", "such.png")


def check_pose_from_exif(run, folder):
    first, second = views(folder, "exif")[:2]
    out = succeed(run("pose_from_exif", first, second))
    inliers, matches = map(int, re.search(r"(\d+) of (\d+) matches are inliers", out).groups())
    assert inliers > 800 and inliers <= matches, out
    found = out[out.index("R =\n") + 4:].split("\nt =\n")
    rotation, t = [numbers(row) for row in found[0].split("\n")], numbers(found[1])
    true_rotation, true_t = true_pose(folder)
    assert degrees_between(rotation, true_rotation) < 0.2, out
    angle = math.degrees(math.acos(min(1, sum(p * q for p, q in zip(t, true_t)))))
    assert angle < 1.5, f"the translation is off by {angle} degrees: {out}"
    printed = float(re.search(r"rotation by ([-+.\de]+) degrees", out)[1])
    identity = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert abs(printed - degrees_between(true_rotation, identity)) < 0.2, out
    refuse(run("pose_from_exif", *views(folder)[:2]), "pose_from_exif", "no focal length in EXIF")
    refuse(run("pose_from_exif", first, "none.png"), "pose_from_exif", "none.png")


def check_folder_to_colmap(run, folder):
    database = folder / "views.db"
    database.unlink(missing_ok=True)
    assert "4 images" in succeed(run("folder_to_colmap", str(folder / "plain"), str(database)))

    def rows(query):
        connection = sqlite3.connect(database)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    assert [name for name, in rows("SELECT name FROM images ORDER BY image_id")] == [f"view_00{i}.png" for i in range(4)]
    assert min(count for count, in rows("SELECT rows FROM keypoints")) > 1000
    geometries = rows("SELECT rows, config, F FROM two_view_geometries ORDER BY pair_id")
    assert len(geometries) == 6 and min(row[0] for row in geometries) > 100, geometries
    # The next run finds everything done.
    succeed(run("folder_to_colmap", str(folder / "plain"), str(database)))
    assert rows("SELECT rows, config, F FROM two_view_geometries ORDER BY pair_id") == geometries
    # A folder that is not there or empty leaves no database behind; a file that is no database stays as it is.
    (folder / "empty").mkdir(exist_ok=True)
    for missing in ("none", "empty"):
        refuse(run("folder_to_colmap", str(folder / missing), str(folder / "none.db")), "folder_to_colmap", missing)
        assert not (folder / "none.db").exists()
    other = folder / "other.db"
    other.write_text("no database")
    refuse(run("folder_to_colmap", str(folder / "plain"), str(other)), "folder_to_colmap", "other.db")
    assert other.read_text() == "no database"


def check_svd_batch(run, folder):
    file = folder / "matrices.txt"
    # A = U diag(s) V^T of 3 x 2 for chosen s, with U's columns in a turned plane.
    wanted, lines = [], []
    for i in range(7):
        s = (5.5 + i, 0.25 * i)  # the first one has rank 1
        c, d = math.cos(0.7 * i), math.sin(0.7 * i)
        p, q = math.cos(1.1 + i), math.sin(1.1 + i)
        u = [[c, -d * 0.6], [d, c * 0.6], [0, 0.8]]
        v = [[p, -q], [q, p]]
        wanted.append(s)
        lines.append(" ".join(repr(sum(u[r][k] * s[k] * v[w][k] for k in range(2))) for r in range(3) for w in range(2)))
    file.write_text("\n".join(lines))
    out = succeed(run("svd_batch", str(file), "3", "2"))
    head, *rows = out.strip().split("\n")
    assert head.startswith("7 matrices of 3 x 2"), out
    assert float(head.split()[-1]) < 1e-13, out
    for row, s in zip([numbers(row) for row in rows], wanted, strict=True):
        assert all(abs(p - q) < 1e-10 for p, q in zip(row, s, strict=True)), out
    refuse(run("svd_batch", str(file), "5", "2"), "svd_batch", "42 numbers are not whole matrices of 5 x 2")
    refuse(run("svd_batch", str(file), "0", "2"), "svd_batch", "no singular values")
    refuse(run("svd_batch", str(folder / "none.txt"), "3", "2"), "svd_batch", "")
    for contents, words in (("1 2 3 4 5 6 -", "-"), ("1 2 3 x 5 6", "x"), ("", "0 numbers"), ("1 2 3 4 5 nan", "not finite")):
        file.write_text(contents)
        refuse(run("svd_batch", str(file), "3", "2"), "svd_batch", words)


def check_usage(run, names):
    """Without arguments each says how it is called."""
    for name in names:
        done = run(name)
        assert done.returncode == 2 and done.stderr.startswith("usage: ") and name in done.stderr, done.stderr


CHECKS = {
    "corner_stream": check_corner_stream,
    "sift_match": check_sift_match,
    "pose_from_exif": check_pose_from_exif,
    "folder_to_colmap": check_folder_to_colmap,
    "svd_batch": check_svd_batch,
}
