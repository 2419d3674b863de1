#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every C++ file is formatted as .clang-format says; --fix formats the files.

The tool needs clang-format-19, and is skipped without it.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import policy

TOOL = "clang-format-19"


def main():
    paths = policy.files(policy.ROOT, "include", "src", "tests", "lab")
    if shutil.which(TOOL) is None:
        print(f"check_format: skipped, {TOOL} is not installed")
        sys.exit(policy.SKIPPED)
    if "--fix" in sys.argv[1:]:
        subprocess.run([TOOL, "-i", *map(str, paths)], check=True)
        return
    # One process for all files: the start of a process takes ten times as long as a file.
    done = subprocess.run(
        [TOOL, "--dry-run", "-Werror", *map(str, paths)], capture_output=True, text=True
    )
    places = re.findall(r"^(.*?):\d+:\d+: error: .*clang-format", done.stderr, re.MULTILINE)
    if done.returncode != 0 and not places:
        sys.exit(f"check_format: {TOOL} failed:\n{done.stderr}")
    names = dict.fromkeys(pathlib.Path(name).relative_to(policy.ROOT) for name in places)
    wrong = [f"{name}: not formatted (tools/check_format.py --fix)" for name in names]
    policy.finish("check_format", wrong, len(paths))


if __name__ == "__main__":
    main()
