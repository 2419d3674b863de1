#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes when the compiler refuses a source for the reason that the source names.

    check.py [--refused-only] SOURCE -- COMPILER FLAG...

The first comment of SOURCE holds lines of the form `// expect-error: REGEX`. The test compiles the
source with SENNIT_EXPECT_ERROR defined. The compiler must fail, and for each REGEX one of its
errors or notes must match. A source that mentions SENNIT_EXPECT_ERROR must compile without that
definition. This shows that the source has no other error. One compiler is enough to show this:
--refused-only leaves this half out.
"""

import itertools
import pathlib
import re
import subprocess
import sys


def compile_source(source, command, *defines):
    full = [*command, *defines, "-fsyntax-only", str(source)]
    return subprocess.run(full, capture_output=True, text=True)


def check(source, command, refused_only):
    """The reason why the source fails this test, or None."""
    text = source.read_text()
    head = itertools.takewhile(lambda line: line.startswith("//"), text.splitlines())
    marks = [re.match(r"//\s*expect-error:\s*(.+?)\s*$", line) for line in head]
    expected = [mark.group(1) for mark in marks if mark]
    if not expected:
        return "needs a line `// expect-error: REGEX` in its first comment"

    refused = compile_source(source, command, "-DSENNIT_EXPECT_ERROR")
    if refused.returncode == 0:
        return "compiles, but must not"
    messages = [line for line in refused.stderr.splitlines() if re.search(r"\b(error|note):", line)]
    for one in expected:
        if not any(re.search(one, line) for line in messages):
            return f"is refused, but no message matches /{one}/:\n{refused.stderr}"

    if "SENNIT_EXPECT_ERROR" in text and not refused_only:
        accepted = compile_source(source, command)
        if accepted.returncode != 0:
            return f"must compile without SENNIT_EXPECT_ERROR:\n{accepted.stderr}"
    return None


def main():
    if "--" not in sys.argv[2:]:
        sys.exit(__doc__)
    words = sys.argv[1:]
    options, command = words[: words.index("--")], words[words.index("--") + 1 :]
    source = pathlib.Path(options[-1])
    reason = check(source, command, options[0] == "--refused-only")
    if reason:
        sys.exit(f"{source.name}: {reason}")
    print(f"{source.name}: refused, as it must be")


if __name__ == "__main__":
    main()
