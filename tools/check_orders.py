#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every memory order weaker than sequentially consistent says why it is enough.

A use of `load_acq`, `store_rel`, `cas_acq_rel`, … in include/ and src/ needs a comment, on one of the
lines of its statement or on one of the four lines above it. The comment says what the use pairs with
(`pairs with …`, `publishes …`, `sees …`) or why it needs no partner (`owner`, `own thread`, `this
thread only`, `counter`, `metric`, `hint`, `orders nothing`, `under the lock`, `not shared yet`).
Outside base nothing uses std::atomic, fences or builtins.
"""
import pathlib
import re
import sys

import policy

WEAK = re.compile(r"\b(?:load|store|exchange|cas|fetch_[a-z]+?)_(?:acq_rel|acq|rel|rlx)\s*\(")
REASON = re.compile(
    r"\b(pair(s|ed)?|publish(es|ed)?|sees|owner|own thread|(this|the|one) thread only|only (this|the|one) thread|"
    r"under the lock|not (yet )?shared|not shared yet|counters?|metrics?|hints?|orders nothing|re-?checked)\b",
    re.IGNORECASE)
AROUND = re.compile(r"std::atomic|std::memory_order|\b__atomic_\w+|\b__sync_\w+|#\s*include\s*<atomic>")
# Not yet tagged: `base`, and the files that moved from it to sys.
BASE = ("include/sennit/detail/base/", "include/sennit/detail/sys/single_threaded.hpp",
        "include/sennit/detail/sys/spin_lock.hpp")
REACH = 4  # lines above a use in which its comment may start


def comment_of(line, code):
    """The comment text of a line, given the same line without comments."""
    return "".join(c for c, rest in zip(line, code.ljust(len(line))) if rest == " ")


def end_of_statement(codes, index):
    """The last line of the statement that has the given line: the first one that ends with ; { or }."""
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
                yield f"{path}:{index + 1}: no comment says what this order pairs with: {code.strip()}"


def check(root):
    findings, paths = [], policy.files(root, "include", "src")
    for path in paths:
        name = path.relative_to(root).as_posix()
        findings += check_text(name, path.read_text(), is_base=name.startswith(BASE))
    return findings, len(paths)


if __name__ == "__main__":
    policy.finish("check_orders", *check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else policy.ROOT))
