#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes only go down: base <- sys <- sched <- obs <- features, and that only sys talks to the system.

base knows nothing; sys (the platform layer) knows base; sched (core interface and engine) knows both; obs (what looks inside) knows all three; a feature knows sched, base and the
public headers of other features, never their internals. System headers and assembly are for sys alone.
A feature is a header `include/sennit/<feature>.hpp`; its internals lie in `include/sennit/<feature>/`,
`include/sennit/detail/<feature>*.hpp` and `src/<feature>/`.
"""
import pathlib
import re
import sys

import policy

# Which layers each layer may include.
MAY_INCLUDE = {
    "base": {"base"},
    "sys": {"base", "sys"},
    "sched": {"base", "sys", "sched"},
    "obs": {"base", "sys", "sched", "obs"},
    "feature": {"base", "sched", "obs", "feature"},
}
SYSTEM_HEADER = re.compile(
    r"(sys|linux|asm|arpa|netinet|net|bits)/.*\.h|"
    r"(pthread|unistd|sched|signal|fcntl|poll|ucontext|dlfcn|semaphore|dirent|spawn|syscall|link|elf|execinfo|cpuid|"
    r"immintrin|x86intrin|arm_acle|numa|hwloc)\.h|csignal|thread")
MAY_HOLD_ASSEMBLY = {"include/sennit/base/company.hpp",  # reaches its thread-local: what every spin lock asks
                     "include/sennit/base/apart.hpp"}  # no instruction, for programs of users
ASSEMBLY = re.compile(r"\b(asm|__asm__|__asm)\b\s*(volatile|__volatile__|goto|inline|\()")


def place(path):
    """(layer, feature) of a path such as include/sennit/sched/waiter.hpp; the feature is None outside the features."""
    parts = pathlib.PurePosixPath(path).parts
    inner = parts[2:] if parts[:2] == ("include", "sennit") else parts[1:]
    if inner[0] in ("base", "sys", "sched", "obs"):
        return inner[0], None
    if inner[0] == "detail" and len(inner) > 1:
        return "feature", pathlib.PurePosixPath(inner[1]).stem
    return "feature", pathlib.PurePosixPath(inner[0]).stem


def internal(path):
    """Whether a path belongs to the inside of its feature."""
    return path.startswith("src/") or path.count("/") > 2


def target(root, path, name, quoted):
    """The path inside the project that an include names, or None for a header from elsewhere."""
    candidates = [f"include/{name}", f"src/{name}"]
    if quoted:
        candidates.insert(0, str(pathlib.PurePosixPath(path).parent / name))
    for candidate in candidates:
        if (root / candidate).is_file():
            return (root / candidate).resolve().relative_to(root.resolve()).as_posix()
    return None


def same_feature(user, used):
    """Whether internals named `used` belong to the feature `user`: fork_join may use detail/fork_join_record.hpp."""
    return user == used or used.startswith(user + "_") or user.startswith(used + "_")


def check_file(root, path):
    text = (root / path).read_text()
    layer, feature = place(path)
    for line, name, quoted in policy.includes(text):
        used = target(root, path, name, quoted)
        if used is None:
            if quoted or name.startswith("sennit/"):
                yield f"{path}:{line}: <{name}> does not exist"
            elif layer != "sys" and SYSTEM_HEADER.fullmatch(name):
                yield f"{path}:{line}: <{name}> is for sys alone"
            continue
        used_layer, used_feature = place(used)
        if used_layer not in MAY_INCLUDE[layer]:
            yield f"{path}:{line}: {layer} must not include {used_layer} ({name})"
        elif used_layer == "feature" and internal(used) and not same_feature(feature, used_feature):
            yield f"{path}:{line}: the inside of {used_feature} is not for {feature} ({name})"
        elif path.startswith("include/") and used.startswith("src/"):
            yield f"{path}:{line}: a public header includes a private one ({name})"
    if layer != "sys" and path not in MAY_HOLD_ASSEMBLY:
        for line, code in enumerate(policy.without_comments(text).splitlines(), 1):
            if ASSEMBLY.search(code):
                yield f"{path}:{line}: assembly is for sys alone"


def check(root):
    paths = [path.relative_to(root).as_posix() for path in policy.files(root, "include", "src")]
    return [finding for path in paths for finding in check_file(root, path)], len(paths)


if __name__ == "__main__":
    policy.finish("check_layers", *check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else policy.ROOT))
