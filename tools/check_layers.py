#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes only go down, and that only the platform layer talks to the system.

    base <- sys <- core <- {fibers/runtime, actors/runtime, io/runtime, blocking} <- obs <- models

base includes no other layer. sys is the platform layer. The core has a folder for each concern;
the tables CORE and BACK_UP say which of these folders may include which.

A model is a folder of src/ with its public headers, which MODELS lists. A model may include base,
the core interface (include/sennit/detail/core), the headers of sys in OPEN_OF_SYS, its own folder
(such as actors and actors/runtime), and the public headers of other models, but never their
private headers. Only sys may include system headers and contain assembly.

EXCEPTIONS lists the present violations of these rules, file by file. An exception that is no
longer needed is a finding, so the list only gets shorter. `--exceptions` prints the list that the
present tree needs.
"""

import pathlib
import re
import sys

import policy

RANK = {
    "base": 0,
    "sys": 1,
    "core": 2,
    "fibers/runtime": 3,
    "actors/runtime": 3,
    "blocking": 3,
    "io/runtime": 3,
    "obs": 4,
}
MODEL = 5

# Public headers, and headers of the core interface, whose layer is not that of their folder.
OWNERS = {
    "include/sennit/scheduling.hpp": "core",
    "include/sennit/runtime_options.hpp": "core",
    "include/sennit/detail/core/fiber_block.hpp": "fibers/runtime",
    "include/sennit/detail/core/message_node.hpp": "actors/runtime",
    "include/sennit/detail/core/blocking.hpp": "blocking",
    "include/sennit/detail/core/event_hook.hpp": "io/runtime",
}
# The headers of the platform layer that models may include.
OPEN_OF_SYS = {"atfork", "biased_word", "single_threaded", "spin_lock"}

# Each model with its public headers and folders of headers. The sources of a model, if it has any,
# are the folder of src/ with its name.
MODELS = {
    "actors": "actor catcher receiver",
    "bounded": "as_completed backoff counter lease_pool map_concurrent race rate_limiter retry"
    " single_flight ticker",
    "channel": "broadcast channel on_lock on_ready select waituntil watch",
    "coroutine": "coroutine generator stackful_generator",
    "fibers": "active async blocking checkpoint checkpoints fiber fiber_local nursery this_fiber"
    " with_timeout",
    "fork_join": "fork_each fork_join fork_reduce scope",
    "future": "exception_list future packaged_task promise when",
    "io": "io",
    "monitor": "monitor monitored",
    "par": "par",
    "runtime": "cancelled runtime sennit",
    "task": "async_all async_any async_for_each async_fork_each async_fork_join async_generator"
    " async_select async_sleep async_with_timeout block_on task",
    "sync": "barrier condition_variable event latch mutex once semaphore shared_mutex",
}
MODEL_OF = {header: model for model, headers in MODELS.items() for header in headers.split()}

# The folders of the core that each folder of the core may include, in an order in which includes
# go down. Every folder may also include itself and the core interface.
CORE = {
    "core/policy": set(),
    "core/queues": {"core/policy"},
    "core/switch": {"core/policy"},
    "core/memory": {"core/policy", "core/switch"},
    "core/idle": {"core/policy"},
    "core/diagnostics": set(),
    "core/spare": {"core/policy"},
    "core/worker": {
        "core/policy",
        "core/queues",
        "core/switch",
        "core/memory",
        "core/idle",
        "core/spare",
        "core/diagnostics",
    },
    "core/runtime": {
        "core/queues",
        "core/switch",
        "core/memory",
        "core/idle",
        "core/diagnostics",
        "core/spare",
        "core/worker",
    },
    "core/fork": {"core/policy", "core/switch", "core/diagnostics", "core/worker", "core/runtime"},
    "core/wait": {"core/switch", "core/diagnostics", "core/worker", "core/runtime"},
    "core/task": {"core/diagnostics", "core/runtime", "core/wait", "core/worker"},
}
# Includes that go back up. They put these folders in a cycle: the classes `worker` and
# `runtime_core` hold a part of each folder by value, and the sources of these folders define
# members of the two classes, or reach other parts through them. An unused entry is a finding.
BACK_UP = {
    "core/switch": {
        "core/diagnostics",
        "core/worker",
        "core/runtime",
    },  # switching.hpp: the worker's half of a switch
    "core/memory": {"core/worker"},  # a slab cache belongs to a worker
    "core/idle": {
        "core/diagnostics",
        "core/spare",
        "core/worker",
        "core/runtime",
    },  # idle_search.cpp: a part of worker
    "core/diagnostics": {"core/spare", "core/runtime"},  # the snapshots walk all runtimes
    "core/spare": {
        "core/worker",
        "core/runtime",
    },  # spare_worker.cpp: members of runtime_core
    "core/worker": {"core/runtime"},  # a worker reaches the other workers through its runtime
}

# begin: exceptions, made by `check_layers.py --exceptions`; the list must only get shorter
EXCEPTIONS = {
    # The core names fibers, mailboxes and the blocking pool.
    "src/core/diagnostics/debug_layout.cpp": {
        "include/sennit/detail/core/fiber_block.hpp",
    },
    "src/core/diagnostics/held_mutex.cpp": {
        "include/sennit/detail/core/fiber_block.hpp",
    },
    "src/core/diagnostics/snapshot.cpp": {
        "include/sennit/detail/core/fiber_block.hpp",
    },
    "src/core/queues/lifo_slot.hpp": {
        "include/sennit/detail/core/message_node.hpp",
    },
    "src/core/runtime/runtime_core.cpp": {
        "include/sennit/detail/core/fiber_block.hpp",
    },
    "src/core/runtime/runtime_core.hpp": {
        "src/blocking/blocking_pool.hpp",
    },
    "src/core/runtime/scheduling.cpp": {
        "include/sennit/detail/core/fiber_block.hpp",
    },
    "src/core/switch/strand.cpp": {
        "include/sennit/detail/core/fiber_block.hpp",
    },
    # Models that reach below the core interface.
    "src/actors/actor_group.cpp": {
        "src/core/runtime/runtime_core.hpp",
        "src/core/worker/worker.hpp",
    },
    "src/actors/actor_metrics.cpp": {
        "src/core/runtime/runtime_core.hpp",
    },
    "src/actors/actor_ref.cpp": {
        "src/core/worker/worker.hpp",
    },
    "src/actors/dead_letter.cpp": {
        "src/core/worker/worker.hpp",
    },
    "src/channel/channel.cpp": {
        "src/core/wait/wait_here.hpp",
    },
    "src/fibers/fiber.cpp": {
        "src/core/worker/worker.hpp",
    },
    "src/fork_join/fork_join.cpp": {
        "src/core/worker/worker.hpp",
    },
    "src/fork_join/scope.cpp": {
        "src/core/switch/context.hpp",
    },
    "src/monitor/core.cpp": {
        "src/core/wait/wait_here.hpp",
    },
    "src/monitor/wait_behind.hpp": {
        "src/core/wait/wait_here.hpp",
    },
    "src/runtime/runtime.cpp": {
        "src/core/runtime/fork_safe_static.hpp",
        "src/core/runtime/runtime_core.hpp",
        "src/obs/start.hpp",
    },
    "src/sync/mutex.cpp": {
        "src/core/policy/tuning.hpp",
    },
}
# end: exceptions
SYSTEM_HEADER = re.compile(
    r"(sys|linux|asm|arpa|netinet|net|bits)/.*\.h|"
    r"(pthread|unistd|sched|signal|fcntl|poll|ucontext|dlfcn|semaphore|dirent|spawn|syscall|link|"
    r"elf|execinfo|cpuid|immintrin|x86intrin|arm_acle|numa|hwloc)\.h|csignal|thread"
)
# This header's assembly contains no instruction; programs of users compile it, too.
MAY_HOLD_ASSEMBLY = {"include/sennit/detail/base/no_store_merge.hpp"}
ASSEMBLY = re.compile(r"\b(asm|__asm__|__asm)\b\s*(volatile|__volatile__|goto|inline|\()")


def place(path):
    """The folder of a path, in the sense of the tables: base, sys, core, core/idle,
    fibers/runtime, obs, or a model.
    """
    if path in OWNERS:
        return OWNERS[path]
    parts = pathlib.PurePosixPath(path).parts
    inner = parts[2:] if parts[:2] == ("include", "sennit") else parts[1:]
    if inner[0] == "detail" and len(inner) > 2:
        return inner[1]
    if parts[0] == "src" and inner[0] == "core" and len(inner) > 2:
        return "/".join(inner[:2])
    if parts[0] == "src" and "/".join(inner[:2]) in RANK:
        return "/".join(inner[:2])
    if inner[0] in RANK or parts[0] == "src":
        return pathlib.PurePosixPath(inner[0]).stem
    name = pathlib.PurePosixPath(inner[0]).stem
    return MODEL_OF.get(name, name)


def layer(where):
    return RANK.get("core" if where.startswith("core/") else where, MODEL)


def internal(path):
    """True if a path of a model is private to the model."""
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


def objection(path, used):
    """The rule that the include of `used` in the file `path` breaks, or None."""
    user, uses = place(path), place(used)
    if path.startswith("include/") and used.startswith("src/"):
        return "a public header includes a private one"
    if layer(uses) > layer(user):
        return f"{user} must not include {uses}"
    if layer(user) == MODEL:
        if uses == "sys" and (
            used.startswith("src/") or pathlib.PurePosixPath(used).stem not in OPEN_OF_SYS
        ):
            return f"{user}, a model, must not include {uses}"
        if layer(uses) in (2, 3, 4) and used.startswith("src/") and not uses.startswith(f"{user}/"):
            return f"{user}, a model, must not include {uses}: only the core interface"
        if layer(uses) == MODEL and internal(used) and uses != user:
            return f"the inside of {uses} is not for {user}"
    elif layer(user) == layer(uses) == 3 and uses != user:
        return f"{user} must not include {uses}"
    elif (
        user.startswith("core/")
        and uses.startswith("core/")
        and uses not in {user, *CORE.get(user, ()), *BACK_UP.get(user, ())}
    ):
        return f"{user} must not include {uses}"
    return None


def excused(path, used):
    return used in EXCEPTIONS.get(path, ())


def includes_of(root, path):
    for line, name, quoted in policy.includes((root / path).read_text()):
        yield line, name, quoted, target(root, path, name, quoted)


def check_file(root, path):
    is_sys = place(path) == "sys"
    met = set()
    for line, name, quoted, used in includes_of(root, path):
        if used is None:
            if quoted or name.startswith("sennit/"):
                yield f"{path}:{line}: <{name}> does not exist"
            elif not is_sys and SYSTEM_HEADER.fullmatch(name):
                yield f"{path}:{line}: <{name}> is for sys alone"
            continue
        wrong = objection(path, used)
        if wrong and excused(path, used):
            met.add(used)
        elif wrong:
            yield f"{path}:{line}: {wrong} ({name})"
    for used in EXCEPTIONS.get(path, ()):
        if used not in met:
            yield f"{path}: needs no exception for {used} any more: take it out of EXCEPTIONS"
    if not is_sys and path not in MAY_HOLD_ASSEMBLY:
        for line, code in enumerate(
            policy.without_comments((root / path).read_text()).splitlines(), 1
        ):
            if ASSEMBLY.search(code):
                yield f"{path}:{line}: assembly is for sys alone"


def check(root):
    paths = [path.relative_to(root).as_posix() for path in policy.files(root, "include", "src")]
    findings = [finding for path in paths for finding in check_file(root, path)]
    findings += stale(root, paths)
    return findings, len(paths)


def stale(root, paths):
    """Findings for entries of the tables that no include needs. The tree of a test has none."""
    if not (root / "src/core/README.md").is_file():
        return
    for path in EXCEPTIONS:
        if path not in paths:
            yield f"{path}: has an exception but is not there"
    arrows = {
        (place(path), place(used))
        for path in paths
        for _, _, _, used in includes_of(root, path)
        if used
    }
    for user, up in BACK_UP.items():
        for uses in sorted(up):
            if (user, uses) not in arrows:
                yield (
                    f"tools/check_layers.py: nothing in {user} includes {uses} any more:"
                    " take it out of BACK_UP"
                )


def table(root):
    """The exceptions that the tree needs, as the text of the dictionary."""
    needed = {}
    for path in (
        path.relative_to(root).as_posix() for path in policy.files(root, "include", "src")
    ):
        wrong = sorted(
            {used for _, _, _, used in includes_of(root, path) if used and objection(path, used)}
        )
        if wrong:
            needed[path] = wrong
    kinds = (
        (
            "The core names fibers, mailboxes and the blocking pool",
            lambda path: layer(place(path)) == 2,
        ),
        ("Runnables of one kind name those of another kind", lambda path: layer(place(path)) == 3),
        ("Observation", lambda path: layer(place(path)) == 4),
        ("Models that reach below the core interface", lambda path: layer(place(path)) == MODEL),
        ("The platform layer and base", lambda path: layer(place(path)) < 2),
    )
    lines = ["EXCEPTIONS = {"]
    for about, belongs in kinds:
        paths = [path for path in needed if belongs(path)]
        lines += [f"    # {about}."] if paths else []
        for path in paths:
            lines.append(f'    "{path}": {{')
            lines += [f'        "{used}",' for used in needed[path]]
            lines.append("    },")
    return "\n".join(lines + ["}"])


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--exceptions"]
    where = pathlib.Path(arguments[0]) if arguments else policy.ROOT
    if "--exceptions" in sys.argv:
        print(table(where))
    else:
        policy.finish("check_layers", *check(where))
