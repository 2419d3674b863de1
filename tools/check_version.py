#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every place that names the version of Sennit agrees with `project(sennit VERSION …)`.

The places are include/sennit/version.hpp, and each `find_package(sennit X.Y` in README.md, in
VERSIONING.md and in the guide.
"""

import re

import policy

PROJECT = re.compile(r"project\(sennit\s+VERSION (\d+)\.(\d+)\.(\d+)")


def check_header(text, version):
    for part, value in zip(("MAJOR", "MINOR", "PATCH"), version, strict=True):
        if f"\n#define SENNIT_VERSION_{part} {value}\n" not in text:
            yield (
                f"include/sennit/version.hpp: SENNIT_VERSION_{part} is not {value}, the version in"
                " CMakeLists.txt"
            )
    if f'\n#define SENNIT_VERSION_STRING "{".".join(version)}"\n' not in text:
        yield (
            f"include/sennit/version.hpp: SENNIT_VERSION_STRING is not {'.'.join(version)}, the"
            " version in CMakeLists.txt"
        )


def check_page(name, text, version):
    for number, line in enumerate(text.splitlines(), 1):
        for asked in re.findall(r"find_package\(sennit (\d+\.\d+)", line):
            if asked != ".".join(version[:2]):
                yield (
                    f"{name}:{number}: find_package asks for {asked}; the version is"
                    f" {'.'.join(version)}"
                )


def check(root):
    found = PROJECT.search((root / "CMakeLists.txt").read_text(encoding="utf-8"))
    if not found:
        return ["CMakeLists.txt: project(sennit VERSION …) names no version of three parts"], 1
    version = found.groups()
    pages = [
        root / "README.md",
        root / "VERSIONING.md",
        *policy.files(root, "docs/guide", suffixes=(".md",)),
    ]
    findings = list(
        check_header((root / "include/sennit/version.hpp").read_text(encoding="utf-8"), version)
    )
    for page in pages:
        findings += check_page(
            page.relative_to(root).as_posix(), page.read_text(encoding="utf-8"), version
        )
    return findings, 1 + len(pages)


if __name__ == "__main__":
    policy.finish("check_version", *check(policy.ROOT))
