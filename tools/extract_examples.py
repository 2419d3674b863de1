#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Extracts the programs that the documentation shows, so that tests can build and run them.

    extract_examples.py --into FOLDER PAGE.md...

A program is a fenced ```cpp block whose line before the fence (blank lines aside) is
`<!-- run -->`. A ```cpp block after the line `<!-- continues -->` is a further part of the program
before it. Each part has at most 25 lines. Each program becomes FOLDER/PAGE_N.cpp with a #line
directive for each part, so that a compiler's message names the page. A fenced ```text block whose
line before the fence is `<!-- prints -->` is the output of the program before it. The output
becomes FOLDER/PAGE_N.txt, which the test compares with the output of the program
(tests/docs/check_output.py).

Each program includes <sennit/sennit.hpp>, because the tests compile that header once for all
programs, which would hide that a program forgets it.

The tool does not write a file again whose text has not changed, and removes a file whose block is
gone. It prints the path of each program.
"""

import argparse
import dataclasses
import pathlib
import re
import sys

MARK = "<!-- run -->"
CONTINUES = "<!-- continues -->"
PRINTS = "<!-- prints -->"
CPP = re.compile(r"```\s*(cpp|c\+\+)\s*")
FENCES = {MARK: CPP, CONTINUES: CPP, PRINTS: re.compile(r"```\s*text\s*")}
LINES_OF_A_PART = 25
HEADER = "#include <sennit/sennit.hpp>"


@dataclasses.dataclass
class Example:
    """A program of a page: its parts, each with the number of its first line, and its output."""

    parts: list[tuple[int, str]]
    output: str | None = None

    def source(self, page):
        return "".join(f'#line {start} "{page}"\n{part}' for start, part in self.parts)


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


def examples(text):
    """The programs of a page."""
    found = []
    for mark, start, block in blocks(text):
        if mark != MARK and (not found or found[-1].output is not None):
            raise ValueError(f"line {start}: no program stands before this block")
        if mark == PRINTS:
            found[-1].output = block
            continue
        if (lines := block.count("\n")) > LINES_OF_A_PART:
            raise ValueError(
                f"line {start}: the block has {lines} lines, and {LINES_OF_A_PART} is the most;"
                f" shorten it, or show it in two blocks, the second one after {CONTINUES}"
            )
        if mark == CONTINUES:
            found[-1].parts.append((start, block))
        elif HEADER not in block.splitlines():
            raise ValueError(f"line {start}: the program lacks the line {HEADER}")
        else:
            found.append(Example([(start, block)]))
    return found


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
        try:
            found = examples(page.read_text())
        except ValueError as error:
            raise ValueError(f"{page}: {error}") from None
        for index, example in enumerate(found, 1):
            name = re.sub(r"\W", "_", page.stem.lower())
            path = folder / f"{name}_{index}.cpp"
            if path in written:
                raise ValueError(f"{page}: another page has the same name")
            write_if_changed(path, example.source(page))
            written.append(path)
            if example.output is not None:
                outputs.append(path.with_suffix(".txt"))
                write_if_changed(outputs[-1], example.output)
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
