#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no text of the project contains a path of one machine, the host of a package
registry, a mark of unfinished work, or a conflict mark.

The tool warns of a file of more than 600 lines; such a file is not a finding.
"""

import pathlib
import re
import sys

import policy

# A character class of one letter in each pattern keeps the pattern from matching its own text.
FORBIDDEN = {
    "a path of one machine": re.compile(
        r"(?<![\w.$}>-])/(wor[k]|roo[t]|hom[e]/\w+|User[s]/\w+)(?=/)"
    ),
    "the host of a package registry": re.compile(
        r"//[\w.-]*(pyp[i]\.org|pythonhoste[d]\.org|crate[s]\.io|npmj[s]\.org|proxy\.golan[g]\.org|"
        r"sum\.golan[g]\.org|repo[0-9]?\.mave[n]\.|de[b]\.debian\.org|artifactor[y]|nexu[s])",
        re.IGNORECASE,
    ),
    "a mark of unfinished work": re.compile(r"\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b"),
    "a conflict mark": re.compile(r"^(<{7}|>{7})(\s|$)"),
}
LONG = 600


def check_text(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        for what, pattern in FORBIDDEN.items():
            found = pattern.search(line)
            if found:
                yield f"{name}:{number}: {what}: {found.group(0)}"


def check(root):
    findings, checked = [], 0
    for path in policy.project_files(root):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture or another binary
        checked += 1
        name = path.relative_to(root).as_posix()
        findings += check_text(name, text)
        lines = text.count("\n")
        if lines > LONG and path.suffix not in (".md", ".csv", ".json"):
            print(f"warning: {name} has {lines} lines")
    return findings, checked


if __name__ == "__main__":
    policy.finish(
        "check_text", *check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else policy.ROOT)
    )
