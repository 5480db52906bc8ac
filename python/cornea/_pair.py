# SPDX-License-Identifier: Apache-2.0
"""The geometry of two photographs."""

from __future__ import annotations

import base64
import html
import inspect
import json
import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cornea
from ._detect import _DETECTORS
from ._device import context
from ._draw import draw_matches
from ._features import Features, Matches
from ._files import PathLike, Range, is_path, read
from ._geometry import (
    _E,
    _F,
    _H,
    Camera,
    CameraLike,
    FundamentalResult,
    Matrix,
    TwoViewResult,
    _cameras,
    two_view_result,
)
from ._match import _OPTIONS as _MATCH
from ._options import OptionValue, settings

# The options of F that E and H inherit, as in `cornea pair`; the size of a round is not among them.
_SHARED = ("threshold", "threshold_per_line", "confidence", "max_hypotheses", "seed", "optimise", "refine")


class _Photograph:
    """A given image, the image in which features are detected, and the image that is shown."""

    def __init__(self, given: Any, number: int, upright: bool, range: Range) -> None:
        self.given, self.upright, self.range = given, upright, range
        self.focal: float | None = None
        if is_path(given):
            self.name = os.fspath(given)
            self.gray, facts = _cornea.read_gray(self.name, upright, range, _cornea.MAX_PIXELS)
            self.focal = facts["focal_pixels"]
        else:
            self.name, self.gray = f"image {number}", given

    @cached_property
    def shown(self) -> Any:
        if is_path(self.given):
            return _cornea.read_colour(self.name, self.upright, self.range, _cornea.MAX_PIXELS, True)
        if hasattr(self.given, "__array__") and not isinstance(self.given, np.ndarray):
            moved = self.given.cpu() if hasattr(self.given, "cpu") else self.given
            return np.asarray(moved.get() if hasattr(moved, "get") else moved)
        return self.given

    def middle(self, focal: float) -> Camera:
        height, width = self.gray.shape[:2]
        return Camera(focal, focal, (width - 1) / 2, (height - 1) / 2)


class PairResult:
    """The features, matches and geometry of two photographs.

    A notebook shows it as a picture; save() writes a self-contained page.
    """

    def __init__(self, made: _cornea.PairResult, first: _Photograph, second: _Photograph, detector: str) -> None:
        self._made, self._photographs, self.detector = made, (first, second), detector

    @cached_property
    def first(self) -> Features:
        """Features of the first image."""
        return Features._of(self._made.features(0))

    @cached_property
    def second(self) -> Features:
        """Features of the second image."""
        return Features._of(self._made.features(1))

    @cached_property
    def matches(self) -> Matches:
        """The matches in the order of the first image's points, without duplicates between the same two positions."""
        return Matches._of(self._made.matches())

    @cached_property
    def points(self) -> NDArray[np.float32]:
        """x1, y1, x2, y2 of every match."""
        return self.matches.points(self.first, self.second)

    @cached_property
    def geometry(self) -> FundamentalResult:
        """The chosen geometry. If E was chosen, F is computed from E and the cameras."""
        return FundamentalResult(**self._made.geometry())

    @cached_property
    def two_view(self) -> TwoViewResult | None:
        """E, F and H, if the cameras are known."""
        parts = self._made.two_view()
        return None if parts is None else two_view_result(parts)

    @property
    def kind(self) -> str:
        return self.geometry.kind

    @property
    def F(self) -> Matrix | None:
        return self.geometry.F

    @property
    def H(self) -> Matrix | None:
        """The homography, if the kind is "planar"."""
        return self.geometry.H

    @property
    def by_essential(self) -> bool:
        """Whether E was chosen; only then there is a pose."""
        return bool(self._made.by_essential)

    def _of_essential(self, name: str) -> Any:
        if not self.by_essential or self.two_view is None:
            return None
        return getattr(self.two_view.essential, name)

    @property
    def E(self) -> Matrix | None:
        found: Matrix | None = self._of_essential("E")
        return found

    @property
    def R(self) -> Matrix | None:
        """X2 = R X1 + t in camera coordinates."""
        found: Matrix | None = self._of_essential("R")
        return found

    @property
    def t(self) -> Matrix | None:
        """The translation, of length 1."""
        found: Matrix | None = self._of_essential("t")
        return found

    @property
    def inliers(self) -> NDArray[np.bool_]:
        """Whether each match is an inlier."""
        return self.geometry.inliers

    @cached_property
    def distances(self) -> NDArray[np.float32] | None:
        """The distance of every match, pixels: to both epipolar lines, or the transfer distance of H."""
        return self._made.distances()

    @property
    def threshold(self) -> float:
        """The inlier threshold: distances of inliers are below it, pixels."""
        return float(self._made.threshold)

    @property
    def milliseconds(self) -> dict[str, float]:
        """Wall-clock time per stage."""
        return self._made.stages()

    @property
    def device(self) -> str:
        return str(self._made.device)

    def __repr__(self) -> str:
        return (
            f"<cornea.PairResult: {self.kind}, {len(self.first)} and {len(self.second)} features, "
            f"{len(self.matches)} matches, {self.geometry.inlier_count} inliers>"
        )

    def sentence(self) -> str:
        """A description of the result."""
        g, count = self.geometry, f"{len(self.matches):,}"
        if self.kind == "general":
            chance = "; so few may agree by chance, and these may not be photographs of one scene"
            pose = self.two_view.essential if self.by_essential and self.two_view else None
            doubt = ""
            if pose and pose.leaves_points_behind:
                doubt = " Over a quarter of the inliers with parallax lie behind a camera, so the pose is probably wrong."
            elif pose and pose.second_pose:
                doubt = " Nearly all inliers lie on one plane, which another pose explains as well: R and t may be wrong."
            return (
                f"{g.inlier_count:,} of {count} matches agree with one "
                f"{'essential' if self.by_essential else 'fundamental'} matrix, within "
                f"{round(self.threshold, 2):g} pixels of their epipolar lines{chance if g.may_be_chance else ''}.{doubt}"
            )
        if self.kind == "planar":
            return (
                f"What agrees lies on one plane, or the camera only rotated: {g.inlier_count:,} of {count} "
                "matches follow a homography."
            )
        return f"No geometry was found among {count} matches."

    def draw(self, *, inliers: bool = True) -> NDArray[np.uint8]:
        """Both images side by side with lines for the inliers, or for all matches."""
        chosen = self.matches[self.inliers] if inliers and self.inliers.any() else self.matches
        first, second = self._photographs
        return draw_matches(first.shown, second.shown, self.first, self.second, chosen)

    def _repr_png_(self) -> bytes:
        return _cornea.encode_png(self.draw())

    def _repr_html_(self) -> str:
        picture = base64.b64encode(self._repr_png_()).decode("ascii")
        names = html.escape(f"{self._photographs[0].name} and {self._photographs[1].name}")
        return (
            f'<figure><img alt="matches of {names}" style="max-width:100%" '
            f'src="data:image/png;base64,{picture}"><figcaption>{html.escape(self.sentence())}</figcaption></figure>'
        )

    def csv(self) -> str:
        """The matches as `cornea pair` writes them: x1,y1,x2,y2,ratio,distance,inlier,..."""
        return self._made.csv()

    def summary(self) -> dict[str, Any]:
        """The contents of the summary.json of `cornea pair`, as far as they are known in Python."""

        def numbers(matrix: Any) -> Any:
            return None if matrix is None else matrix.tolist()

        g = self.geometry
        return {
            "keypoints": [len(self.first), len(self.second)],
            "matches": len(self.matches),
            "inliers": g.inlier_count,
            "F": numbers(self.F),
            "milliseconds": self.milliseconds,
            "images": [photograph.name for photograph in self._photographs],
            "detector": self.detector,
            "device": self.device,
            "kind": self.kind,
            "hypotheses": g.hypotheses,
            "rounds": g.rounds,
            "converged": g.converged,
            "threshold": g.threshold,
            "E": numbers(self.E),
            "R": numbers(self.R),
            "t": numbers(self.t),
            "H": numbers(self.H),
            "version": _cornea.info()["version"],
        }

    def page(self) -> str:
        """The page as self-contained HTML."""
        return self._page([])

    def _page(self, files: list[str]) -> str:
        first, second = self._photographs
        angle = self._of_essential("median_angle_degrees")
        pose = "" if angle is None else f"The rays of a point meet at a median angle of {angle:.2g} degrees."
        command = f"cornea.pair({first.name!r}, {second.name!r})"
        return self._made.page(
            first.shown, second.shown, first.name, second.name, self.sentence(), pose, command, files
        )

    def save(self, path: PathLike) -> None:
        """Writes the page: to a file whose name ends in .html, or into a folder, with matches.csv and
        summary.json beside it."""
        target = os.fspath(path)
        if target.lower().endswith((".html", ".htm")):
            _cornea.write_file(target, self.page().encode())
            return
        os.makedirs(target, exist_ok=True)
        _cornea.write_file(os.path.join(target, "matches.csv"), self.csv().encode())
        _cornea.write_file(os.path.join(target, "summary.json"), json.dumps(self.summary(), indent=1).encode())
        page = self._page(["matches.csv", "summary.json"])
        _cornea.write_file(os.path.join(target, "report.html"), page.encode())


def _known_cameras(
    first: _Photograph, second: _Photograph, camera1: Any, camera2: Any, focal: float | None, use_exif: bool
) -> Any:
    if camera1 is not None or camera2 is not None:
        if focal is not None:
            raise ValueError("give the cameras or a focal length, not both")
        return _cameras(camera1, camera2)
    if focal is not None:
        return _cameras(first.middle(focal), second.middle(focal), focal_known=False)
    if use_exif and first.focal and second.focal:
        return _cameras(first.middle(first.focal), second.middle(second.focal), focal_known=False)
    return None


def pair(
    first: Any,
    second: Any,
    *,
    detector: str = "sift",
    camera1: CameraLike | None = None,
    camera2: CameraLike | None = None,
    focal: float | None = None,
    use_exif: bool = True,
    mask1: Any = None,
    mask2: Any = None,
    max_features: int = 20000,
    max_size: int = 3200,
    upright: bool = False,
    range: Range = "auto",
    fundamental: Mapping[str, OptionValue] | None = None,
    essential: Mapping[str, OptionValue] | None = None,
    homography: Mapping[str, OptionValue] | None = None,
    device: str = "auto",
    threads: int = 0,
    stream: Any = None,
    **options: OptionValue,
) -> PairResult:
    """The geometry of two photographs: F, or E and the relative pose if the cameras are known.

    first, second      files or arrays, as for detect()
    detector           "sift", or a corner detector, whose corners SIFT describes
    camera1, camera2   as for essential(); without camera2 both images have camera1
    focal              focal length of both images, pixels, with the principal points in the middle;
                       without it and without cameras, the focal length from EXIF if both files have
                       one, which is a guess and is corrected if the matches clearly contradict it
    use_exif           False: ignore EXIF and estimate F only
    mask1, mask2       uint8 or bool: no points where they are 0
    max_features       most features per image, the strongest; 0: no limit
    max_size           longest side, pixels; larger images are reduced before detection; 0: no limit
    upright, range     as for read(), for files
    fundamental, essential, homography   options of the estimators, as dictionaries; E and H
                       inherit the options that they share with F from `fundamental`, unless set here
    **options          of the matcher (ratio, mutual, max_distance) and of the detector

    >>> import cornea
    >>> first, second = (view.image for view in cornea.scene(width=320, height=240).views)
    >>> result = cornea.pair(first, second)
    >>> result.kind
    'general'
    >>> result.F.shape
    (3, 3)
    """
    given_match = {name: value for name, value in options.items() if name in _MATCH}
    given = {name: value for name, value in options.items() if name not in _MATCH}
    of_f = dict(fundamental or {})
    shared = {name: value for name, value in of_f.items() if name in _SHARED}
    of_e = {**shared, **(essential or {})}
    of_h = {name: value for name, value in shared.items() if not name.startswith("threshold")}
    threshold = float(of_e.get("threshold", 2 * float(of_e.get("threshold_per_line", 0))))  # type: ignore[arg-type]
    if threshold > 0:
        of_h["threshold"] = 2 * threshold  # the distance of H is a sum of two distances between points
    of_h.update(homography or {})
    a, b = _Photograph(first, 1, upright, range), _Photograph(second, 2, upright, range)
    place = context(device, threads, stream, a.gray)
    known = _DETECTORS[detector].options if detector in _DETECTORS else {}
    pipeline = _cornea.PairPipeline(
        place,
        detector,
        settings(known, given),
        max_features,
        max_size,
        settings(_MATCH, given_match),
        settings(_F, of_f),
        settings(_E, of_e),
        settings(_H, of_h),
    )
    cameras = _known_cameras(a, b, camera1, camera2, focal, use_exif)
    return PairResult(pipeline.run(a.gray, b.gray, mask1, mask2, cameras), a, b, detector)


pair.__doc__ = inspect.cleandoc(pair.__doc__ or "")
