#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tools/gdb/sennit.py on a program with blocked fibers and on its core file, and checks the
output.

    check.py PROGRAM sennit.py
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77  # the exit status that ctest takes for "skipped"


def gdb(arguments, commands):
    line = [
        "gdb",
        "--batch",
        "--nx",
        "-iex",
        "set debuginfod enabled off",
        "-iex",
        "set auto-load off",
    ]
    for command in commands:
        line += ["-ex", command]
    done = subprocess.run(
        line + arguments, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL
    )
    return done.stdout + done.stderr


def expect(output, *patterns):
    for pattern in patterns:
        if not re.search(pattern, output, re.MULTILINE):
            sys.exit(f"check_gdb: nothing matches '{pattern}' in:\n{output}")


def check(output):
    expect(
        output,
        r"^fiber \S.* 'first' \[blocked in event at 0x[0-9a-f]+\] on stack \d+, made at",
        r"^fiber \S.* 'second' \[blocked in mutex at 0x[0-9a-f]+\] on stack \d+, made at",
        r"^fiber \S.* 'movable' \[blocked in event at 0x[0-9a-f]+\] on stack \d+, made at",
        r"^fiber 'to begin' \[waits to begin, or to continue after its move\] on side \d+$",
        r"^strand \S.* \[running on worker 0\] on stack \d+",
    )
    fibers = output[: output.index("---coroutines---")]
    if len(re.findall(r"^fiber", fibers, re.MULTILINE)) != 5:
        sys.exit(f"check_gdb: other than five fibers in:\n{fibers}")
    expect(
        output,
        r"^coroutine 'parser' \[suspended\] on side \d+$",
        r"^coroutine 'waits inside' \[entered\] on side \d+$",
    )
    listed = output[output.index("---coroutines---") : output.index("---tasks---")]
    if len(re.findall(r"^coroutine", listed, re.MULTILINE)) != 2:
        sys.exit(f"check_gdb: other than two coroutines in:\n{listed}")
    tasks = output[output.index("---tasks---") : output.index("---first---")]
    expect(
        tasks,
        r"^task \S.* 'session' \[blocked in channel::pop at 0x[0-9a-f]+\], "
        r"made at 0x[0-9a-f]+ \(\S.*\)\n"
        r"    #0  .*receives\(.*\n    #1  .*awaits_what_receives\(",
    )
    if len(re.findall(r"^task|^    #", tasks, re.MULTILINE)) != 3:
        sys.exit(f"check_gdb: other than one task of two functions in:\n{tasks}")
    parser = output[output.index("---parser---") : output.index("---inside---")]
    expect(
        parser,
        r"^#\d+ .*suspend",
        r"(?:^#\d+ .*yields_from_the_depth[^\n]*\n(?:[^#\n][^\n]*\n)*){4}",
    )
    inside = output[output.index("---inside---") : output.index("---all---")]
    expect(inside, r"entered by:", r"^#\d+ .*resumes_what_blocks")
    after = output[output.index("---first---") : output.index("---parser---")]
    expect(
        after,
        r"^#1 .*sennit::sched::",
        r"^#\d+ .*waits_for_the_gate",
        r"^#\d+ .*fiber_block::run_queued",
    )
    everything = output[output.index("---all---") :]
    expect(
        everything,
        r"^#\d+ .*waits_for_the_gate",
        r"^#\d+ .*mutex::lock_or_wait",
        r"^#\d+ .*stop_here|^#\d+ .*abort",
    )
    if "inner to this frame" in output:
        sys.exit(f"check_gdb: gdb did not continue to frames at lower addresses:\n{output}")
    if "Python Exception" in output:
        sys.exit(f"check_gdb: the script has failed:\n{output}")


def main():
    program, script = sys.argv[1:]
    if not shutil.which("gdb"):
        print("check_gdb: skipped, gdb is not installed")
        sys.exit(SKIPPED)
    if "True" not in gdb([], ["python import gdb.unwinder; print(True)"]):
        print("check_gdb: skipped, this gdb has no Python")
        sys.exit(SKIPPED)
    look = [
        f"source {script}",
        "sennit fibers",
        "echo ---coroutines---\\n",
        "sennit coroutines",
        "echo ---tasks---\\n",
        "sennit tasks",
        "echo ---first---\\n",
        "sennit bt first",
        "echo ---parser---\\n",
        "sennit bt parser",
        "echo ---inside---\\n",
        "sennit bt waits inside",
        "echo ---all---\\n",
        "sennit bt all",
        "echo ---end---\\n",
    ]
    live = gdb([program], ["break stop_here", "run", *look, "continue"])
    if "Breakpoint 1," not in live and re.search(r"ptrace|Could not trace|not permitted", live):
        print("check_gdb: skipped, this system does not let gdb run programs")
        sys.exit(SKIPPED)
    check(live)
    expect(live, r"exited normally")  # the script has changed nothing in the program
    with tempfile.TemporaryDirectory() as folder:
        core = str(pathlib.Path(folder) / "core")
        # The kernel leaves guards out of a core file. gdb cannot leave out a guard alone: it would
        # also leave out the stack beside it.
        gdb(
            ["--args", program, "abort"],
            ["set environment SENNIT_NO_MADV_GUARD=1", "run", f"generate-core-file {core}"],
        )
        dead = gdb([program, core], look)
        check(dead)
    print("check_gdb: a running program and a core file show their fibers")


if __name__ == "__main__":
    main()
