# SPDX-License-Identifier: Apache-2.0
"""Excerpts of the lab's sources. A source marks the lines of an excerpt with comments of their own:

// excerpt NAME
// excerpt end
"""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from .declared import LAB, UsageError

MARK = re.compile(r"^\s*(?://|%%|--|#)\s*excerpt\s+([\w-]+)\s*$")
END = "end"
LANGUAGES = {
    ".hpp": "cpp",
    ".cpp": "cpp",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".erl": "erlang",
    ".hs": "haskell",
    ".mjs": "js",
    ".py": "python",
    ".cs": "csharp",
}


@dataclass(frozen=True)
class Excerpt:
    path: str  # below lab/
    text: str

    @property
    def language(self) -> str:
        return LANGUAGES.get(Path(self.path).suffix, "")


def excerpts(path: str, lab: Path = LAB) -> dict[str, Excerpt]:
    """name -> excerpt, of a source below lab/. Raises UsageError for a mark without its other
    half, and for a name that stands twice.
    """
    try:
        lines = (lab / path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"lab/{path}: {error.strerror}") from None
    found: dict[str, Excerpt] = {}
    name, begin = "", 0
    for number, line in enumerate(lines):
        mark = MARK.match(line)
        if not mark:
            continue
        where = f"lab/{path}:{number + 1}"
        if mark[1] == END:
            if not name:
                raise UsageError(f"{where}: this end of an excerpt has no beginning")
            text = textwrap.dedent("\n".join(lines[begin:number])).strip("\n")
            found[name] = Excerpt(path, text)
            name = ""
            continue
        if name:
            raise UsageError(f"{where}: the excerpt '{name}' has no end before this one begins")
        if mark[1] in found:
            raise UsageError(f"{where}: the file has two excerpts '{mark[1]}'")
        name, begin = mark[1], number + 1
    if name:
        raise UsageError(f"lab/{path}: the excerpt '{name}' has no end")
    return found


def excerpt(path: str, name: str, lab: Path = LAB) -> Excerpt:
    """Raises UsageError if the source has no excerpt of that name."""
    found = excerpts(path, lab)
    if name not in found:
        names = ", ".join(found) or "none"
        raise UsageError(f"lab/{path} has no excerpt '{name}'; it has: {names}")
    return found[name]
