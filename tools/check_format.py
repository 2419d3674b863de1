#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every C++ file is formatted as .clang-format says; --fix formats the files.

The tool needs clang-format-19, and is skipped without it.
"""

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
    wrong = []
    for path in paths:
        formatted = subprocess.run(
            [TOOL, str(path)], capture_output=True, text=True, check=True
        ).stdout
        if formatted != path.read_text():
            wrong.append(
                f"{path.relative_to(policy.ROOT)}: not formatted (tools/check_format.py --fix)"
            )
    policy.finish("check_format", wrong, len(paths))


if __name__ == "__main__":
    main()
