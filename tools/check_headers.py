#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the head of every C++ file, and that the library's files compile alone.

Each public header and each source is compiled alone, with the project's warnings.

Every C++ file starts with the licence line. Every header has `#pragma once`. A public header opens
with a comment that names its purpose. The compiler is $CXX, or g++. A header that a file
includes first is compiled together with that file. The presets of the tests compile several sources
at once, so that only this tool sees a forgotten #include.

The headers of the standard library are compiled once for all files, which hides a forgotten header.
So the tool looks for names. A file that uses `std::vector` must reach <vector> through its own
includes or through those of the project.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import policy

LICENCE = "// SPDX-License-Identifier: Apache-2.0"
FOLDERS = ("include", "src", "tests", "lab")
# Those of cmake/SennitWarnings.cmake.
WARNINGS = (
    *("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion"),
    *("-Wnon-virtual-dtor", "-Werror"),
)
# A few names of each standard header. ALSO has further headers with these names.
USES = {
    header: re.compile(rf"\bstd::(?:{names})\b")
    for header, names in {
        "algorithm": "sort|find|find_if|any_of|all_of|none_of|count_if|fill|fill_n|remove_if|clamp",
        "array": "array",
        "bit": "bit_cast|countr_zero|countl_zero|bit_ceil|bit_width|popcount|has_single_bit",
        "charconv": "from_chars|to_chars",
        "chrono": "chrono",
        "condition_variable": "condition_variable",
        "coroutine": "coroutine_handle|suspend_always|suspend_never|noop_coroutine",
        "cstdio": "fprintf|snprintf|fputs|fflush|printf",
        "cstdlib": "abort|getenv|malloc|free|strtoul",
        "cstring": "memcpy|memset|memcmp|strlen|strerror|memchr",
        "deque": "deque",
        "exception": "exception_ptr|current_exception|rethrow_exception|uncaught_exceptions",
        "functional": "function|reference_wrapper|invoke",
        "limits": "numeric_limits",
        "map": "map|multimap",
        "memory": "unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|construct_at",
        "mutex": "mutex|lock_guard|unique_lock|scoped_lock|once_flag|call_once",
        "new": "bad_alloc|nothrow|align_val_t|launder",
        "optional": "optional|nullopt",
        "random": "mt19937|mt19937_64|random_device",
        "set": "set",
        "span": "span",
        "stdexcept": "logic_error|runtime_error|invalid_argument|out_of_range|length_error",
        "stop_token": "stop_token|stop_source|stop_callback",
        "string": "string|to_string",
        "string_view": "string_view",
        "system_error": "system_error|error_code|generic_category|system_category",
        "thread": "thread|jthread|this_thread",
        "tuple": "tuple|make_tuple|apply|tie",
        "type_traits": "decay_t|remove_cvref_t|is_same_v|conditional_t|invoke_result_t",
        "unordered_map": "unordered_map",
        "utility": "move|forward|exchange|swap|pair|index_sequence",
        "variant": "variant|visit|monostate",
        "vector": "vector",
    }.items()
}
ALSO = collections.defaultdict(tuple, {"new": ("memory",), "type_traits": ("concepts",)})


def check_head(name, text):
    lines = text.splitlines() + ["", ""]
    if lines[0] != LICENCE:
        yield f"{name}:1: must be `{LICENCE}`"
    if name.endswith(".hpp"):
        if "#pragma once" not in lines:
            yield f"{name}: has no `#pragma once`"
        if name.startswith("include/") and not lines[1].startswith("// "):
            yield f"{name}:2: a public header opens with a comment that says what it is for"


def compile_alone(command, root, name):
    """The compiler's complaint about a program that begins with this file, or None."""
    result = subprocess.run(
        [*command, "-fsyntax-only", "-x", "c++", "-"],
        input=f'#include "{root / name}"\n',
        capture_output=True,
        text=True,
    )
    return None if result.returncode == 0 else f"{name}: does not compile alone:\n{result.stderr}"


STANDARD = re.compile(r"[a-z_]+$")  # the name of a standard header: no folder, no suffix


def with_standard_headers(command, folder, paths):
    """Compiles the standard headers of the files into the folder. Returns the command that uses the
    result.
    """
    included = (name for path in paths for _, name, _ in policy.includes(path.read_text()))
    names = sorted(set(filter(STANDARD.match, included)))
    header = pathlib.Path(folder, "standard.hpp")
    header.write_text(
        "".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in names)
    )
    clang = "clang" in pathlib.Path(command[0]).name
    # Without this option, clang instantiates the templates of these headers for each file.
    once = ["-fpch-instantiate-templates"] if clang else []
    result = f"{header}.pch" if clang else f"{header}.gch"
    compiled = subprocess.run(
        [*command, *once, "-x", "c++-header", header, "-o", result],
        capture_output=True,
        text=True,
    )
    if compiled.returncode != 0:
        sys.exit(f"check_headers: cannot compile the standard headers:\n{compiled.stderr}")
    if clang:
        return [*command, "-include-pch", result]
    return [*command, "-Winvalid-pch", "-include", str(header)]


FIRST = re.compile(r'^#include [<"](.*?)[>"]', re.MULTILINE)


def first_include(path):
    """The header that a file includes before any other, as the file writes it; None if there is no
    such header, or if a condition stands before the #include.
    """
    text = policy.without_comments(path.read_text())
    found = FIRST.search(text)
    return found[1] if found and "#if" not in text[: found.start()] else None


def to_compile(root):
    """The public headers that neither the build nor the check of another header compiles before any
    other text, as an #include writes them.
    """
    first = {
        path.relative_to(root / "include").as_posix(): first_include(path)
        for path in policy.files(root, "include")
    }
    sources = [first_include(path) for path in policy.files(root, "src") if path.suffix == ".cpp"]
    left = dict.fromkeys(first)
    # First the headers that no header includes first, so that headers in a circle come last.
    by_sources = [name for name in sources if name in first]
    alone = [name for name in first if name not in first.values()]
    chosen = []
    for name in [*by_sources, *alone, *first]:
        if name in left and name not in by_sources:
            chosen.append(name)
        while name in left:
            del left[name]
            name = first[name]
    return chosen


def forgotten_standard_headers(root, paths):
    """Yields a complaint for each name of the standard library whose header no #include reaches."""
    texts = {path: policy.without_comments(path.read_text()) for path in paths}

    def included(path):
        for _, name, quoted in policy.includes(texts[path]):
            near = [path.parent / name] * quoted
            places = [*near, root / "include" / name, root / "src" / name]
            known = (place.resolve() for place in places if place.resolve() in texts)
            yield name, next(known, None)

    direct = {path: list(included(path)) for path in texts}
    for path, text in texts.items():
        reached, waiting, standard = {path}, [path], set()
        while waiting:
            for name, place in direct[waiting.pop()]:
                standard.add(name)
                if place and place not in reached:
                    reached.add(place)
                    waiting.append(place)
        for header, used in USES.items():
            found = used.search(text)
            if found and not standard & {header, *ALSO[header]}:
                name, line = path.relative_to(root).as_posix(), text.count("\n", 0, found.start())
                yield f"{name}:{line + 1}: uses {found[0]}, but no #include reaches <{header}>"


def check(root, compiler):
    root = root.resolve()
    paths = policy.files(root, *FOLDERS)
    findings = []
    for path in paths:
        findings += check_head(path.relative_to(root).as_posix(), path.read_text())
    library = policy.files(root, "include", "src")
    findings += forgotten_standard_headers(root, library)
    names = [f"include/{name}" for name in to_compile(root)]
    names += [path.relative_to(root).as_posix() for path in library if path.suffix == ".cpp"]
    command = [compiler, "-std=c++20", *WARNINGS, f"-I{root / 'include'}", f"-I{root / 'src'}"]
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
    ):
        if names:
            command = with_standard_headers(command, folder, library)
        findings += filter(None, pool.map(lambda name: compile_alone(command, root, name), names))
    return findings, len(paths)


if __name__ == "__main__":
    where = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else policy.ROOT
    policy.finish("check_headers", *check(where, os.environ.get("CXX", "g++")))
