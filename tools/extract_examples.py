#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Extracts the programs that the documentation shows, so that they can be built and run as tests.

    extract_examples.py --into FOLDER PAGE.md...

A program is a fenced ```cpp block whose line before the fence (blank lines aside) is `<!-- run -->`. Each becomes
FOLDER/PAGE_N.cpp with #line directives, so that a compiler's message names the page. A file whose text has not changed
is not written again; one whose program is gone is removed. Prints the path of each program.
"""
import argparse
import pathlib
import re
import sys

MARK = "<!-- run -->"


def programs(text):
    """Yields (number of the first line, program) for each marked block."""
    marked, start, lines = False, None, []
    for number, line in enumerate(text.splitlines(), 1):
        if start is not None:
            if line.strip() == "```":
                yield start, "\n".join(lines) + "\n"
                marked, start, lines = False, None, []
            else:
                lines.append(line)
        elif line.strip() == MARK:
            if marked:
                raise ValueError(f"line {number}: two marks before one block")
            marked = True
        elif marked and re.fullmatch(r"```\s*(cpp|c\+\+)\s*", line):
            start = number + 1
        elif marked and line.strip():
            raise ValueError(f"line {number}: no ```cpp block follows the mark")
    if marked:
        raise ValueError("the last mark has no finished ```cpp block")


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def extract(pages, folder):
    """Writes the programs of all pages and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for page in pages:
        for index, (line, program) in enumerate(programs(page.read_text()), 1):
            name = re.sub(r"\W", "_", page.stem.lower())
            path = folder / f"{name}_{index}.cpp"
            if path in written:
                raise ValueError(f"{page}: another page has the same name")
            write_if_changed(path, f'#line {line} "{page}"\n{program}')
            written.append(path)
    for stale in set(folder.glob("*.cpp")) - set(written):
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
