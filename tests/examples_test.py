#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the C++ programs in examples/ against an installed Cornea, runs each and checks what it prints:
examples_test.py --source DIR --prefix DIR --work DIR [--generator G] [--compiler C] [--prefixes A|B]
"""
import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import examples_checks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=Path, required=True, help="the project")
    parser.add_argument("--prefix", type=Path, required=True, help="where Cornea is installed")
    parser.add_argument("--work", type=Path, required=True, help="a folder that is made anew")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--generator", default="Ninja")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--prefixes", default="", help="of other packages, separated by |")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    build = arguments.work / "build"
    prefixes = ";".join([str(arguments.prefix), *filter(None, arguments.prefixes.split("|"))])
    for command in (
        [arguments.cmake, "-S", arguments.source / "examples", "-B", build, "-G", arguments.generator,
         f"-DCMAKE_PREFIX_PATH={prefixes}", f"-DCMAKE_CXX_COMPILER={arguments.compiler}",
         "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror", "-DCMAKE_CXX_FLAGS_RELEASE=-O0"],
        [arguments.cmake, "--build", build],
    ):
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print(done.stdout)
            return 1

    def run(name, *words):
        return subprocess.run([str(build / name), *words], capture_output=True, text=True, cwd=arguments.work)

    views = examples_checks.make_views(arguments.prefix / "bin" / "cornea", arguments.work)
    examples_checks.check_usage(run, examples_checks.CHECKS)
    for name, check in examples_checks.CHECKS.items():
        check(run, views)
        print(f"{name}: as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
