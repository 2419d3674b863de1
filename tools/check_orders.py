#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every memory order weaker than sequentially consistent says why it is enough.

A use of `load_acq`, `store_rel`, `cas_acq_rel`, … in include/ and src/ needs a comment, on one of
the lines of its statement or on one of the four lines above the use. The comment names the partner
of the use (`pairs with …`, `publishes …`, `sees …`), or says why the use needs none (`owner`, `own
thread`, `this thread only`, `counter`, `metric`, `hint`, `orders nothing`, `under the lock`, `not
shared yet`). Only base uses std::atomic, fences and builtins.
"""

import pathlib
import re
import sys

import policy

WEAK = re.compile(r"\b(?:load|store|exchange|cas|fetch_[a-z]+?)_(?:acq_rel|acq|rel|rlx)\s*\(")
REASON = re.compile(
    r"\b(pair(s|ed)?|publish(es|ed)?|sees|owner|own thread|(this|the|one) thread only|"
    r"only (this|the|one) thread|under the lock|not (yet )?shared|not shared yet|counters?|"
    r"metrics?|hints?|orders nothing|re-?checked)\b",
    re.IGNORECASE,
)
AROUND = re.compile(
    r"std::atomic|std::memory_order|\b__atomic_\w+|\b__sync_\w+|#\s*include\s*<atomic>"
)
# Without tags: `base`, and the files that moved from `base` to sys.
BASE = (
    "include/sennit/detail/base/",
    "include/sennit/detail/sys/biased_word.hpp",
    "include/sennit/detail/sys/single_threaded.hpp",
    "include/sennit/detail/sys/spin_lock.hpp",
)
REACH = 4  # the comment of a use may start so many lines above the use


def comment_of(line, code):
    """The comment text of a line, given the same line without comments."""
    return "".join(c for c, rest in zip(line, code.ljust(len(line))) if rest == " ")


def end_of_statement(codes, index):
    """The last line of the statement that contains the given line: the first line, from there on,
    that ends with ; { or }.
    """
    while index + 1 < len(codes) and not codes[index].rstrip().endswith((";", "{", "}")):
        index += 1
    return index


def check_text(path, text, is_base):
    lines = text.splitlines()
    codes = policy.without_comments(text).splitlines()
    for index, code in enumerate(codes):
        if is_base:
            continue
        if AROUND.search(code):
            yield f"{path}:{index + 1}: goes around base::atomic: {code.strip()}"
        if WEAK.search(code):
            near = range(max(0, index - REACH), end_of_statement(codes, index) + 1)
            if not REASON.search(" ".join(comment_of(lines[i], codes[i]) for i in near)):
                yield (
                    f"{path}:{index + 1}: no comment says what this order pairs with:"
                    f" {code.strip()}"
                )


def check(root):
    findings, paths = [], policy.files(root, "include", "src")
    for path in paths:
        name = path.relative_to(root).as_posix()
        findings += check_text(name, path.read_text(), is_base=name.startswith(BASE))
    return findings, len(paths)


if __name__ == "__main__":
    policy.finish(
        "check_orders", *check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else policy.ROOT)
    )
