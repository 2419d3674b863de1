#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends a running program the signal that SENNIT_DUMP_SIGNAL names, and reads the dump.

    check.py PROGRAM

The program prints `ready` when its fibers are blocked. It ends with status 0 at the end of its
input.
"""

import os
import re
import signal
import subprocess
import sys

WANTED = [
    r"sennit: runtime 0x[0-9a-f]+, 1 workers, 6 strands: 1 running, 0 ready, 5 blocked",
    r"fiber \d+ 'first' \[blocked in event at 0x[0-9a-f]+",
    r"fiber \d+ 'second' \[blocked in mutex at 0x[0-9a-f]+",
    r"task \d+ 'session' \[blocked in channel::pop at 0x[0-9a-f]+",
]


def dump(program):
    """Asks for one dump; returns the lines up to the last line that WANTED names."""
    program.send_signal(signal.SIGUSR1)
    missing, lines = list(WANTED), []
    while missing:
        line = program.stderr.readline()
        if not line:
            sys.exit(f"dump_signal: nothing matches {missing} in:\n{''.join(lines)}")
        lines.append(line)
        missing = [wanted for wanted in missing if not re.search(wanted, line)]
    return lines


def main():
    program = subprocess.Popen(
        [sys.argv[1], "wait"],
        env={**os.environ, "SENNIT_DUMP_SIGNAL": "USR1"},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        if program.stdout.readline() != "ready\n":
            sys.exit(f"dump_signal: the program did not begin: {program.stderr.read()}")
        dump(program)
        dump(program)  # the program continues after a dump, and prints a second one
        program.stdin.close()
        if program.wait() != 0:
            sys.exit(
                f"dump_signal: the program ended with {program.returncode}: {program.stderr.read()}"
            )
    finally:
        program.kill()


if __name__ == "__main__":
    main()
