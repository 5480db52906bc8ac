#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Singular value decompositions of many small matrices in one call: A = U diag(S) V^T.

  python svd_batch.py matrices.txt 3 4

reads 3 x 4 matrices from a text file, row by row, all numbers separated by white space, and prints the
singular values of each.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import cornea


def main():
    parser = argparse.ArgumentParser(description="Singular values of a batch of matrices.")
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("rows", metavar="ROWS", type=int)
    parser.add_argument("columns", metavar="COLUMNS", type=int)
    arguments = parser.parse_args()
    shape = (arguments.rows, arguments.columns)
    if min(shape) < 1:
        raise ValueError(f"a matrix of {shape[0]} x {shape[1]} has no singular values")
    numbers = np.array(arguments.file.read_text().split(), np.float64)
    if not numbers.size or numbers.size % (shape[0] * shape[1]):
        raise ValueError(
            f"{arguments.file}: {numbers.size} numbers are not whole matrices of {shape[0]} x {shape[1]}"
        )
    a = numbers.reshape(-1, *shape)

    svd = cornea.Svd()  # made once; float32 or float64, matrices of any size
    u, s, v, report = svd.compute(a)  # with_u=False, with_v=False: the singular values alone
    if report["not_finite"]:
        raise ValueError(f"matrix {report['first_not_finite']} holds a number that is not finite")

    error = np.abs(a - u * s[:, None, :] @ v.transpose(0, 2, 1)).max()
    print(f"{len(a)} matrices of {shape[0]} x {shape[1]}, largest error {error:.6g}")
    for values in s:
        print(*(f"{value:.12g}" for value in values))


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"svd_batch: {error}")
