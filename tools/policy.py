# SPDX-License-Identifier: Apache-2.0
"""Shared by the check_*.py tools: the list of files, C++ text without comments, and the report."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77  # the exit status that ctest takes for "skipped"
CPP = (".hpp", ".cpp")


def files(root, *folders, suffixes=CPP):
    """The sorted files under the folders of a tree that have one of the suffixes."""
    found = []
    for folder in folders:
        found += [
            path
            for path in (root / folder).rglob("*")
            if path.suffix in suffixes and path.is_file()
        ]
    return sorted(found)


def project_files(root):
    """All files of the project: tracked files, and new files that git does not ignore. Without
    git, all files of the tree outside build/.
    """
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        paths = [root / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in root.rglob("*") if path.relative_to(root).parts[0] != "build"]
    return sorted(path for path in paths if path.is_file())


def without_comments(text):
    """C++ text with blanks in place of each comment. Line numbers and literals are kept."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|'
        r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
        re.DOTALL,
    )

    def blank(match):
        found = match.group(0)
        return re.sub(r"[^\n]", " ", found) if found.startswith("/") else found

    return token.sub(blank, text)


def includes(text):
    """Yields (line number, name, is quoted) for each #include."""
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', line)
        if match:
            yield number, match.group(1) or match.group(2), match.group(2) is not None


def finish(name, findings, checked):
    """Prints the findings and ends the program. The status is 1 if there is a finding, or if there
    was no file to check.
    """
    for finding in findings:
        print(finding)
    if findings:
        sys.exit(f"{name}: {len(findings)} finding(s) in {checked} files")
    if not checked:
        sys.exit(f"{name}: found no files to check")
    print(f"{name}: {checked} files, nothing to object to")
