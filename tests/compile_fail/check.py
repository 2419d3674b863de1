#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes when the compiler refuses a source for the reason that the source names.

    check.py SOURCE -- COMPILER FLAG...
    check.py --accepted SOURCE... -- COMPILER FLAG...

The first comment of SOURCE holds lines of the form `// expect-error: REGEX`. The test compiles the
source with SENNIT_EXPECT_ERROR defined. The compiler must fail, and for each REGEX one of its
errors or notes must match.

Each source must compile without that definition. This shows that it has no other error. With
--accepted, the test compiles the sources in this way. One compiler is enough to show this, and most
of the time goes into reading headers, so the sources are parts of one program, each in a namespace
of its own. A source that defines a macro or opens a namespace of Sennit is compiled alone.
"""

import itertools
import pathlib
import re
import subprocess
import sys
import tempfile


def compile_source(source, command, *defines):
    full = [*command, *defines, "-fsyntax-only", str(source)]
    return subprocess.run(full, capture_output=True, text=True)


def check(source, command):
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
    return None


INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
ALONE = re.compile(r"^(#define|namespace sennit|template <> *$)", re.MULTILINE)


def check_accepted(sources, command):
    """Prints what is accepted, and ends the process if a source is not."""
    alone = [source for source in sources if ALONE.search(source.read_text())]
    together = [source for source in sources if source not in alone]
    includes, parts = {}, []
    for number, source in enumerate(together):
        text = source.read_text()
        includes.update(dict.fromkeys(INCLUDE.findall(text)))
        parts += [f"namespace part_{number} {{", f'#line 1 "{source}"', INCLUDE.sub("", text), "}"]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "together.cpp")
        program.write_text("\n".join([*includes, *parts, ""]))
        for part in [program] * bool(together) + alone:
            done = compile_source(part, command)
            if done.returncode != 0:
                sys.exit(f"must compile without SENNIT_EXPECT_ERROR:\n{done.stderr}")
    print(f"{len(sources)} sources: accepted without SENNIT_EXPECT_ERROR")


def main():
    if "--" not in sys.argv[2:]:
        sys.exit(__doc__)
    words = sys.argv[1:]
    names, command = words[: words.index("--")], words[words.index("--") + 1 :]
    if names[0] == "--accepted":
        check_accepted([pathlib.Path(name) for name in names[1:]], command)
        return
    source = pathlib.Path(names[0])
    reason = check(source, command)
    if reason:
        sys.exit(f"{source.name}: {reason}")
    print(f"{source.name}: refused, as it must be")


if __name__ == "__main__":
    main()
