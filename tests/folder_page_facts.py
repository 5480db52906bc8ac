# SPDX-License-Identifier: Apache-2.0
"""Reads a COLMAP database of a folder without Cornea: the facts that the folder's page must show."""
import os
import sqlite3
import struct

WATERMARK = 7


class Facts:
    def __init__(self, file, photos):
        database = sqlite3.connect(file)
        ids, self.names, self.sizes = {}, [], []
        cameras = {row[0]: row[1:] for row in database.execute("SELECT camera_id, width, height FROM cameras")}
        for image, name, camera in database.execute("SELECT image_id, name, camera_id FROM images ORDER BY image_id"):
            ids[image] = len(self.names)
            self.names.append(name)
            self.sizes.append(cameras[camera])
        self.missing = {i for i, name in enumerate(self.names) if not os.path.exists(os.path.join(photos, name))}
        self.keypoints = {}
        for image, rows, columns, data in database.execute("SELECT image_id, rows, cols, data FROM keypoints"):
            numbers = struct.unpack(f"<{rows * columns}f", data)
            # In COLMAP the centre of the first pixel is 0.5.
            self.keypoints[ids[image]] = [(numbers[k] - 0.5, numbers[k + 1] - 0.5) for k in range(0, rows * columns, columns)]
        self.pairs = {}  # (first, second): matches, inliers, kind, index pairs of the inliers
        geometries = {row[0]: row[1:] for row in
                      database.execute("SELECT pair_id, rows, config, data FROM two_view_geometries")}
        for pair, matches in database.execute("SELECT pair_id, rows FROM matches ORDER BY pair_id"):
            second = pair % 2147483647
            rows, kind, data = geometries.get(pair, (0, 0, None))
            inliers = list(struct.iter_unpack("<2I", data)) if rows and data else []
            self.pairs[ids[(pair - second) // 2147483647], ids[second]] = (matches, len(inliers), kind, inliers)
        database.close()

    def has_geometry(self, pair):
        return self.pairs[pair][1] > 0 and self.pairs[pair][2] > 1

    def has_geometry_of(self, a, b):
        return (min(a, b), max(a, b)) in self.pairs and self.has_geometry((min(a, b), max(a, b)))

    def connects(self, pair):
        return self.has_geometry(pair) and self.pairs[pair][2] != WATERMARK

    def neighbours(self, image):
        return {a + b - image for a, b in self.pairs if image in (a, b) and self.connects((a, b))}

    def groups(self):
        """The connected components as sets of images, the largest first."""
        left, found = set(range(len(self.names))), []
        while left:
            group, edge = set(), {min(left)}
            while edge:
                group |= edge
                edge = set().union(*(self.neighbours(i) for i in edge)) - group
            found.append(group)
            left -= group
        return sorted(found, key=lambda g: (-len(g), min(g)))
