#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes when the compiler refuses a source for the reason that the source names.

    check.py --together MESSAGES SOURCE... -- COMPILER FLAG...
    check.py --accepted SOURCE... -- COMPILER FLAG...
    check.py [--messages MESSAGES] SOURCE -- COMPILER FLAG...

The first comment of SOURCE holds lines of the form `// expect-error: REGEX`. The test compiles the
source with SENNIT_EXPECT_ERROR defined. The compiler must fail, and for each REGEX one of its
errors or notes must match.

Each source must compile without that definition. This shows that it has no other error. With
--accepted, the test compiles the sources in this way. One compiler is enough to show this.

Most of the time goes into reading headers. So the sources are parts of one program, each in a
namespace of its own. With --together, the tool compiles this program with SENNIT_EXPECT_ERROR, and
writes the messages about each source to the file MESSAGES. A compiler gives a message only once for
equal types, so the test of a source that misses a message compiles that source alone. A source that
defines a macro or opens a namespace of Sennit is always compiled alone.
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def compile_source(source, command, *defines):
    full = [*command, *defines, "-fsyntax-only", str(source)]
    return subprocess.run(full, capture_output=True, text=True)


def told(output):
    """The errors and notes of a compiler's output."""
    return [line for line in output.splitlines() if re.search(r"\b(error|note):", line)]


def missing(expected, messages):
    """The first expected regular expression that no message matches, or None."""
    return next((one for one in expected if not any(re.search(one, m) for m in messages)), None)


def check(source, command, known):
    """The reason why the source fails this test, or None. `known` are messages about the source in
    the program of all sources.
    """
    head = itertools.takewhile(lambda line: line.startswith("//"), source.read_text().splitlines())
    marks = [re.match(r"//\s*expect-error:\s*(.+?)\s*$", line) for line in head]
    expected = [mark.group(1) for mark in marks if mark]
    if not expected:
        return "needs a line `// expect-error: REGEX` in its first comment"
    if missing(expected, known) is None:
        return None

    refused = compile_source(source, command, "-DSENNIT_EXPECT_ERROR")
    if refused.returncode == 0:
        return "compiles, but must not"
    if one := missing(expected, told(refused.stderr)):
        return f"is refused, but no message matches /{one}/:\n{refused.stderr}"
    return None


INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
ALONE = re.compile(r"^(#define|namespace sennit|template <> *$)", re.MULTILINE)


def stands_alone(source):
    return ALONE.search(source.read_text()) is not None


def one_program(sources):
    """The text of a program whose parts are the sources."""
    includes, parts = {}, []
    for number, source in enumerate(sources):
        text = source.read_text()
        includes.update(dict.fromkeys(INCLUDE.findall(text)))
        parts += [f"namespace part_{number} {{", f'#line 1 "{source}"', INCLUDE.sub("", text), "}"]
    return "\n".join([*includes, *parts, ""])


def messages_by_source(output, sources):
    """The errors and notes about each source. An error belongs to the sources that its context
    names. That context stands in front of the error with g++, and behind it with clang.
    """
    blocks, has_error = [[]], False
    for line in output.splitlines():
        context = re.match(r"In file included from |\S.*: In ", line)
        error = re.search(r"\berror:", line)
        if has_error and (context or error):
            blocks.append([])
            has_error = False
        has_error = has_error or bool(error)
        blocks[-1].append(line)
    found, about = {}, []
    for block in blocks:
        text = "\n".join(block)
        about = [source for source in sources if f"{source}:" in text] or about
        for source in about:
            found.setdefault(str(source), []).extend(told(text))
    return found


def check_accepted(sources, command):
    """Prints what is accepted, and ends the process if a source is not."""
    alone = [source for source in sources if stands_alone(source)]
    together = [source for source in sources if source not in alone]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "together.cpp")
        program.write_text(one_program(together))
        for part in [program] * bool(together) + alone:
            done = compile_source(part, command)
            if done.returncode != 0:
                sys.exit(f"must compile without SENNIT_EXPECT_ERROR:\n{done.stderr}")
    print(f"{len(sources)} sources: accepted without SENNIT_EXPECT_ERROR")


def refuse_together(messages, sources, command):
    """Writes the messages about each source in the program of all sources."""
    sources = [source for source in sources if not stands_alone(source)]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "together.cpp")
        program.write_text(one_program(sources))
        refused = compile_source(program, command, "-DSENNIT_EXPECT_ERROR")
    if refused.returncode == 0:
        sys.exit("all sources together compile, but must not")
    found = messages_by_source(refused.stderr, sources)
    messages.write_text(json.dumps(found))
    print(f"{len(found)} of {len(sources)} sources have messages")


def main():
    if "--" not in sys.argv[2:]:
        sys.exit(__doc__)
    words = sys.argv[1:]
    names, command = words[: words.index("--")], words[words.index("--") + 1 :]
    option = names.pop(0) if names[0].startswith("--") else ""
    paths = [pathlib.Path(name) for name in names]
    if option == "--accepted":
        check_accepted(paths, command)
        return
    if option == "--together":
        refuse_together(paths[0], paths[1:], command)
        return
    source = paths[-1]
    known = json.loads(paths[0].read_text()) if option == "--messages" else {}
    reason = check(source, command, known.get(str(source), []))
    if reason:
        sys.exit(f"{source.name}: {reason}")
    print(f"{source.name}: refused, as it must be")


if __name__ == "__main__":
    main()
