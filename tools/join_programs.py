#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins small programs into one, because most of the time of a small program goes into reading
headers and into linking.

    join_programs.py --into FOLDER [--batch N] PROGRAM.cpp...

Each program stands in a namespace of its own, behind the #include lines of its batch. Up to N
programs (the default is 12) become one source FOLDER/batch_K.cpp. FOLDER/main.cpp runs the program
that the first argument names. Lines keep their numbers, so that a compiler's message names the page
of the program.

A program must open no namespace `std` or `sennit`, and its `main` must be the last function. A
#include line of one program reaches each program behind it. So some other test must compile each
program alone.

The tool does not write a file again whose text has not changed, and removes a batch that is gone.
It prints the path of each source.
"""

import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]+.*$", re.MULTILINE)
MAIN = re.compile(r"^int main\(\) \{", re.MULTILINE)
# A joined program must not define these: other programs of its batch would see the definition.
SHARED = re.compile(r"^[ \t]*#[ \t]*(?:define|undef)\b|^namespace (?:std|sennit)\b", re.MULTILINE)


def returning(text):
    """The text of a program whose `main` returns 0 at its end, as a function of another namespace
    must do.
    """
    lines = text.split("\n")
    for index in range(len(lines) - 1, -1, -1):
        code = lines[index].split("//")[0]
        if "}" in code:
            place = code.rindex("}")
            lines[index] = f"{lines[index][:place]} return 0; {lines[index][place:]}"
            return "\n".join(lines)
    raise ValueError("no function ends here")


def joined(name, text):
    """The #include lines of a program, and the program in a namespace."""
    if len(MAIN.findall(text)) != 1:
        raise ValueError("the program needs one line that begins with `int main() {`")
    if found := SHARED.search(text):
        raise ValueError(f"other programs would see the line `{found[0].strip()}`; run it alone")
    body = returning(INCLUDE.sub("", text))
    includes = [line.strip() for line in INCLUDE.findall(text)]
    return includes, f"namespace joined_{name} {{\n{body}}} // namespace joined_{name}\n"


def batch(programs):
    """The text of a source with several programs, given as pairs (name, text)."""
    parts = [joined(*program) for program in programs]
    includes = dict.fromkeys(line for lines, _ in parts for line in lines)
    return "\n".join(includes) + "\n" + "".join(body for _, body in parts)


def main_source(names):
    """The text of the source that runs the program that its first argument names."""
    declared = "".join(f"namespace joined_{name} {{ int main(); }}\n" for name in names)
    cases = "".join(f'    if (name == "{name}") return joined_{name}::main();\n' for name in names)
    return (
        "#include <cstdio>\n#include <string_view>\n"
        f"{declared}\nint main(int count, char** arguments) {{\n"
        '    const std::string_view name = count == 2 ? arguments[1] : "";\n'
        f"{cases}"
        '    std::fprintf(stderr, "usage: programs NAME; no program has the name %s\\n",\n'
        "                 count == 2 ? arguments[1] : \"''\");\n"
        "    return 2;\n}\n"
    )


def join(paths, folder, size):
    """Writes the sources; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    programs = []
    for path in paths:
        programs.append((path.stem, path.read_text()))
        try:
            joined(*programs[-1])
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    texts = {folder / "main.cpp": main_source([name for name, _ in programs])}
    for start in range(0, len(programs), size):
        texts[folder / f"batch_{start // size}.cpp"] = batch(programs[start : start + size])
    for path, text in texts.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for stale in set(folder.glob("*.cpp")) - set(texts):
        stale.unlink()
    return list(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", required=True, type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--batch", type=int, default=12, metavar="N")
    parser.add_argument("programs", nargs="+", type=pathlib.Path, metavar="PROGRAM.cpp")
    args = parser.parse_args()
    try:
        print(*join(args.programs, args.into, args.batch), sep="\n")
    except (OSError, ValueError) as error:
        sys.exit(f"join_programs: {error}")


if __name__ == "__main__":
    main()
