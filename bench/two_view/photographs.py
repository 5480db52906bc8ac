# SPDX-License-Identifier: Apache-2.0
"""Sections of compare_two_view.py on photographs: poses, homographies, kinds and times."""
import copy
import os
import statistics

import numpy as np

from . import data, peers
from .measure import Bench, label, measure, milliseconds, say, table


class PhotographBench(Bench):
    def best(self, estimator, model, pairs, error, limit):
        """The threshold with the largest area, and the areas of all."""
        areas = {}
        for threshold in estimator.thresholds[model]:
            r = measure(estimator, model, pairs, threshold, self.budget, self.args.pose_grid_seeds,
                        error)
            areas[threshold] = data.area_under_recall(np.array(r["errors"]), limit)
        say(f"{estimator.name}, {model}: " + ", ".join(f"{label(t)}: {a:.1f}"
                                                       for t, a in areas.items()))
        return max(areas, key=areas.get)

    def areas(self, title, model, pairs, error, limits, unit, tuned=None, again=None):
        """The table of one model. `tuned` holds the thresholds of estimators that were tuned before;
        `again` is a second table of the same estimates: its title, pairs, results and error."""
        tuned = {} if tuned is None else tuned
        out, rows, more_rows = {}, [], []

        def threshold_of(estimator):
            if estimator.name not in tuned:
                tuned[estimator.name] = self.best(estimator, model, pairs, error, limits[0])
            return tuned[estimator.name]

        def judge(result, errors, column, threshold, budget, into):
            per_seed = [data.area_under_recall(errors[:, s], limits[0])
                        for s in range(errors.shape[1])]
            into[column] = {
                "threshold": threshold, "budget": budget or "default",
                "area": {str(x): data.area_under_recall(errors, x) for x in limits},
                "worst_seed": min(per_seed), "median_error": float(np.median(errors)),
                "milliseconds": milliseconds(result),
                "pairs": {p.name: float(np.median(row)) for p, row in zip(pairs, errors)}}
            return [column, label(threshold),
                    *[f"{into[column]['area'][str(x)]:.1f}" for x in limits],
                    f"{min(per_seed):.1f}", f"{np.median(errors):.3f}",
                    f"{milliseconds(result):.2f}"]

        for column, estimator, threshold, budget in self.columns(model, threshold_of):
            r = measure(estimator, model, pairs, threshold, budget, self.args.seeds, error)
            rows.append(judge(r, np.array(r["errors"]), column, threshold, budget, out))
            if again:
                errors = np.array([[again[3](run, pair) for run in row]
                                   for row, pair in zip(r["runs"], again[1])])
                more_rows.append(judge(r, errors, column, threshold, budget, again[2]))
        header = ["", "threshold", *[f"AUC@{x}" for x in limits], f"worst seed@{limits[0]}",
                  f"median {unit}", "ms"]
        for name, lines in ((title, rows), (again[0] if again else "", more_rows)):
            if lines:
                table(f"{name}; {len(pairs)} pairs, {self.args.seeds} seeds, budget "
                      f"{self.args.budget}", header, lines)
        return out

    def pose(self):
        pairs = data.fountain_pairs(self.root, self.args.cornea, self.matches_folder(),
                                    self.args.features)
        if not pairs:
            print(f"skipped: no fountain_p11 under {self.root}; set CORNEA_DATA")
            return {}
        wrong = []
        for pair in pairs:
            off = copy.copy(pair)
            off.K1, off.K2 = pair.K1.copy(), pair.K2.copy()
            for K in (off.K1, off.K2):
                K[0, 0] *= 1.03
                K[1, 1] *= 1.03
            wrong.append(off)

        def of_pose(run, pair):
            return data.pose_error(run.R, run.t, pair)

        def of_fundamental(run, pair):
            if run.matrix is None:
                return 180.0
            return data.pose_error(*data.pose_of_fundamental(run.matrix, pair, pair.K1, pair.K2), pair)

        limits, tuned = (1, 5, 10), {"essential": {}, "two_view": {}}
        out = {"fundamental_wrong": {}, "choice_true_K": {}, "choice_wrong_true_K": {}}
        # The chosen model is judged as F is: by its matrix and the true K.
        again = {"choice": ("The choice's matrix and the true K", pairs, out["choice_true_K"],
                            of_fundamental),
                 "choice_wrong": ("The same choice's matrix and the true K", pairs,
                                  out["choice_wrong_true_K"], of_fundamental)}
        for key, model, title, of in (
                ("essential", "essential", "Pose by E with the true cameras", pairs),
                ("essential_wrong", "essential", "Pose by E, focal lengths 3% too long", wrong),
                ("choice", "two_view", "Pose by the own choice of E, F or H, true cameras", pairs),
                ("choice_wrong", "two_view", "The same, focal lengths 3% too long", wrong),
                ("shared_focal", "shared_focal", "Pose, shared unknown focal length", pairs)):
            if model in self.args.models:
                out[key] = self.areas(title, model, of, of_pose, limits, "deg", tuned.get(model),
                                      again.get(key))
        if "fundamental" in self.args.models:
            out["fundamental"] = self.areas(
                "Pose by F and the true K", "fundamental", pairs, of_fundamental, limits, "deg",
                again=("Pose by F and a K with focal lengths 3% too long", wrong,
                       out["fundamental_wrong"], of_fundamental))

        def reached(section, bar):
            mine = out.get(section, {}).get("Cornea, defaults")
            if mine:
                self.bars[f"{section}: AUC@1 at least {bar}"] = mine["area"]["1"] >= bar
        reached("essential", 90)
        reached("shared_focal", 65)
        choice = out["choice_wrong_true_K"].get("Cornea, defaults")
        f = out.get("fundamental", {}).get("Cornea, defaults")
        if choice and f:
            self.bars["focal lengths 3% too long: the choice's AUC@1 with the true K at least F's"] = (
                choice["area"]["1"] >= f["area"]["1"])
        return out

    def matches_folder(self):
        folder = self.args.matches or self.folder
        os.makedirs(folder, exist_ok=True)
        return folder

    def sequences(self):
        pairs = data.sequence_pairs(self.root, self.args.cornea, self.matches_folder(),
                                     self.args.features)
        if not pairs:
            print(f"skipped: no vgg_affine under {self.root}; set CORNEA_DATA")
        return pairs

    def homography(self):
        pairs = self.sequences()
        if not pairs:
            return {}
        out = self.areas("H on the affine sequences: mean error of the corners", "homography", pairs,
                         lambda run, pair: data.corner_error(run.matrix, pair), (3, 5), "px")
        mine, usac = out.get("Cornea, defaults"), out.get("USAC default")
        if mine and usac:
            self.bars["homography: AUC@3 at least USAC's"] = mine["area"]["3"] >= usac["area"]["3"]
        return out

    def planar_kind(self):
        pairs = self.sequences()
        if not pairs or not self.cornea:
            return {}
        kinds = {p.name: self.cornea.estimate("fundamental", p, None, None, 0).kind for p in pairs}
        planar = sum(kind == "planar" for kind in kinds.values())
        print(f"\n{planar} of {len(pairs)} pairs of a plane are called planar; others: " +
              ", ".join(f"{name} {kind}" for name, kind in kinds.items() if kind != "planar"))
        self.bars["at least 18 of 20 called planar"] = planar >= 18
        return {"planar": planar, "pairs": len(pairs), "kinds": kinds}

    def time(self):
        """The minimum of five runs of each pair with one seed: the cost of the call on an idle core."""
        photographs = self.matches_folder()
        fountain = data.fountain_pairs(self.root, self.args.cornea, photographs, self.args.features)
        models = {"fundamental": fountain, "essential": fountain, "shared_focal": fountain,
                  "homography": self.sequences()}
        out, rows = {}, []
        lineup = list(self.estimators)
        if self.cornea:
            lineup.insert(1, peers.Cornea(self.args.cornea, 2))
        for estimator in lineup:
            row, out[estimator.name] = [estimator.name], {}
            threshold = None if isinstance(estimator, peers.Cornea) else 1.5
            for model, pairs in models.items():
                if model not in estimator.models or not pairs:
                    row.append("")
                    continue
                least = [min(estimator.estimate(model, pair, threshold, self.budget, 0).milliseconds
                             for _ in range(5)) for pair in pairs]
                out[estimator.name][model] = statistics.mean(least)
                row.append(f"{statistics.mean(least):.2f}")
            rows.append(row)
            say(f"{estimator.name} done")
        table("milliseconds per pair, mean over pairs of the least of five calls: fountain (F, E, shared "
              f"focal), sequences (H); peers at threshold 1.5, budget {self.args.budget}; Cornea's are "
              "first calls of a process", ["", *models], rows)
        return out
