# SPDX-License-Identifier: Apache-2.0
"""Two-view estimators behind one interface: Cornea, and those of other libraries that are installed.

Each has a name, the models that it estimates, a grid of thresholds per model in its own unit, and
    estimate(model, pair, threshold, budget, seed) -> Estimate
on one core. Models: fundamental, essential, shared_focal, homography, two_view (a library's own choice
between models). The budget is the maximum number of samples; the confidence is the same for all. All
other settings of a library are its defaults.
"""
import dataclasses
import json
import os
import subprocess
import tempfile
import time

import numpy as np

from . import data

CONFIDENCE = 0.999
ALL = ("fundamental", "essential", "shared_focal", "homography")


@dataclasses.dataclass
class Estimate:
    matrix: np.ndarray = None  # F, E or H
    R: np.ndarray = None
    t: np.ndarray = None
    milliseconds: float = 0.0
    kind: str = ""


def usable(matrix):
    """The matrix, or None if there is none."""
    if matrix is None:
        return None
    matrix = np.asarray(matrix, float)
    return matrix if matrix.shape == (3, 3) and np.isfinite(matrix).all() and matrix.any() else None


def timed(call):
    begin = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - begin) * 1000


class OpenCV:
    """One of its presets. They have no seed, so the matches are shuffled by the seed instead. Thresholds: F
    Sampson distance, E symmetric distance, H distance in the second image; pixels. For E the presets
    default and accurate give the same matrices."""
    thresholds = {"fundamental": (0.15, 0.25, 0.35, 0.5, 0.75, 1, 1.5, 2),
                  "essential": (0.25, 0.5, 0.75, 1, 1.5, 2),
                  "homography": (0.75, 1, 1.5, 2, 3, 4, 6, 10)}
    models = ("fundamental", "essential", "homography")

    def __init__(self, name, preset):
        import cv2
        self.cv2, self.name, self.method = cv2, name, getattr(cv2, preset)
        self.version = cv2.__version__
        cv2.setNumThreads(1)

    def estimate(self, model, pair, threshold, budget, seed):
        cv2 = self.cv2
        order = np.random.default_rng(seed).permutation(len(pair.matches))
        a, b = (np.ascontiguousarray(pair.matches[order][:, k:k + 2]) for k in (0, 2))
        try:
            if model == "fundamental":
                (F, _), ms = timed(lambda: cv2.findFundamentalMat(
                    a, b, self.method, threshold, CONFIDENCE, budget))
                return Estimate(usable(F), milliseconds=ms)
            if model == "homography":
                (H, _), ms = timed(lambda: cv2.findHomography(
                    a, b, self.method, threshold, maxIters=budget, confidence=CONFIDENCE))
                return Estimate(usable(H), milliseconds=ms)
            if not np.array_equal(pair.K1, pair.K2):  # this call uses one camera for both views
                raise ValueError("OpenCV's call with a limit takes one camera for both views")
            (E, mask), ms = timed(lambda: cv2.findEssentialMat(
                a, b, pair.K1, self.method, CONFIDENCE, threshold, budget))
        except cv2.error:
            return Estimate()
        E = usable(E)
        if E is None:
            return Estimate(milliseconds=ms)
        near = mask.ravel() != 0 if mask is not None and mask.any() else slice(None)
        R, t = data.pose_of_essential(E, data.rays(pair.K1, a[near]), data.rays(pair.K2, b[near]))
        return Estimate(E, R, t, ms)


class PoseLib:
    """Thresholds: Sampson distance (F, E), distance in the second image (H); pixels."""
    name = "PoseLib"
    models = ALL
    thresholds = {"fundamental": (0.15, 0.25, 0.35, 0.5, 0.75, 1, 1.5, 2),
                  "essential": (0.25, 0.5, 0.75, 1, 1.5, 2),
                  "shared_focal": (0.25, 0.5, 0.75, 1, 1.5, 2),
                  "homography": (0.75, 1, 1.5, 2, 3, 4, 6, 10)}

    def __init__(self):
        import poselib
        self.poselib, self.version = poselib, poselib.__version__

    def estimate(self, model, pair, threshold, budget, seed):
        a, b = (np.ascontiguousarray(pair.matches[:, k:k + 2]) for k in (0, 2))
        options = {"max_epipolar_error": threshold, "max_reproj_error": threshold, "seed": seed,
                   "max_iterations": budget, "success_prob": CONFIDENCE}
        if model == "fundamental":
            (F, _), ms = timed(lambda: self.poselib.estimate_fundamental(a, b, options))
            return Estimate(usable(F), milliseconds=ms)
        if model == "homography":
            (H, _), ms = timed(lambda: self.poselib.estimate_homography(a, b, options))
            return Estimate(usable(H), milliseconds=ms)
        if model == "essential":
            cameras = [{"model": "PINHOLE", "width": pair.size[0], "height": pair.size[1],
                        "params": [K[0, 0], K[1, 1], K[0, 2], K[1, 2]]} for K in (pair.K1, pair.K2)]
            (pose, _), ms = timed(lambda: self.poselib.estimate_relative_pose(
                a, b, *cameras, options))
            return Estimate(None, np.array(pose.R), np.array(pose.t), ms)
        centre = np.array([pair.K1[0, 2], pair.K1[1, 2]])
        (found, _), ms = timed(lambda: self.poselib.estimate_shared_focal_relative_pose(
            a, b, centre, options))
        return Estimate(None, np.array(found.pose.R), np.array(found.pose.t), ms)


class Pycolmap:
    """Thresholds: max_error, the root of the squared Sampson distance (F, E), distance in the
    second image (H); pixels."""
    name = "pycolmap"
    models = ("fundamental", "essential", "homography", "two_view")
    thresholds = {"fundamental": (0.15, 0.25, 0.35, 0.5, 0.75, 1, 1.5, 2),
                  "essential": (0.25, 0.5, 0.75, 1, 1.5, 2),
                  "two_view": (0.25, 0.5, 1, 1.5, 2, 4),
                  "homography": (0.75, 1, 1.5, 2, 3, 4, 6, 10)}

    def __init__(self):
        import pycolmap
        self.pycolmap, self.version = pycolmap, pycolmap.__version__
        pycolmap.logging.minloglevel = 3

    def estimate(self, model, pair, threshold, budget, seed):
        colmap = self.pycolmap
        a, b = (np.ascontiguousarray(pair.matches[:, k:k + 2]) for k in (0, 2))
        options = colmap.RANSACOptions()
        options.max_error, options.random_seed, options.confidence = threshold, seed, CONFIDENCE
        options.max_num_trials, options.num_threads = budget, 1
        if model in ("fundamental", "homography"):
            call = (colmap.estimate_fundamental_matrix if model == "fundamental"
                    else colmap.estimate_homography_matrix)
            found, ms = timed(lambda: call(a, b, options))
            return Estimate(usable(found["F" if model == "fundamental" else "H"]) if found else None,
                            milliseconds=ms)
        cameras = [colmap.Camera(model="PINHOLE", width=pair.size[0], height=pair.size[1],
                                 params=[K[0, 0], K[1, 1], K[0, 2], K[1, 2]])
                   for K in (pair.K1, pair.K2)]
        if model == "essential":
            found, ms = timed(lambda: colmap.estimate_essential_matrix(a, b, *cameras, options))
            if not found:
                return Estimate(milliseconds=ms)
            pose = found["cam2_from_cam1"]
            return Estimate(usable(found["E"]), pose.rotation.matrix(), pose.translation, ms)
        choice = colmap.TwoViewGeometryOptions()
        choice.ransac, choice.compute_relative_pose = options, True
        same = np.repeat(np.arange(len(a), dtype=np.uint32)[:, None], 2, axis=1)
        found, ms = timed(lambda: colmap.estimate_two_view_geometry(
            cameras[0], a, cameras[1], b, same, choice))
        pose = found.cam2_from_cam1
        if pose is None:
            return Estimate(milliseconds=ms)
        R, (x, y, z) = pose.rotation.matrix(), pose.translation
        E = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ R
        F = np.linalg.inv(pair.K2).T @ E @ np.linalg.inv(pair.K1)
        return Estimate(F, R, pose.translation, ms)


class Pydegensac:
    """Thresholds: Sampson distance, and a check of both point-to-line distances (F) or of both
    transfers (H); pixels."""
    name = "pydegensac"
    models = ("fundamental", "homography")
    thresholds = {"fundamental": (0.15, 0.25, 0.35, 0.5, 0.75, 1, 1.5, 2),
                  "homography": (0.75, 1, 1.5, 2, 3, 4, 6, 10)}

    def __init__(self):
        import importlib.metadata
        import pydegensac
        self.pydegensac, self.version = pydegensac, importlib.metadata.version("pydegensac")

    def estimate(self, model, pair, threshold, budget, seed):
        a, b = (np.ascontiguousarray(pair.matches[:, k:k + 2]) for k in (0, 2))
        call = (self.pydegensac.findFundamentalMatrix if model == "fundamental"
                else self.pydegensac.findHomography)
        try:
            (matrix, _), ms = timed(lambda: call(a, b, threshold, CONFIDENCE, budget, seed=seed + 1))
        except np.linalg.LinAlgError:
            return Estimate()
        return Estimate(usable(matrix), milliseconds=ms)


class Cornea:
    """The program. Thresholds: the sum of both point-to-line distances (F, E) or both transfer errors (H),
    pixels; None: its default. The time is the one it reports, that of the estimator alone."""
    thresholds = {model: (None, 0.5, 1, 1.5, 2, 3, 4, 6) for model in ALL + ("two_view",)}
    commands = {"fundamental": ["fundamental"], "essential": ["essential"],
                "shared_focal": ["essential", "--shared-focal"], "homography": ["homography"]}

    def __init__(self, program, threads=1):
        self.program, self.threads = program, threads
        self.name = "Cornea" if threads == 1 else f"Cornea, {threads} threads"
        version = subprocess.run([program, "--version"], capture_output=True, text=True)
        self.version = version.stdout.strip()
        self.models = tuple(m for m in self.commands if self.has(self.commands[m]))
        try:
            import cornea
            self.package, self.models = cornea, (*self.models, "two_view")
        except ImportError:
            print("Cornea's own choice between models is left out: it needs its Python package")

    def has(self, command):
        """Whether the program knows the command and its flag."""
        page = subprocess.run([self.program, command[0], "--help"], capture_output=True, text=True)
        return page.returncode == 0 and all(flag in page.stdout for flag in command[1:])

    def run(self, arguments):
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, ALL_CORES if self.threads > 1 else cores)
        try:
            return subprocess.run([self.program, *arguments, "--device", "cpu", "--threads",
                                   str(self.threads), "--quiet"], capture_output=True, text=True)
        finally:
            os.sched_setaffinity(0, cores)

    def choice(self, pair, threshold, budget, seed):
        """E, F or H as chosen by verify and pair, for cameras whose focal lengths are guesses."""
        settings = {"seed": seed}
        if threshold:
            settings["threshold"] = threshold
        if budget:
            settings["max_hypotheses"] = budget
        estimator = self.package.TwoView(fundamental=settings, essential=settings,
                                         homography=settings, device="cpu", threads=self.threads)
        cameras = {f"camera{k}": self.package.Camera(K[0, 0], K[1, 1], K[0, 2], K[1, 2])
                   for k, K in (("1", pair.K1), ("2", pair.K2))}
        found, ms = timed(lambda: estimator.estimate(pair.matches[:, :4], focal_known=False,
                                                     **cameras))
        R = usable(found.R)
        return Estimate(usable(found.F), R, None if R is None else np.array(found.t), ms,
                        str(found.configuration))

    def estimate(self, model, pair, threshold, budget, seed):
        if model == "two_view":
            return self.choice(pair, threshold, budget, seed)
        command = [*self.commands[model], pair.file, "--seed", str(seed), "--json", "-"]
        if budget:
            command += ["--max-hypotheses", str(budget)]
        if threshold:
            command += ["--threshold", str(threshold)]
        if model in ("essential", "shared_focal"):
            for k, K in (("1", pair.K1), ("2", pair.K2)):
                guess = 1.2 * max(pair.size)  # COLMAP's
                f = (guess, guess) if model == "shared_focal" else (K[0, 0], K[1, 1])
                command += [f"--camera{k}", ",".join(repr(float(v)) for v in
                                                     (*f, K[0, 2], K[1, 2]))]
        done = self.run(command)
        if done.returncode == 2:  # the call itself is wrong, which is not a failed estimate
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        if done.returncode != 0:
            return Estimate(kind="failed")
        found = json.loads(done.stdout)
        matrix = found.get({"fundamental": "F", "homography": "H"}.get(model, "E"))
        R, t = usable(found.get("R")), found.get("t")
        return Estimate(usable(matrix), R, np.array(t, float) if R is not None else None,
                        found["milliseconds"], found.get("kind", ""))

    def fundamental_seeds(self, pairs, threshold, budget, seeds):
        """All seeds of all pairs in one process, after a warm-up call."""
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.json")
            settings = [f"threshold={threshold}"] if threshold else []
            settings += [f"max-hypotheses={budget}"] if budget else []
            done = self.run(["bench", "--repeat", str(max(seeds, 3)), "--json", out,
                             "--match-files", *[p.file for p in pairs],
                             *(["--set", *settings] if settings else [])])
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
            with open(out) as f:
                files = json.load(f)["match_files"]
        return [[Estimate(usable(np.array(s["F"], float).reshape(3, 3)), None, None,
                          s["milliseconds"], s["kind"]) for s in file["seeds"][:seeds]]
                for file in files]


ALL_CORES = os.sched_getaffinity(0)


def estimators(program):
    """Cornea and the peers that are installed; prints a line for each that is not."""
    found = [Cornea(program)]
    for make in (lambda: OpenCV("USAC default", "USAC_DEFAULT"),
                 lambda: OpenCV("USAC accurate", "USAC_ACCURATE"),
                 lambda: OpenCV("MAGSAC", "USAC_MAGSAC"), PoseLib, Pycolmap, Pydegensac):
        try:
            found.append(make())
        except ImportError as error:
            print(f"skipped: {error}")
    return found
