#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a documented program and compares its standard output with the output that the page shows.

    check_output.py EXPECTED PROGRAM [ARGUMENT...]

In the expected text `…` stands for any characters of a line. A line that consists of `…` stands for
any lines.
"""

import pathlib
import re
import subprocess
import sys

ANY = "…"


def pattern(expected):
    """The regular expression for an expected output."""
    lines = []
    for line in expected.splitlines():
        if line.strip() == ANY:
            lines.append(r"(?:[^\n]*\n)*?")
        else:
            lines.append("[^\n]*".join(re.escape(part) for part in line.split(ANY)) + r"\n")
    return re.compile("".join(lines))


def main():
    expected, command = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2:]
    program = " ".join(command)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program}: exit status {done.returncode}; it printed:\n{done.stdout}")
    if not pattern(expected).fullmatch(done.stdout):
        sys.exit(
            f"{program}: the page shows this output:\n{expected}"
            f"but the program printed:\n{done.stdout}"
        )


if __name__ == "__main__":
    main()
