#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the head of every C++ file, and that each public header compiles alone.

Every C++ file starts with the licence line. Every header has `#pragma once`. A public header opens
with a comment that names its purpose. The compiler is $CXX, or g++. The tool leaves a header that
a source includes first to the build, which compiles each source by itself (preset release-gcc). A
header that another header includes first is compiled alone with that one.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import policy

LICENCE = "// SPDX-License-Identifier: Apache-2.0"
FOLDERS = ("include", "src", "tests", "lab")


def check_head(name, text):
    lines = text.splitlines() + ["", ""]
    if lines[0] != LICENCE:
        yield f"{name}:1: must be `{LICENCE}`"
    if name.endswith(".hpp"):
        if "#pragma once" not in lines:
            yield f"{name}: has no `#pragma once`"
        if name.startswith("include/") and not lines[1].startswith("// "):
            yield f"{name}:2: a public header opens with a comment that says what it is for"


def check_alone(root, header, compiler):
    """The compiler's complaint about a program that consists of this header alone, or None."""
    name = header.relative_to(root / "include").as_posix()
    command = [
        compiler,
        "-std=c++20",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsyntax-only",
        f"-I{root / 'include'}",
        "-x",
        "c++",
        "-",
    ]
    result = subprocess.run(command, input=f"#include <{name}>\n", capture_output=True, text=True)
    return (
        None
        if result.returncode == 0
        else f"include/{name}: does not compile alone:\n{result.stderr}"
    )


FIRST = re.compile(r'^#include [<"](.*?)[>"]', re.MULTILINE)


def first_include(path):
    """The header that a file includes before any other, as the file writes it; None if there is no
    such header, or if a condition stands before the #include.
    """
    text = policy.without_comments(path.read_text())
    found = FIRST.search(text)
    return found[1] if found and "#if" not in text[: found.start()] else None


def to_compile(root):
    """The public headers that neither the build nor the check of another header compiles before any
    other text, as an #include writes them.
    """
    first = {
        path.relative_to(root / "include").as_posix(): first_include(path)
        for path in policy.files(root, "include")
    }
    sources = [first_include(path) for path in policy.files(root, "src") if path.suffix == ".cpp"]
    left = dict.fromkeys(first)
    # First the headers that no header includes first, so that headers in a circle come last.
    by_sources = [name for name in sources if name in first]
    alone = [name for name in first if name not in first.values()]
    chosen = []
    for name in [*by_sources, *alone, *first]:
        if name in left and name not in by_sources:
            chosen.append(name)
        while name in left:
            del left[name]
            name = first[name]
    return chosen


def check(root, compiler):
    paths = policy.files(root, *FOLDERS)
    findings = []
    for path in paths:
        findings += check_head(path.relative_to(root).as_posix(), path.read_text())
    headers = [root / "include" / name for name in to_compile(root)]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        findings += filter(
            None, pool.map(lambda header: check_alone(root, header, compiler), headers)
        )
    return findings, len(paths)


if __name__ == "__main__":
    where = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else policy.ROOT
    policy.finish("check_headers", *check(where, os.environ.get("CXX", "g++")))
