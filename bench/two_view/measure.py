# SPDX-License-Identifier: Apache-2.0
"""Shared by all sections of compare_two_view.py: running estimators, tables, and which estimators take
part.
"""
import os
import statistics
import sys

from . import peers

UNLIMITED = 300000
FAILURE = 3.0  # pixels


def say(text):
    print(f"  {text}", file=sys.stderr, flush=True)


def measure(estimator, model, pairs, threshold, budget, seeds, error):
    """Estimates, their errors, milliseconds and kinds, each per pair and seed."""
    if isinstance(estimator, peers.Cornea) and model == "fundamental" and seeds >= 3:
        runs = estimator.fundamental_seeds(pairs, threshold, budget, seeds)
    else:
        runs = [[estimator.estimate(model, pair, threshold, budget, seed)
                 for seed in range(seeds)] for pair in pairs]
    return {"runs": runs,
            "errors": [[error(run, pair) for run in row] for row, pair in zip(runs, pairs)],
            "milliseconds": [[run.milliseconds for run in row] for row in runs],
            "kinds": [[run.kind for run in row] for row in runs]}


def milliseconds(result):
    """The mean over pairs of the median over seeds."""
    return statistics.mean(statistics.median(row) for row in result["milliseconds"])


def label(threshold):
    return "default" if threshold is None else f"{threshold:g}"


def table(title, header, rows):
    print(f"\n{title}")
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows]:
        print("  ".join(str(cell).ljust(w) if i == 0 else str(cell).rjust(w)
                        for i, (cell, w) in enumerate(zip(row, widths))))
    sys.stdout.flush()


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.estimators = [e for e in peers.estimators(args.cornea)
                           if not args.peers or any(p.lower() in e.name.lower() for p in args.peers)]
        self.cornea = next((e for e in self.estimators if isinstance(e, peers.Cornea)), None)
        self.budget = UNLIMITED if args.budget == "unlimited" else int(args.budget)
        self.root = os.environ.get("CORNEA_DATA", "../shared")
        self.grids = {}
        self.bars = {}

    def with_model(self, model):
        for estimator in self.estimators:
            if model in estimator.models:
                yield estimator
            elif estimator is self.cornea:
                print(f"skipped: this program of Cornea has no {model}")

    def columns(self, model, threshold_of):
        """(name, estimator, threshold, budget): Cornea with its defaults, and with its default
        threshold within the budget; then all at their best thresholds."""
        for estimator in self.with_model(model):
            if estimator is self.cornea:
                yield "Cornea, defaults", estimator, None, None
                if self.args.defaults:
                    continue
                yield "Cornea, default threshold", estimator, None, self.budget
            yield estimator.name, estimator, threshold_of(estimator), self.budget
