# SPDX-License-Identifier: Apache-2.0
"""A program that behaves like a runtime of the lab, or misbehaves. Usage: `fake_runtime.py
BEHAVIOUR WORKLOAD SIZE THREADS`.
"""

import json
import os
import signal
import subprocess
import sys
import threading

RESULT = {
    "answer": 832040,
    "seconds": 0.25,
    "cpu_seconds": 0.5,
    "tasks": 7,
    "peak_rss_kib": 1000,
}  # fib(30)
MANY_MIB = 300


def wait_for_ever():
    threading.Event().wait()


def fill_memory():
    kept = bytearray(MANY_MIB << 20)
    for page in range(0, len(kept), 4096):
        kept[page] = 1
    return kept


def main(behaviour):
    result = dict(RESULT)
    if behaviour == "hang":
        wait_for_ever()
    elif behaviour == "hang_with_child":
        child = subprocess.Popen(["sleep", "infinity"])
        print(child.pid, file=open(os.environ["FAKE_PID_FILE"], "w"), flush=True)
        wait_for_ever()
    elif behaviour == "leave_child":
        child = subprocess.Popen(["sleep", "infinity"])
        print(child.pid, file=open(os.environ["FAKE_PID_FILE"], "w"), flush=True)
    elif behaviour == "eat_memory":
        kept = fill_memory()
        wait_for_ever()
        del kept
    elif behaviour == "eat_memory_in_child":
        subprocess.run([sys.executable, __file__, "eat_memory"])
    elif behaviour == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif behaviour == "refuse":
        print("first line\nno threads left", file=sys.stderr)
        sys.exit(1)
    elif behaviour == "wrong":
        result["answer"] += 1
        print(json.dumps(result))
        sys.exit(1)
    elif behaviour == "right_but_failed":
        print(json.dumps(result))
        print("broke at the end", file=sys.stderr)
        sys.exit(1)
    elif behaviour == "silent":
        return
    elif behaviour == "two_lines":
        print("hello")
    elif behaviour == "no_json":
        print("done")
        return
    elif behaviour == "no_seconds":
        del result["seconds"]
    elif behaviour == "nan_seconds":
        result["seconds"] = float("nan")
    elif behaviour == "talk":
        sys.stderr.write("x" * (1 << 20))  # more than the buffer of a pipe
    elif behaviour == "talk_for_ever":
        while True:
            os.write(1, b"y\n" * (1 << 19))
    elif behaviour == "talk_too_much":
        os.ftruncate(1, 65 << 20)  # as large as if the program had written it
    elif behaviour == "surrogate":
        result["answer"] = "\ud800" * 1000
    else:
        assert behaviour == "good", behaviour
    print(json.dumps(result))


main(sys.argv[1])
