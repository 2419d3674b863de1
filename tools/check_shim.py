#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that base::atomic costs nothing.

The tool compiles tests/policy/shim.cpp with base::atomic and with std::atomic, and compares the
assembly. It does so with each of its compilers that is installed; at least one must be.
"""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILERS = ("g++", "clang++-19", "aarch64-linux-gnu-g++")
SOURCE = ROOT / "tests" / "policy" / "shim.cpp"


def instructions(compiler, *defines):
    done = subprocess.run(
        [compiler, "-std=c++20", "-O2", "-S", "-o", "-", f"-I{ROOT / 'include'}", *defines, SOURCE],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(f"{compiler} cannot compile {SOURCE.name}:\n{done.stderr}")
    # Only labels and instructions count, not directives, comments and names of sections.
    lines = (line.split("//")[0].strip() for line in done.stdout.splitlines())
    return [line for line in lines if line and not line.startswith((".", "#", "_Z"))]


def main():
    compilers = [name for name in COMPILERS if shutil.which(name)]
    if not compilers:
        sys.exit("check_shim.py: none of the compilers is there")
    for compiler in compilers:
        with_it, without = instructions(compiler), instructions(compiler, "-DSHIM_IS_LEFT_OUT")
        if len(with_it) < 40:
            sys.exit(f"{compiler}: only {len(with_it)} lines of assembly: nothing was compared")
        if with_it != without:
            different = next(
                (pair for pair in zip(with_it, without) if pair[0] != pair[1]),
                ("", "one is longer"),
            )
            sys.exit(
                f"{compiler}: base::atomic changes the code:"
                f" '{different[0]}' instead of '{different[1]}'"
            )
        print(
            f"{compiler}: {len(with_it)} lines of assembly, the same with and without base::atomic"
        )


if __name__ == "__main__":
    main()
