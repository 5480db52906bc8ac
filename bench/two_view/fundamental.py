# SPDX-License-Identifier: Apache-2.0
"""Sections of compare_two_view.py on F: labelled matches, generated pairs, dominant planes."""
import os
import statistics

import numpy as np

from . import data, peers
from .measure import FAILURE, Bench, label, measure, milliseconds, say, table


class FundamentalBench(Bench):
    def labelled(self, name):
        return data.labelled_pairs(os.path.join(self.root, "data/correspondences", name))

    @staticmethod
    def error_of_fundamental(run, pair):
        return data.fundamental_error(run.matrix, pair)

    def labelled_grid(self, estimator):
        """Per threshold the mean error of each labelled pair, by set."""
        if estimator.name not in self.grids:
            self.grids[estimator.name] = grid = {}
            for threshold in estimator.thresholds["fundamental"]:
                grid[threshold] = {}
                for name in ("adelaidermf", "kusvod2"):
                    pairs = self.labelled(name)
                    if pairs:
                        result = measure(estimator, "fundamental", pairs, threshold, self.budget,
                                         self.args.grid_seeds, self.error_of_fundamental)
                        grid[threshold][name] = [statistics.mean(row) for row in result["errors"]]
            say(f"{estimator.name}: " + ", ".join(
                f"{label(t)}: " + " ".join(f"{statistics.mean(v):.3f}" for v in sets.values())
                for t, sets in grid.items()))
        return self.grids[estimator.name]

    def labelled_threshold(self, estimator, names=("adelaidermf", "kusvod2")):
        grid = self.labelled_grid(estimator)
        if not next(iter(grid.values())):
            return None if estimator is self.cornea else 1.0
        return min(grid, key=lambda t: statistics.mean(e for n in names for e in grid[t].get(n, [])))

    def f_labelled(self):
        out = {}
        for name in ("adelaidermf", "kusvod2"):
            pairs = self.labelled(name)
            if not pairs:
                print(f"skipped: no labelled matches of {name} under {self.root}; set CORNEA_DATA")
                continue
            out[name], rows, per_pair = {}, [], []
            for column, estimator, threshold, budget in self.columns(
                    "fundamental", lambda e: self.labelled_threshold(e, (name,))):
                r = measure(estimator, "fundamental", pairs, threshold, budget, self.args.seeds,
                            self.error_of_fundamental)
                errors = r["errors"]
                failures = sum(e > FAILURE for row in errors for e in row)
                summary = {
                    "threshold": threshold, "budget": budget or "default",
                    "mean": statistics.mean(statistics.mean(row) for row in errors),
                    "median": statistics.mean(statistics.median(row) for row in errors),
                    "worst_seed": max(map(max, errors)), "failures": failures,
                    "runs": sum(map(len, errors)), "milliseconds": milliseconds(r),
                    "pairs": {p.name: {"mean": statistics.mean(row), "worst": max(row),
                                       "failures": sum(e > FAILURE for e in row),
                                       "milliseconds": statistics.median(ms)}
                              for p, row, ms in zip(pairs, errors, r["milliseconds"])}}
                for p in pairs:
                    summary["pairs"][p.name].update(matches=len(p.matches), labelled=len(p.truth))
                out[name][column] = summary
                rows.append([column, label(threshold), f"{summary['mean']:.3f}",
                             f"{summary['median']:.3f}", f"{summary['worst_seed']:.2f}",
                             f"{failures}/{summary['runs']}", f"{summary['milliseconds']:.2f}"])
                per_pair.append([column] + [
                    f"{p['mean']:.2f} ({p['worst']:.1f})" + (f" {p['failures']}!" if p["failures"]
                                                             else "")
                    for p in summary["pairs"].values()])
            table(f"F on {name}: median distance of labelled matches, pixels, mean over {len(pairs)} "
                  f"pairs of {self.args.seeds} seeds; budget {self.args.budget}",
                  ["", "threshold", "mean", "median", "worst seed", "> 3 px", "ms"], rows)
            table("per pair: mean (worst seed), number of failures!",
                  ["", *[p.name for p in pairs]], per_pair)
            mine = out[name].get("Cornea, defaults")
            if mine and name == "adelaidermf":
                self.bars["AdelaideRMF: mean at most 0.50"] = mine["mean"] <= 0.50
                self.bars["AdelaideRMF: no seed worse than 1.2"] = mine["worst_seed"] <= 1.2
            elif mine:
                self.bars["kusvod2: mean at most 0.65"] = mine["mean"] <= 0.65
                self.bars["kusvod2: no seed above 3 pixels"] = mine["failures"] == 0
        return out

    def oracle(self, pairs):
        """The best that the true inliers allow: F from them alone, by least squares, starting at the true
        F."""
        poselib = next((e.poselib for e in self.estimators if isinstance(e, peers.PoseLib)), None)
        if not poselib:
            return None
        errors = []
        for pair in pairs:
            a, b = (np.ascontiguousarray(pair.inliers[:, k:k + 2]) for k in (0, 2))
            F, _ = poselib.refine_fundamental(a, b, data.true_fundamental(pair),
                                              {"loss_type": "TRIVIAL"})
            errors.append([data.fundamental_error(np.array(F), pair)])
        return {"errors": errors, "milliseconds": [[0.0]] * len(pairs)}

    def f_generated(self):
        every = data.generated_pairs(self.args.generated, self.folder)
        settings = sorted({(p.noise, p.outliers) for p in every})
        out, rows = {}, []

        def add(column, threshold, pairs, result, budget):
            cells, failed = [], 0
            for noise, outliers in settings:
                errors = [row[0] for row, p in zip(result["errors"], pairs)
                          if (p.noise, p.outliers) == (noise, outliers)]
                bad = sum(e > max(FAILURE, 2 * noise) for e in errors)
                failed += bad
                cells.append((bad, statistics.median(errors)))
            out[column] = {"threshold": threshold, "budget": budget or "default",
                           "runs": len(pairs), "failures": failed,
                           "milliseconds": milliseconds(result),
                           "settings": [{"noise": n, "outliers": o, "failures": b, "median": m}
                                        for (n, o), (b, m) in zip(settings, cells)]}
            rows.append([column, label(threshold), f"{failed}/{len(pairs)}",
                         *[f"{b} ({m:.2f})" for b, m in cells], f"{milliseconds(result):.2f}"])

        for column, estimator, threshold, budget in self.columns("fundamental",
                                                                 self.labelled_threshold):
            few = estimator is not self.cornea
            pairs = [p for p in every if not few or int(p.name.split()[-1]) < self.args.generated_peers]
            result = measure(estimator, "fundamental", pairs, threshold, budget, 1,
                             self.error_of_fundamental)
            say(f"{column} done")
            add(column, threshold, pairs, result, budget)
        oracle = self.oracle(every)
        if oracle:
            add("true inliers alone", None, every, oracle, None)
        table("F on generated pairs, one seed each: failures, and per noise/outliers failures (median "
              f"distance of true places); budget {self.args.budget}",
              ["", "threshold", "failures", *[f"{n}px {o:.0%}" for n, o in settings], "ms"], rows)
        if "Cornea, defaults" in out:
            self.bars[f"generated: no failure in {len(every)} runs"] = (
                out["Cornea, defaults"]["failures"] == 0)
        return out

    def planes(self):
        out, rows = {}, []
        sets = {share: data.plane_pairs(self.args.planes, share, self.folder)
                for share in (0.5, 0.35)}
        for column, estimator, threshold, budget in self.columns(
                "fundamental", self.labelled_threshold):
            out[column] = {"threshold": threshold, "budget": budget or "default"}
            row = [column, label(threshold)]
            for share, pairs in sets.items():
                r = measure(estimator, "fundamental", pairs, threshold, budget, 1,
                            self.error_of_fundamental)
                errors = [e for e, in r["errors"]]
                success = sum(e < FAILURE for e in errors)
                kinds = [k for k, in r["kinds"]]
                out[column][f"{share:.0%}"] = {
                    "success": success, "runs": len(pairs), "median": statistics.median(errors),
                    "milliseconds": milliseconds(r), "called_planar": kinds.count("planar")}
                row += [f"{success}/{len(pairs)}", f"{statistics.median(errors):.2f}",
                        kinds.count("planar") if estimator is self.cornea else "",
                        f"{milliseconds(r):.2f}"]
            rows.append(row)
            say(f"{column} done")
        head = [f"{share:.0%} {what}" for share in sets for what in ("success", "px", "planar", "ms")]
        table(f"F with 85% of the inliers on a plane, 400 matches, {self.args.planes} scenes; budget "
              f"{self.args.budget}", ["", "threshold", *head], rows)
        if "Cornea, defaults" in out:
            mine = out["Cornea, defaults"]
            self.bars["planes: all succeed at 50 and 35% inliers"] = all(
                mine[s]["success"] == mine[s]["runs"] for s in ("50%", "35%"))
        return out
