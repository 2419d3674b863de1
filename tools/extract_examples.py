#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Extracts the programs that the documentation shows, so that tests can build and run them.

    extract_examples.py --into FOLDER PAGE.md...

A program is a fenced ```cpp block whose line before the fence (blank lines aside) is
`<!-- run -->`. Each program becomes FOLDER/PAGE_N.cpp with a #line directive, so that a compiler's
message names the page. A fenced ```text block whose line before the fence is `<!-- prints -->` is
the output of the program before it. The output becomes FOLDER/PAGE_N.txt, which the test compares
with the output of the program (tests/docs/check_output.py).

The tool does not write a file again whose text has not changed, and removes a file whose block is
gone. It prints the path of each program.
"""

import argparse
import pathlib
import re
import sys

MARK = "<!-- run -->"
PRINTS = "<!-- prints -->"
FENCES = {MARK: re.compile(r"```\s*(cpp|c\+\+)\s*"), PRINTS: re.compile(r"```\s*text\s*")}


def blocks(text):
    """Yields (mark, number of the first line, text of the block) for each marked block."""
    mark, start, lines = None, None, []
    for number, line in enumerate(text.splitlines(), 1):
        if start is not None:
            if line.strip() == "```":
                yield mark, start, "\n".join(lines) + "\n"
                mark, start, lines = None, None, []
            else:
                lines.append(line)
        elif line.strip() in FENCES:
            if mark:
                raise ValueError(f"line {number}: two marks before one block")
            mark = line.strip()
        elif mark and FENCES[mark].fullmatch(line):
            start = number + 1
        elif mark and line.strip():
            raise ValueError(f"line {number}: no block of the expected language follows {mark}")
    if mark:
        raise ValueError(f"the last {mark} has no finished block")


def programs(text):
    """Yields (number of the first line, program) for each program of a page."""
    return ((start, block) for start, block, _ in examples(text))


def examples(text):
    """Yields (number of the first line, program, expected output or None) for each program of a
    page.
    """
    found = []
    for mark, start, block in blocks(text):
        if mark == MARK:
            found.append((start, block, None))
        elif not found or found[-1][2] is not None:
            raise ValueError(f"line {start}: no program stands before this output")
        else:
            found[-1] = (*found[-1][:2], block)
    return iter(found)


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def extract(pages, folder):
    """Writes the programs of all pages and their expected outputs. Returns the paths of the
    programs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written, outputs = [], []
    for page in pages:
        for index, (line, program, output) in enumerate(examples(page.read_text()), 1):
            name = re.sub(r"\W", "_", page.stem.lower())
            path = folder / f"{name}_{index}.cpp"
            if path in written:
                raise ValueError(f"{page}: another page has the same name")
            write_if_changed(path, f'#line {line} "{page}"\n{program}')
            written.append(path)
            if output is not None:
                outputs.append(path.with_suffix(".txt"))
                write_if_changed(outputs[-1], output)
    for stale in {*folder.glob("*.cpp"), *folder.glob("*.txt")} - {*written, *outputs}:
        stale.unlink()
    return written


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", required=True, type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("pages", nargs="+", type=pathlib.Path, metavar="PAGE.md")
    args = parser.parse_args()
    try:
        for path in extract(args.pages, args.into):
            print(path)
    except (OSError, ValueError) as error:
        sys.exit(f"extract_examples: {error}")


if __name__ == "__main__":
    main()
