#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs one consumer of sennit as its user would. The first command that fails ends the
test.

    prefix            installs the finished build, then moves the tree: a package must not
                      depend on the place in which it lies
    find_package      a CMake project that finds the installed package
    pkg_config        a Makefile that asks pkg-config
    examples          the programs of examples/, with the installed package; clients in Python check
                      their answers
    add_subdirectory  a CMake project with sennit's source tree inside its own, and with
                      link-time optimisation
    shared            builds and installs the shared library; then builds the find_package
                      project with it

Four more consumers run the text of the documentation as it is written, in an empty folder with a
copy of the sources:

    text_readme            the shell lines of README.md, with a temporary HOME; main.cpp is the
                           first program of README.md
    text_find_package      the CMake text of docs/guide/install.md, with the package that the
                           consumer `prefix` has installed
    text_add_subdirectory  the CMake text for the sources inside a project
    text_fetch_content     the CMake text for FetchContent
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

# The sources that a user's build needs.
COPIED = (
    "CMakeLists.txt",
    "LICENSE",
    "cmake",
    "include",
    "src",
    "tls",
    "asio",
    "execution",
    "tools",
)
# The consumers examine packages, not code. Only the one with link-time optimisation is optimised as
# a user's program is.
LESS_OPTIMISED = "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"
FASTER = """set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
set(CMAKE_CXX_FLAGS_RELEASE "-O0" CACHE STRING "")
"""


def command(*words, cwd=None, **environment):
    words = [str(word) for word in words]
    print("+", *words, flush=True)
    subprocess.run(words, check=True, cwd=cwd, env={**os.environ, **environment})


def marked(page, mark):
    """The texts of a page's fenced blocks whose line before the fence is `<!-- mark -->`."""
    found = re.findall(
        rf"^<!-- {mark} -->\n+```\w+\n(.*?)^```$",
        page.read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    if not found:
        raise SystemExit(f"{page}: no block has the mark <!-- {mark} -->")
    return found


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return folder


class Check:
    def __init__(self, args):
        self.args = args
        self.prefix = args.into / "prefix"
        self.configure = [
            args.cmake,
            "-G",
            args.generator,
            f"-DCMAKE_CXX_COMPILER={args.compiler}",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_UNITY_BUILD=ON",
            "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0",
        ]

    def library_folder(self, prefix):
        """The folder of the libraries of an installed tree: lib, lib64 or lib/<triplet>."""
        found = sorted(prefix.glob("lib*/**/sennit.pc"))
        if len(found) != 1:
            raise SystemExit(f"expected one sennit.pc under {prefix}, found {len(found)}")
        return found[0].parent.parent

    def cmake_project(self, consumer, folder, *options):
        command(*self.configure, "-S", HERE / consumer, "-B", fresh(folder), *options)
        command(self.args.cmake, "--build", folder)
        command(folder / "consumer")

    def check_prefix(self):
        first = fresh(self.args.into / "first-prefix")
        command(self.args.cmake, "--install", self.args.build, "--prefix", first)
        first.rename(fresh(self.prefix))
        self.library_folder(self.prefix)
        if not (self.prefix / "share/sennit/gdb/sennit.py").exists():
            raise SystemExit("the script for gdb was not installed to share/sennit/gdb")

    def check_find_package(self):
        self.cmake_project(
            "find_package",
            self.args.into / "find_package",
            f"-DCMAKE_PREFIX_PATH={self.prefix}",
            LESS_OPTIMISED,
        )

    def check_examples(self):
        folder, examples = fresh(self.args.into / "examples"), self.args.source / "examples"
        command(
            *self.configure,
            "-S",
            examples,
            "-B",
            folder,
            f"-DCMAKE_PREFIX_PATH={self.prefix}",
            "-DCMAKE_UNITY_BUILD=OFF",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -Wall -Wextra -Werror",
        )
        command(self.args.cmake, "--build", folder)
        command(sys.executable, examples / "check_examples.py", folder)

    def check_pkg_config(self):
        folder = fresh(self.args.into / "pkg_config")
        packages = self.library_folder(self.prefix) / "pkgconfig"
        command(
            "make",
            "-C",
            HERE / "pkg_config",
            f"OUT={folder}",
            f"CXX={self.args.compiler}",
            PKG_CONFIG_PATH=str(packages),
        )
        command(folder / "consumer")

    def check_add_subdirectory(self):
        self.cmake_project(
            "add_subdirectory",
            self.args.into / "add_subdirectory",
            f"-DSENNIT={self.args.source}",
            "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON",
        )

    def check_shared(self):
        build, prefix = self.args.into / "shared-build", fresh(self.args.into / "shared-prefix")
        command(
            *self.configure,
            "-S",
            self.args.source,
            "-B",
            fresh(build),
            "-DBUILD_SHARED_LIBS=ON",
            "-DSENNIT_BUILD_TESTS=OFF",
            "-DSENNIT_BUILD_LAB=OFF",
            LESS_OPTIMISED,
        )
        command(self.args.cmake, "--build", build)
        command(self.args.cmake, "--install", build, "--prefix", prefix)
        if not (self.library_folder(prefix) / "libsennit.so").exists():
            raise SystemExit("no libsennit.so was installed")
        self.cmake_project(
            "find_package",
            self.args.into / "shared",
            f"-DCMAKE_PREFIX_PATH={prefix}",
            LESS_OPTIMISED,
        )

    def clean_root(self, name):
        """Makes a folder with a copy of the sources in `sennit` and README.md's first program."""
        root = fresh(self.args.into / name)
        for part in COPIED:
            source, target = self.args.source / part, root / "sennit" / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
        (root / "main.cpp").write_text(marked(self.args.source / "README.md", "run")[0])
        return root

    def check_text_readme(self):
        root = self.clean_root("text_readme")
        sources, home = root / "sennit", root / "home"
        home.mkdir()
        shutil.copy(root / "main.cpp", sources / "main.cpp")
        # The environment makes the build faster; the lines stay as they are.
        (root / "faster.cmake").write_text(FASTER)
        lines = "".join(marked(self.args.source / "README.md", "install"))
        command(
            "sh",
            "-e",
            "-x",
            "-c",
            lines,
            cwd=sources,
            HOME=str(home),
            CXX=self.args.compiler,
            CMAKE_TOOLCHAIN_FILE=str(root / "faster.cmake"),
            CMAKE_GENERATOR=self.args.generator,
            PKG_CONFIG_PATH="",
            CMAKE_PREFIX_PATH="",
        )

    def cmake_text(self, consumer, *options):
        """Configures, builds and runs the project that docs/guide/install.md describes."""
        root = self.clean_root(f"text_{consumer}")
        project = root / "my_program"
        (project / "third_party").mkdir(parents=True)
        (project / "third_party/sennit").symlink_to(root / "sennit")
        shutil.move(root / "main.cpp", project / "main.cpp")
        (text,) = marked(self.args.source / "docs/guide/install.md", consumer)
        (project / "CMakeLists.txt").write_text(text)
        build = project / "build"
        command(
            *self.configure, "-S", project, "-B", build, "-DCMAKE_CXX_FLAGS_RELEASE=-O0", *options
        )
        command(self.args.cmake, "--build", build)
        command(build / "my_program")

    def check_text_find_package(self):
        self.cmake_text("find_package", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def check_text_add_subdirectory(self):
        self.cmake_text("add_subdirectory")

    def check_text_fetch_content(self):
        self.cmake_text("fetch_content", "-DFETCHCONTENT_FULLY_DISCONNECTED=ON")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "consumer", choices=[name[6:] for name in vars(Check) if name.startswith("check_")]
    )
    for option in ("cmake", "generator", "compiler"):
        parser.add_argument(f"--{option}", required=True)
    for option in ("source", "build", "into"):
        parser.add_argument(f"--{option}", required=True, type=pathlib.Path)
    args = parser.parse_args()
    try:
        getattr(Check(args), f"check_{args.consumer}")()
    except subprocess.CalledProcessError as error:
        raise SystemExit(
            f"install.{args.consumer}: failed with {error.returncode}: {' '.join(error.cmd)}"
        )


if __name__ == "__main__":
    main()
