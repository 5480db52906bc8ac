#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a folder of generated photographs and a matching COLMAP database, to look at the page of many images.

    make_collection.py OUT [--images N] [--groups N] [--seed N] [--hostile]

OUT/photos holds small images, OUT/collection.db features, matches and verified pairs, as after extract, match-all
and verify. Each group is a survey flight: images in rows over a scene of its own, seen by a camera that does not
rotate, so that F, E and the pose are known exactly and points are shared where views overlap. Some images belong
to no group, some pairs have no geometry, a few are watermarks and a few photographs are missing. The same
arguments give the same files. Uses only Python's standard library.
"""
import argparse
import math
import os
import random
import sqlite3
import struct
import zlib

WIDTH, HEIGHT, FOCAL = 240, 180, 260.0
STEP_X, STEP_Y = 66, 52
TABLES = """
CREATE TABLE cameras (camera_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, model INTEGER NOT NULL,
  width INTEGER NOT NULL, height INTEGER NOT NULL, params BLOB, prior_focal_length INTEGER NOT NULL);
CREATE TABLE images (image_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT NOT NULL UNIQUE,
  camera_id INTEGER NOT NULL, prior_qw REAL, prior_qx REAL, prior_qy REAL, prior_qz REAL, prior_tx REAL, prior_ty REAL,
  prior_tz REAL);
CREATE TABLE keypoints (image_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL, data BLOB);
CREATE TABLE descriptors (image_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL, data BLOB);
CREATE TABLE matches (pair_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL, data BLOB);
CREATE TABLE two_view_geometries (pair_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL,
  data BLOB, config INTEGER NOT NULL, F BLOB, E BLOB, H BLOB, qvec BLOB, tvec BLOB);
PRAGMA user_version = 3800;
"""


def doubles(values):
    return struct.pack(f"<{len(values)}d", *values)


def png(width, rows):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 1)) + chunk(b"IEND", b""))


class Scene:
    """Ground seen from above, with fields and paths between them, and points with parallax."""

    def __init__(self, width, height, rng):
        self.width, self.height = int(width * 1.06) + WIDTH + 8, int(height * 1.06) + HEIGHT + 8
        self.ground = [bytearray(3 * self.width) for _ in range(self.height)]
        self.season = rng.random()
        self.divide(0, 0, self.width, self.height, rng)
        self.cells = {}
        count = int(self.width * self.height / 90)
        for _ in range(count):
            point = (rng.random() * self.width, rng.random() * self.height, 0.95 + 0.1 * rng.random())
            self.cells.setdefault((int(point[0]) // 120, int(point[1]) // 120), []).append(point)
            self.plant(int(point[0]), int(point[1]), rng.random())

    def divide(self, left, top, right, bottom, rng):
        """Splits the ground recursively until its fields are small, with a path between two halves."""
        wide, tall = right - left, bottom - top
        if max(wide, tall) < 110 or (max(wide, tall) < 220 and rng.random() < 0.35):
            self.sow(left, top, right, bottom, rng)
            return
        share, path = 0.35 + 0.3 * rng.random(), 2 if max(wide, tall) < 400 else 4
        if wide > tall:
            middle = left + int(wide * share)
            self.divide(left, top, middle, bottom, rng)
            self.divide(middle + path, top, right, bottom, rng)
            self.fill(middle, top, middle + path, bottom, (176, 164, 142))
        else:
            middle = top + int(tall * share)
            self.divide(left, top, right, middle, rng)
            self.divide(left, middle + path, right, bottom, rng)
            self.fill(left, middle, right, middle + path, (176, 164, 142))

    def sow(self, left, top, right, bottom, rng):
        """Draws one field: its colour, and rows along or across it."""
        crops = [(96, 128, 62), (132, 148, 74), (188, 170, 96), (150, 118, 82), (74, 104, 70), (206, 190, 128), (112, 140, 96)]
        colour = crops[min(len(crops) - 1, int(len(crops) * (0.7 * rng.random() + 0.3 * self.season)))]
        light, every, along = 0.85 + 0.3 * rng.random(), 3 + int(4 * rng.random()), rng.random() < 0.5
        rows = [bytes(min(255, int(v * light * shade)) for v in colour) for shade in (1, 0.88)]
        if along:
            for y in range(top, bottom):
                self.ground[y][3 * left:3 * right] = rows[y % every == 0] * (right - left)
        else:
            line = b"".join(rows[x % every == 0] for x in range(left, right))
            for y in range(top, bottom):
                self.ground[y][3 * left:3 * right] = line

    def fill(self, left, top, right, bottom, colour):
        for y in range(top, bottom):
            self.ground[y][3 * left:3 * right] = bytes(colour) * (right - left)

    def plant(self, x, y, kind):
        """Draws the object at a point: a bush, or sometimes a house."""
        side, colour = (5, (168, 92, 70)) if kind < 0.04 else (2, (52, 76, 46)) if kind < 0.4 else (1, (72, 92, 58))
        self.fill(x, y, min(self.width, x + side), min(self.height, y + side), colour)

    def picture(self, left, top):
        left, top = int(left), int(top)
        return [bytes(row[3 * left:3 * (left + WIDTH)]) for row in self.ground[top:top + HEIGHT]]

    def seen(self, left, top):
        for cx in range(int(left * 0.95) // 120, int(left * 1.05 + WIDTH) // 120 + 1):
            for cy in range(int(top * 0.95) // 120, int(top * 1.05 + HEIGHT) // 120 + 1):
                for point in self.cells.get((cx, cy), ()):
                    x, y = point[0] - left * point[2], point[1] - top * point[2]
                    if 0 <= x < WIDTH and 0 <= y < HEIGHT:
                        yield point, x, y


def group_sizes(images, groups):
    """The first is about half, the next half of the rest, and so on; a hundredth of the images has no group."""
    alone, sizes = max(2, images // 100), []
    left = images - alone
    for k in range(groups):
        size = left if k == groups - 1 else max(3, left // 2)
        sizes.append(min(size, left))
        left -= sizes[-1]
    return [size for size in sizes if size > 1], alone + left + sum(size for size in sizes if size == 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--images", type=int, default=300)
    parser.add_argument("--groups", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hostile", action="store_true", help="names that try to be HTML or are not UTF-8")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    photos = os.path.join(given.out, "photos")
    os.makedirs(photos, exist_ok=True)
    file = os.path.join(given.out, "collection.db")
    if os.path.exists(file):
        os.remove(file)
    database = sqlite3.connect(file)
    database.executescript(TABLES)
    database.execute("INSERT INTO cameras VALUES(1, 1, ?, ?, ?, 1)",
                     (WIDTH, HEIGHT, doubles([FOCAL, FOCAL, WIDTH / 2, HEIGHT / 2])))
    sizes, alone = group_sizes(given.images, given.groups)
    views, image_id = [], 0  # per image: group, position, {point: index}, coordinates
    for group, size in enumerate(sizes + [1] * alone):
        columns = max(1, math.ceil(math.sqrt(size * 1.6)))
        rows = -(-size // columns)
        scene = Scene(columns * STEP_X + 20, rows * STEP_Y + 20, rng)
        for k in range(size):
            image_id += 1
            row, column = divmod(k, columns)
            # Alternating direction per row.
            column = column if row % 2 == 0 else columns - 1 - column
            left, top = column * STEP_X + 12 * rng.random(), row * STEP_Y + 12 * rng.random()
            name = f"flight_{group + 1}/view_{k:04d}.png" if size > 1 else f"other/picture_{image_id:04d}.png"
            if given.hostile and image_id <= 3:
                name = ["<script>stolen=1<%2Fscript>.png", "it's \"quoted\" & <b>.png", "\u00fc\u2028 \u4e2d.png"][image_id - 1]
            path = os.path.join(photos, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if image_id % 97 != 0:  # some photographs are missing
                with open(path, "wb") as out:
                    out.write(png(WIDTH, scene.picture(left, top)))
            few = rng.random() < 0.01
            index, places = {}, []
            for point, x, y in scene.seen(left, top):
                if (few and rng.random() > 0.05) or rng.random() > 0.8:
                    continue
                index[point] = len(places)
                # In COLMAP the centre of the first pixel is 0.5.
                places.append((x + rng.gauss(0, 0.25), y + rng.gauss(0, 0.25)))
            keypoints = b"".join(struct.pack("<6f", x, y, 2, 0, 0, 2) for x, y in places)
            database.execute("INSERT INTO images(image_id, name, camera_id) VALUES(?, ?, 1)", (image_id, name))
            database.execute("INSERT INTO keypoints VALUES(?, ?, 6, ?)", (image_id, len(places), keypoints))
            views.append((group, left, top, index))
    identity = doubles([1, 0, 0, 0])
    for a in range(len(views)):
        tried = {b for b in range(a + 1, len(views)) if views[b][0] == views[a][0] and
                 abs(views[b][1] - views[a][1]) < WIDTH and abs(views[b][2] - views[a][2]) < HEIGHT}
        tried |= {rng.randrange(len(views)) for _ in range(6)}
        for b in sorted(tried):
            if b <= a:
                continue
            pair = 2147483647 * (a + 1) + b + 1
            first, second = views[a], views[b]
            common = [(i, second[3][p]) for p, i in first[3].items() if p in second[3] and rng.random() < 0.75]
            wrong = [(rng.randrange(len(first[3])), rng.randrange(len(second[3])))
                     for _ in range(rng.randrange(4, 18)) if first[3] and second[3]]
            data = b"".join(struct.pack("<2I", *m) for m in common + wrong)
            database.execute("INSERT OR REPLACE INTO matches VALUES(?, ?, 2, ?)", (pair, len(common + wrong), data))
            if len(common) < 15:
                database.execute("INSERT OR REPLACE INTO two_view_geometries(pair_id, rows, cols, config) VALUES(?, 0, 2, 1)", (pair,))
                continue
            # A point moves opposite to the camera: x2 - x1 is a multiple of (tx, ty).
            tx, ty = first[1] - second[1], first[2] - second[2]
            length = math.hypot(tx, ty)
            tx, ty = tx / length, ty / length
            cross = [0, 0, ty, 0, 0, -tx, -ty, tx, 0]
            kind = rng.random()
            config = 2 if kind < 0.8 else 3 if kind < 0.96 else 6 if kind < 0.995 else 7
            F, E, H, q, t = doubles(cross), None, None, None, None
            if config == 2:
                E, q, t = doubles(cross), identity, doubles([tx, ty, 0])
            elif config == 6:
                F, H = None, doubles([1, 0, first[1] - second[1], 0, 1, first[2] - second[2], 0, 0, 1])
            database.execute("INSERT OR REPLACE INTO two_view_geometries VALUES(?, ?, 2, ?, ?, ?, ?, ?, ?, ?)",
                             (pair, len(common), data[:8 * len(common)], config, F, E, H, q, t))
    database.commit()
    counts = [database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in ("images", "matches")]
    verified = database.execute("SELECT COUNT(*) FROM two_view_geometries WHERE config > 1").fetchone()[0]
    print(f"{counts[0]} images in {len(sizes)} groups and {alone} alone, {counts[1]} pairs, {verified} with a geometry")
    database.close()


if __name__ == "__main__":
    main()
