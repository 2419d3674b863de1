#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each message of the library has an id, and that docs/errors.md explains each id.

A message is a string literal of src/, include/, tls/, asio/ or execution/ that begins with
`sennit: `, or that is an argument of SENNIT_CHECK, base::fail, reject, tell_once or check_inside.
Its id has the form [SNT-105]. A message of static_assert has no id, because its text names the
remedy. The heading `### SNT-105` in docs/errors.md begins an entry, and the quoted lines (`> ...`)
below the heading are the message.
"""

import pathlib
import re
import sys

import policy

ID = re.compile(r"\[SNT-(\d{3})\]")
LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
LITERALS = re.compile(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*')
REPORTING = re.compile(
    r"\b(?:SENNIT_CHECK|SENNIT_ASSERT|base::fail|reject|tell_once|check_inside)\s*\("
)
# Texts without an id: the head of a dump, which is no error, and prefixes that the library puts in
# front of a message with an id.
WITHOUT_ID = re.compile(r"sennit: (runtime%s .*)?$")
QUOTED = 40  # characters of a message, without its remedy, that are compared with its entry


def closing(text, at):
    """The position behind the parenthesis that closes the parenthesis at `at`. Literals are
    skipped.
    """
    depth = 0
    for part in re.finditer(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|[()]', text[at:]):
        depth += {"(": 1, ")": -1}.get(part.group(0), 0)
        if depth == 0:
            return at + part.end()
    return len(text)


def blank(text, pattern):
    """The text with blanks in place of each call that begins with the pattern. Lines are kept."""
    for match in reversed(list(re.finditer(pattern, text))):
        end = closing(text, match.end() - 1)
        text = text[: match.start()] + re.sub(r"[^\n]", " ", text[match.start() : end]) + text[end:]
    return text


def joined(literals):
    return "".join(LITERAL.findall(literals))


def messages(text):
    """Yields (line number, message) for each message of a source."""
    text = blank(policy.without_comments(text), r"\bstatic_assert\s*\(")
    found = {}
    for match in LITERALS.finditer(text):
        message = joined(match.group(0))
        if message.startswith("sennit: ") or ID.match(message):
            found[match.start()] = message
    for call in REPORTING.finditer(text):
        if re.search(r"(#\s*define\s|void\s+)[\w:]*$", text[: call.start()].rsplit("\n", 1)[-1]):
            continue  # a definition or a declaration
        inside = list(LITERALS.finditer(text, call.end(), closing(text, call.end() - 1)))
        if (
            inside
        ):  # the message of a check stands last, behind the condition; elsewhere it stands first
            message = inside[-1 if call.group(0).startswith("SENNIT") else 0]
            found[message.start()] = joined(message.group(0))
    for at, message in sorted(found.items()):
        yield text.count("\n", 0, at) + 1, message


def entries(text):
    """{id: (line number, message)} of docs/errors.md."""
    found, current = {}, None
    for number, line in enumerate(text.splitlines(), 1):
        heading = re.match(r"### SNT-(\d{3})$", line)
        if heading:
            current = heading.group(1)
            if current in found:
                yield number, current, None
            found[current] = None
            quoted = []
        elif current and line.startswith("> "):
            quoted.append(line[2:])
        elif current and quoted:
            yield number, current, " ".join(quoted)
            current = None


def check(root):
    findings, checked, used, explained = [], 0, {}, {}
    page = root / "docs/errors.md"
    for number, which, message in entries(
        page.read_text(encoding="utf-8") if page.is_file() else ""
    ):
        if message is None:
            findings.append(f"docs/errors.md:{number}: a second entry for SNT-{which}")
        explained.setdefault(which, (number, message))
    for path in policy.files(root, "src", "include", "tls", "asio", "execution"):
        checked += 1
        name = path.relative_to(root).as_posix()
        for number, message in messages(path.read_text(encoding="utf-8")):
            found = ID.match(message.removeprefix("sennit: "))
            if not found:
                if not WITHOUT_ID.match(message):
                    findings.append(
                        f"{name}:{number}: a message without an id such as [SNT-105]:"
                        f" {message[:60]!r}"
                    )
                continue
            which = found.group(1)
            text = re.split(r"%|;|\\n", message.removeprefix("sennit: ")[found.end() :].strip())[0][
                :QUOTED
            ].strip()
            if which not in explained:
                findings.append(f"{name}:{number}: docs/errors.md has no entry for SNT-{which}")
            elif text not in explained[which][1]:
                findings.append(
                    f"{name}:{number}: docs/errors.md quotes another message for SNT-{which}:"
                    f" {text!r}"
                )
            used.setdefault(which, name)
    for which, (number, _) in explained.items():
        if which not in used:
            findings.append(f"docs/errors.md:{number}: no message has the id SNT-{which}")
    return findings, checked


if __name__ == "__main__":
    policy.finish(
        "check_errors", *check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else policy.ROOT)
    )
