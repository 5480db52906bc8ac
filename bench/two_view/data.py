# SPDX-License-Identifier: Apache-2.0
"""The pairs of views that compare_two_view.py measures on, and the errors of estimates.

A pair holds matches (x1, y1, x2, y2 per row, pixel centres at integers) and, depending on its source,
labels, exact positions without noise, cameras with a pose, or a homography.
"""
import dataclasses
import glob
import json
import math
import os
import subprocess

import numpy as np

NOTHING = 100.0  # the error of a run without an answer, and the maximum error of a run, pixels
# How photographs are matched: the fountain about as COLMAP does by default (as wide baselines
# require), the sequences with Cornea's own defaults.
FOUNTAIN_SIFT = ("--max-features", "8192", "--contrast", "0.02", "--root")
SEQUENCE_SIFT = ("--max-features", "4000")
SEQUENCES = ("graf", "boat", "leuven", "ubc")


@dataclasses.dataclass
class Pair:
    name: str
    matches: np.ndarray
    file: str = ""               # the matches as CSV
    inliers: np.ndarray = None   # of generated matches, those that are not outliers
    truth: np.ndarray = None     # points (x1, y1, x2, y2) that the correct F or H relates
    K1: np.ndarray = None
    K2: np.ndarray = None
    R: np.ndarray = None         # x_2 = R x_1 + t
    t: np.ndarray = None
    H: np.ndarray = None
    size: tuple = None           # width, height of the first image
    noise: float = 0.0
    outliers: float = 0.0


def write_matches(path, matches):
    np.savetxt(path, matches, fmt="%.9g", delimiter=",", header="x1,y1,x2,y2", comments="")


def read_columns(path):
    """The columns of a CSV file by name."""
    with open(path) as f:
        names = f.readline().strip().split(",")
    return dict(zip(names, np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2).T))


def read_matches(path):
    columns = read_columns(path)
    return np.stack([columns[k] for k in ("x1", "y1", "x2", "y2")], axis=1)


def labelled_pairs(folder):
    """Matches with labels; the truth is the labelled matches themselves."""
    pairs = []
    for file in sorted(glob.glob(os.path.join(folder, "*.csv"))):
        matches = read_matches(file)
        pairs.append(Pair(os.path.splitext(os.path.basename(file))[0], matches, file,
                          truth=matches[read_columns(file)["label"] == 1]))
    return pairs


# Generated pairs ---------------------------------------------------------------------------------

WIDTH, HEIGHT = 1024, 768


def rotation(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def two_cameras(rng):
    """K, R, t of a second camera that looks at the centre of the scene of the first one, up to 25 degrees
    around it and rotated by up to 15 degrees about its axis; focal length 0.8 to 1.6 times the width;
    scene depths are 4 to 12."""
    f = WIDTH * rng.uniform(0.8, 1.6)
    K = np.array([[f, 0, (WIDTH - 1) / 2], [0, f, (HEIGHT - 1) / 2], [0, 0, 1]])
    direction = rng.uniform(0, 2 * math.pi)
    R = rotation([math.cos(direction), math.sin(direction), 0], math.radians(rng.uniform(5, 25)))
    R = rotation([0, 0, 1], math.radians(rng.uniform(-15, 15))) @ R
    middle = np.array([0, 0, 8.0])
    return K, R, middle * rng.uniform(0.8, 1.2) - R @ middle


def project(K, X):
    x = X @ K.T
    return x[:, :2] / x[:, 2:]


def visible(K, R, t, depth_of, count, rng):
    """Positions of `count` points in both images: pixels of the first at depth_of(rays)."""
    found = np.empty((0, 4))
    for _ in range(1000):
        pixels = rng.uniform([0, 0], [WIDTH - 1, HEIGHT - 1], (4 * count, 2))
        rays = np.c_[pixels, np.ones(len(pixels))] @ np.linalg.inv(K).T
        depth = depth_of(rays)
        X = rays * depth[:, None]
        second = X @ R.T + t
        good = (depth > 1) & (second[:, 2] > 1)
        pixels, other = pixels[good], project(K, second[good])
        inside = ((other >= 0) & (other <= [WIDTH - 1, HEIGHT - 1])).all(1)
        found = np.vstack([found, np.c_[pixels[inside], other[inside]]])
        if len(found) >= count:
            return found[:count]
    return None


def random_outliers(count, rng):
    return rng.uniform(0, 1, (count, 4)) * ([WIDTH - 1, HEIGHT - 1] * 2)


def with_noise(places, count, noise, rng):
    """Noisy positions alone, and mixed with random ones."""
    noisy = places + rng.normal(0, noise, places.shape)
    matches = np.vstack([noisy, random_outliers(count - len(places), rng)])
    return {"inliers": noisy, "matches": matches[rng.permutation(count)]}


def depths(rays, rng):
    return rng.uniform(4, 12, len(rays))


def generated_pairs(per_setting, folder):
    """Points anywhere between depth 4 and 12 in 200 to 500 matches."""
    pairs = []
    for noise in (0.3, 1.0, 2.0):
        for outliers in (0.3, 0.5, 0.7):
            for index in range(per_setting):
                rng = np.random.default_rng([int(noise * 10), int(outliers * 100), index])
                places = None
                while places is None:
                    K, R, t = two_cameras(rng)
                    count = int(rng.integers(200, 501))
                    places = visible(K, R, t, lambda rays: depths(rays, rng),
                                     round(count * (1 - outliers)), rng)
                name = f"noise {noise} outliers {outliers:.0%} {index}"
                pair = Pair(name, **with_noise(places, count, noise, rng), truth=places, K1=K, K2=K,
                            R=R, t=t, noise=noise, outliers=outliers)
                pair.file = os.path.join(folder, f"generated_{noise}_{outliers}_{index}.csv")
                write_matches(pair.file, pair.matches)
                pairs.append(pair)
    return pairs


def plane_pairs(count, inlier_share, folder, matches=400, on_plane=0.85, noise=0.5):
    """Most inliers are on one plane; the others are at least 10 pixels from where the plane would map them.
    The truth of a pair is its inliers off the plane, without noise."""
    pairs = []
    for index in range(count):
        rng = np.random.default_rng([int(inlier_share * 100), index])
        inliers = round(matches * inlier_share)
        planar = round(inliers * on_plane)
        first = off = None
        while first is None or off is None or len(off) < inliers - planar:
            K, R, t = two_cameras(rng)
            normal = np.array([rng.uniform(-0.6, 0.6), rng.uniform(-0.6, 0.6), 1.0])
            distance = rng.uniform(7, 9)
            first = visible(K, R, t, lambda rays: distance / (rays @ normal), planar, rng)
            off = visible(K, R, t, lambda rays: depths(rays, rng), 4 * inliers, rng)
            if off is None:
                continue
            H = K @ (R + np.outer(t, normal) / distance) @ np.linalg.inv(K)
            moved = project(H, np.c_[off[:, :2], np.ones(len(off))])
            off = off[np.linalg.norm(moved - off[:, 2:], axis=1) > 10][:inliers - planar]
        places = np.vstack([first, off])
        pair = Pair(f"plane {inlier_share:.0%} {index}", **with_noise(places, matches, noise, rng),
                    truth=off, K1=K, K2=K, R=R, t=t, noise=noise, outliers=1 - inlier_share)
        pair.file = os.path.join(folder, f"plane_{inlier_share}_{index}.csv")
        write_matches(pair.file, pair.matches)
        pairs.append(pair)
    return pairs


def true_fundamental(pair):
    x, y, z = pair.t
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.linalg.inv(pair.K2).T @ cross @ pair.R @ np.linalg.inv(pair.K1)


# Photographs -------------------------------------------------------------------------------------

def match_images(cornea, first, second, settings, path):
    if not os.path.exists(path):
        subprocess.run([cornea, "match", first, second, "--detector", "sift", *settings,
                        "--device", "cpu", "--quiet", "--csv", path], check=True)
    return read_matches(path)


def fountain_pairs(data, cornea, folder, features=()):
    """All pairs of the photographs with known cameras; `features`: other options of SIFT."""
    root = os.path.join(data, "data/fountain_p11")
    if not os.path.exists(os.path.join(root, "cameras.json")):
        return []
    with open(os.path.join(root, "cameras.json")) as f:
        cameras = json.load(f)
    images = sorted(cameras)
    pairs = []
    for i, a in enumerate(images):
        for b in images[i + 1:]:
            name = f"fountain_{os.path.splitext(a)[0]}_{os.path.splitext(b)[0]}"
            file = os.path.join(folder, name + ".csv")
            matches = match_images(cornea, os.path.join(root, "images", a),
                                   os.path.join(root, "images", b), features or FOUNTAIN_SIFT,
                                   file)
            R1, R2 = (np.array(cameras[k]["R_cam_from_world"]) for k in (a, b))
            t1, t2 = (np.array(cameras[k]["t_cam_from_world"]) for k in (a, b))
            pairs.append(Pair(name, matches, file, K1=np.array(cameras[a]["K"]),
                              K2=np.array(cameras[b]["K"]), R=R2 @ R1.T, t=t2 - R2 @ R1.T @ t1,
                              size=(cameras[a]["width"], cameras[a]["height"])))
    return pairs


def png_size(path):
    with open(path, "rb") as f:
        head = f.read(24)
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def sequence_pairs(data, cornea, folder, features=()):
    """The first image of each sequence with each other one; `features` as above."""
    pairs = []
    for sequence in SEQUENCES:
        root = os.path.join(data, "data/vgg_affine", sequence)
        for n in range(2, 7):
            if not os.path.exists(os.path.join(root, f"H1to{n}.txt")):
                continue
            first = os.path.join(root, "img1.png")
            file = os.path.join(folder, f"{sequence}_1_{n}.csv")
            matches = match_images(cornea, first, os.path.join(root, f"img{n}.png"),
                                   features or SEQUENCE_SIFT, file)
            pairs.append(Pair(f"{sequence}_1_{n}", matches, file, size=png_size(first),
                              H=np.loadtxt(os.path.join(root, f"H1to{n}.txt"))))
    return pairs


# Errors ------------------------------------------------------------------------------------------

def epipolar_distances(F, matches):
    """The sum of both distances from point to epipolar line."""
    x1 = np.c_[matches[:, :2], np.ones(len(matches))]
    x2 = np.c_[matches[:, 2:4], np.ones(len(matches))]
    l2, l1 = x1 @ F.T, x2 @ F
    e = np.abs((x2 * l2).sum(1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return e / np.hypot(l2[:, 0], l2[:, 1]) + e / np.hypot(l1[:, 0], l1[:, 1])


def fundamental_error(F, pair):
    """Median distance of the true positions to F."""
    if F is None:
        return NOTHING
    error = float(np.median(epipolar_distances(F, pair.truth)))
    return min(error, NOTHING) if math.isfinite(error) else NOTHING


def pose_of_essential(E, x1, x2):
    """Of the four poses R, t of E the one for which most rays meet in front of both cameras (cheirality)."""
    U, _, Vt = np.linalg.svd(E)
    if np.linalg.det(U) < 0:
        U = -U
    if np.linalg.det(Vt) < 0:
        Vt = -Vt
    W = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    best = (-1, None, None)
    for R in (U @ W @ Vt, U @ W.T @ Vt):
        for t in (U[:, 2], -U[:, 2]):
            a, b = x1 @ R.T, x2
            aa, bb, ab, at, bt = (a * a).sum(1), (b * b).sum(1), (a * b).sum(1), a @ t, b @ t
            # least squares of d1 a - d2 b + t = 0; the determinant is positive
            front = int(((ab * bt - at * bb > 0) & (aa * bt - ab * at > 0)).sum())
            best = max(best, (front, R, t), key=lambda candidate: candidate[0])
    return best[1], best[2]


def rays(K, pixels):
    return np.c_[pixels, np.ones(len(pixels))] @ np.linalg.inv(K).T


def pose_of_fundamental(F, pair, K1, K2, within=3.0):
    """The pose of K2^T F K1, disambiguated by the matches within 3 pixels (sum over both lines)."""
    near = pair.matches[epipolar_distances(F, pair.matches) < within]
    if len(near) == 0:
        near = pair.matches
    return pose_of_essential(K2.T @ F @ K1, rays(K1, near[:, :2]), rays(K2, near[:, 2:4]))


def angle_between(a, b):
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    return math.degrees(2 * math.atan2(np.linalg.norm(a - b), np.linalg.norm(a + b)))


def pose_error(R, t, pair):
    """The larger of the errors of rotation and direction of translation, degrees."""
    if R is None or not np.isfinite(R).all() or not np.linalg.norm(t) > 0:
        return 180.0
    cosine = (np.trace(R.T @ pair.R) - 1) / 2
    sine = np.linalg.norm(R.T @ pair.R - pair.R.T @ R) / math.sqrt(8)
    return max(math.degrees(math.atan2(sine, cosine)), angle_between(np.asarray(t), pair.t))


def corner_error(H, pair):
    """Mean distance of the four corners of the first image mapped by H and by the true one."""
    if H is None or not np.isfinite(H).all():
        return NOTHING
    w, h = pair.size
    corners = np.array([[0, 0, 1], [w - 1, 0, 1], [w - 1, h - 1, 1], [0, h - 1, 1.0]])
    with np.errstate(divide="ignore", invalid="ignore"):
        error = float(np.linalg.norm(project(H, corners) - project(pair.H, corners), axis=1).mean())
    return min(error, NOTHING) if math.isfinite(error) else NOTHING


def area_under_recall(errors, limit):
    """Percent: the exact area under the recall curve (the fraction of errors below x), x from 0 to the
    limit."""
    return 100 * float(np.mean(np.clip(1 - np.asarray(errors) / limit, 0, 1)))
