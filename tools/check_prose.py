#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that comments, documents, messages and test names are in plain English.

Each folder has budgets, after the style guide of the project. Rates are per 1,000 words:

  `who`     pronouns of persons for anything but a person: `whoever waits`
  `what`    headless relative clauses: `returns what it found`. An indirect question is fine.
  `actor`   `somebody`, `nobody`, `others`, `the one that` for a thread, a fiber or a task
  `same`    comments that begin with a reference: `The same`, `As above`, `As said` (a count)
  `p90`     the 90th percentile of the length of the sentences, in words
  `long`    lines of more than 100 columns (a count)

Code spans and short quotations are not counted. Code blocks, tables and test names have no
sentences to measure.

  check_prose.py                     the policy test: each folder against the budgets
  check_prose.py PATH...             these files and folders against the budgets
  check_prose.py --report [PATH...]  a table with a row for each folder
  check_prose.py --worst 20 PATH...  the worst files, sentences and findings, with file:line
  check_prose.py --hits PATH...      every finding, with file:line
"""

import argparse
import collections
import dataclasses
import math
import pathlib
import re
import sys

import policy
import prose

BUDGETS = {"who": 0.5, "what": 0.3, "actor": 0.5, "same": 0, "p90": 30, "long": 0}
DENSITIES = ("who", "what", "actor")
COLUMNS = 100
# Measured data and vendored trees; nothing that a person writes.
# docs/benchmarks/index.html is made of results and of the files of lab/harness/page.
DATA = re.compile(
    r"^docs/results/.*\.(jsonl?|csv|svg)$|^docs/benchmarks/index\.html$|\.(svg|csv)$|^LICENSE$|"
    r"package-lock|\.sum$"
)

# --- the rules ------------------------------------------------------------------------------------

PERSON = (
    r"users?|readers?|engineers?|persons?|people|maintainers?|authors?|programmers?|developers?|"
    r"writers?|contributors?|reviewers?|newcomers?|strangers?|visitors?|administrators?"
)
# A verb of saying, asking or knowing in front makes `what` an indirect question.
ASKING = (
    r"say|says|said|saying|tell|tells|told|telling|show|shows|shown|explain|explains|describe|"
    r"describes|decide|decides|define|defines|determine|determines|know|knows|known|knowing|ask|"
    r"asks|asked|asking|see|understand|learn|learns|wonder|remember|matter|report|reports|choose|"
    r"chooses|guess|about"
)
# The words that may follow a pronoun `the one`. Before any other word it is a numeral.
FINISHES = (
    r"(?=\s*(?:[,.;:)]|$|that\b|who\b|which\b|is\b|has\b|was\b|may\b|must\b|can\b|comes\b|"
    r"takes\b|does\b|waits\b))"
)

RULES = {
    "who": re.compile(
        rf"\b(?:{PERSON}),?\s+whom?\b|\b(?P<hit>who|whoever|whom|whomever)\b", re.IGNORECASE
    ),
    "what": re.compile(
        rf"\b(?:{ASKING})\s+(?:[\w']+\s+){{0,2}}what\b|\bwhat\s+(?:if|happens|happened)\b|"
        rf"\bwhat\b[^.;:]*\?|\b(?P<hit>what|whatever)\b",
        re.IGNORECASE,
    ),
    "actor": re.compile(
        rf"\b(?P<hit>(?:some|no|every|any)body(?:'s)?|(?:some|every|any)one(?:'s)?|no\s+one|others|"
        rf"(?:the|each|every|any|another|that)\s+one{FINISHES}|one\s+(?:that|who|which|whose)\b)",
        re.IGNORECASE,
    ),
}
SAME = re.compile(
    r"(the same\b|as above\b|as said\b|see above\b|ditto\b|likewise\b|same\b)", re.IGNORECASE
)
QUOTED = re.compile(r"``[^`]*``|`[^`]*`|\"[^\"\n]{1,30}\"|“[^”\n]{1,30}”|https?://\S+")
LINK = re.compile(r"(?<=\])\([^)\s]*\)")
EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}(?=\w)|(?<=\w)[*_]{1,3}(?!\w)")
SENTENCE_END = re.compile(r"[.!?][)\"'”*_]*(?=\s+[^a-z\s]|\s*$)|\n\s*\n")
ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|etc|cf|vs|approx|resp|no|fig|incl)\.", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Hit:
    rule: str
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def blank(match):
    """A placeholder of one word that keeps the line breaks of the text."""
    return "CODE" + "\n" * match.group(0).count("\n")


def readable(passage):
    """The text without code, links and emphasis."""
    text = QUOTED.sub(blank, passage.text) if passage.kind != prose.TEST_NAME else passage.text
    return EMPHASIS.sub("", LINK.sub("", text))


def excerpt(text, start, end, around=40):
    """The words around a finding."""
    first = text.find(" ", start - around) + 1 if start > around else 0
    last = text.rfind(" ", 0, end + around) if end + around < len(text) else len(text)
    return " ".join(text[min(first, start) : max(last, end)].split())


def hits_of(passage, text):
    for rule, pattern in RULES.items():
        for found in pattern.finditer(text):
            if found.groupdict().get("hit"):
                line = passage.line + text.count("\n", 0, found.start())
                yield Hit(rule, passage.path, line, excerpt(text, found.start(), found.end()))
    if passage.kind == prose.COMMENT and passage.opens and SAME.match(text.lstrip()):
        yield Hit("same", passage.path, passage.line, excerpt(text.lstrip(), 0, 0, 60))


def sentences_of(passage, text):
    """(words, line, sentence) for each sentence of a paragraph."""
    text = ABBREVIATIONS.sub(lambda match: match.group(0).replace(".", ""), text)
    start = 0
    for end in [match.end() for match in SENTENCE_END.finditer(text)] + [len(text)]:
        sentence, begin = text[start:end], start
        start = end
        length = prose.words(prose.ITEM.sub("", sentence, count=1) if begin == 0 else sentence)
        if length:
            lead = len(sentence) - len(sentence.lstrip())
            yield (
                length,
                passage.line + text.count("\n", 0, begin + lead),
                " ".join(sentence.split()),
            )


def long_lines(name, text):
    """Lines that are too wide. Tables, JSON, and lines with no space to break at, are allowed."""
    if name.endswith(".json"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) <= COLUMNS or (name.endswith(".md") and line.lstrip().startswith("|")):
            continue
        if " " in line[:COLUMNS].strip() and not re.search(r"https?://\S{40}", line):
            yield Hit("long", name, number, f"{len(line)} columns")


# --- measuring ------------------------------------------------------------------------------------


class Measure:
    """The words, findings and sentences of a file or a folder."""

    def __init__(self):
        self.words, self.hits, self.sentences = 0, [], []

    def add(self, other):
        self.words += other.words
        self.hits += other.hits
        self.sentences += other.sentences

    def values(self):
        counts = collections.Counter(hit.rule for hit in self.hits)
        lengths = sorted(length for length, *_ in self.sentences)
        found = {rule: 1000 * counts[rule] / max(self.words, 1) for rule in DENSITIES}
        return {
            **found,
            "same": counts["same"],
            "p90": lengths[math.ceil(0.9 * len(lengths)) - 1] if lengths else 0,
            "long": counts["long"],
        }

    def over(self, ceilings):
        """{rule: value} of the values above their ceiling. One occurrence is never too many for
        a density.
        """
        counts = collections.Counter(hit.rule for hit in self.hits)
        return {
            rule: value
            for rule, value in self.values().items()
            if value > ceilings[rule] and not (rule in DENSITIES and counts[rule] <= 1)
        }


def measure(name, text):
    result = Measure()
    result.hits += long_lines(name, text)
    for passage in prose.extract(name, text):
        plain = readable(passage)
        result.words += prose.words(plain)
        result.hits += hits_of(passage, plain)
        if passage.measured:
            result.sentences += [
                (length, passage.path, line, text)
                for length, line, text in sentences_of(passage, plain)
            ]
    return result


def folder_of(name):
    """The first two folders of a path; three below include/, whose second one is always sennit."""
    parts = pathlib.PurePosixPath(name).parts[:-1]
    return "/".join(parts[: 3 if parts[:1] == ("include",) else 2]) or "."


def measure_files(root, paths=()):
    """{name: Measure} of the project's files, or of those that are or lie below one of the
    paths.
    """
    chosen = [pathlib.Path(path).resolve() for path in paths]
    result = {}
    for path in policy.project_files(root):
        name = path.relative_to(root).as_posix()
        if DATA.search(name) or (
            chosen and not any(path.resolve().is_relative_to(place) for place in chosen)
        ):
            continue
        try:
            result[name] = measure(name, path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue  # a picture
    return result


def by_folder(files):
    folders = collections.defaultdict(Measure)
    for name, measured in files.items():
        folders[folder_of(name)].add(measured)
    return dict(sorted(folders.items()))


# --- reports --------------------------------------------------------------------------------------


def shown(rule, value):
    return f"{value:.1f}" if rule in DENSITIES else f"{value}"


def report(folders):
    """The table of all folders; `*` marks a value above its budget."""
    total = Measure()
    for measured in folders.values():
        total.add(measured)
    print(f"{'folder':28} {'words':>7}" + "".join(f"{rule:>8}" for rule in BUDGETS))
    for folder, measured in [*folders.items(), ("all", total)]:
        over = measured.over(BUDGETS)
        cells = (
            shown(rule, value) + ("*" if rule in over else " ")
            for rule, value in measured.values().items()
        )
        print(f"{folder:28} {measured.words:7}" + "".join(f"{cell:>8}" for cell in cells))
    print(
        f"{'budget':28} {'':7}"
        + "".join(f"{shown(rule, value) + ' ':>8}" for rule, value in BUDGETS.items())
    )


def worst(files, count):
    print("Files with the most findings:")
    for name, measured in sorted(files.items(), key=lambda item: -len(item[1].hits))[:count]:
        counts = collections.Counter(hit.rule for hit in measured.hits)
        if counts:
            print(
                f"  {name}: {sum(counts.values())}",
                "(" + ", ".join(f"{rule} {count}" for rule, count in counts.most_common()) + ")",
            )
    print("\nLongest sentences:")
    everything = sorted(
        (sentence for measured in files.values() for sentence in measured.sentences), reverse=True
    )
    for length, path, line, text in everything[:count]:
        print(f"  {path}:{line}: {length} words: {text[:160]}")
    for rule in (*DENSITIES, "same"):
        found = [hit for measured in files.values() for hit in measured.hits if hit.rule == rule]
        print(f"\n{rule}: {len(found)} findings" + (", the first of them:" if found else ""))
        print(*(f"  {hit.path}:{hit.line}: {hit.text}" for hit in found[:count]), sep="\n")


def rounded_up(rule, value):
    return math.ceil(10 * value - 1e-9) / 10 if rule in DENSITIES else value


def check(folders):
    """The findings of the policy test."""
    for folder, measured in folders.items():
        for rule, value in measured.over(BUDGETS).items():
            yield (
                f"{folder}: {rule} is {value:.2f}, the limit is {BUDGETS[rule]}"
                f" (tools/check_prose.py --worst 10 {folder} shows where)"
            )


def main():
    parser = argparse.ArgumentParser(
        prog="check_prose.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files and folders; without one, the whole project"
    )
    parser.add_argument(
        "--report", action="store_true", help="print a table with a row for each folder"
    )
    parser.add_argument(
        "--worst", type=int, metavar="N", help="print the N worst files and sentences"
    )
    parser.add_argument("--hits", action="store_true", help="print every finding")
    parser.add_argument(
        "--root", type=pathlib.Path, default=policy.ROOT, help="the tree (default: this file's)"
    )
    arguments = parser.parse_args()
    files = measure_files(arguments.root.resolve(), arguments.paths)
    if not files:
        sys.exit("check_prose: found no files to check")
    folders = by_folder(files)
    if arguments.report:
        report(folders)
    if arguments.worst:
        worst(files, arguments.worst)
    if arguments.hits:
        for measured in files.values():
            print(*measured.hits, sep="\n", end="\n" if measured.hits else "")
    if not (arguments.report or arguments.worst or arguments.hits):
        policy.finish("check_prose", list(check(folders)), len(files))


if __name__ == "__main__":
    main()
