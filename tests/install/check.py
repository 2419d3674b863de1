#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs one consumer of sennit, the way its user would; fails with the first command that fails.

    prefix            installs the finished build and moves the tree, since a package must not know where it lies
    find_package      a CMake project that finds the installed package
    pkg_config        a Makefile that asks pkg-config
    add_subdirectory  a CMake project that has sennit's source tree inside its own, with link-time optimisation
    shared            builds and installs the shared library; then the find_package project on top of it
"""
import argparse
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def command(*words, **environment):
    words = [str(word) for word in words]
    print("+", *words, flush=True)
    subprocess.run(words, check=True, env={**os.environ, **environment})


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return folder


class Check:
    def __init__(self, args):
        self.args = args
        self.prefix = args.into / "prefix"
        self.configure = [args.cmake, "-G", args.generator, f"-DCMAKE_CXX_COMPILER={args.compiler}",
                          "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=16"]

    def library_folder(self, prefix):
        """Where the libraries of an installed tree lie: lib, lib64 or lib/<triplet>."""
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

    def check_find_package(self):
        self.cmake_project("find_package", self.args.into / "find_package", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def check_pkg_config(self):
        folder = fresh(self.args.into / "pkg_config")
        packages = self.library_folder(self.prefix) / "pkgconfig"
        command("make", "-C", HERE / "pkg_config", f"OUT={folder}", f"CXX={self.args.compiler}",
                PKG_CONFIG_PATH=str(packages))
        command(folder / "consumer")

    def check_add_subdirectory(self):
        self.cmake_project("add_subdirectory", self.args.into / "add_subdirectory", f"-DSENNIT={self.args.source}",
                           "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON")

    def check_shared(self):
        build, prefix = self.args.into / "shared-build", fresh(self.args.into / "shared-prefix")
        command(*self.configure, "-S", self.args.source, "-B", fresh(build), "-DBUILD_SHARED_LIBS=ON",
                "-DSENNIT_BUILD_TESTS=OFF", "-DSENNIT_BUILD_LAB=OFF")
        command(self.args.cmake, "--build", build)
        command(self.args.cmake, "--install", build, "--prefix", prefix)
        if not (self.library_folder(prefix) / "libsennit.so").exists():
            raise SystemExit("no libsennit.so was installed")
        self.cmake_project("find_package", self.args.into / "shared", f"-DCMAKE_PREFIX_PATH={prefix}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("consumer", choices=[name[6:] for name in vars(Check) if name.startswith("check_")])
    for option in ("cmake", "generator", "compiler"):
        parser.add_argument(f"--{option}", required=True)
    for option in ("source", "build", "into"):
        parser.add_argument(f"--{option}", required=True, type=pathlib.Path)
    args = parser.parse_args()
    try:
        getattr(Check(args), f"check_{args.consumer}")()
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"install.{args.consumer}: failed with {error.returncode}: {' '.join(error.cmd)}")


if __name__ == "__main__":
    main()
