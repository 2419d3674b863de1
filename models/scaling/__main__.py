# SPDX-License-Identifier: Apache-2.0
"""Simulates workers that search, park and wake each other, and compares that with measurements.

  python3 models/scaling --write   writes docs/internals/scaling.md, in about a minute
  python3 models/scaling --check   exits with 1 if --write would change the page
  python3 models/scaling --run WORKLOAD POLICY WORKERS [--machine two|sixteen] [--processors N]
                                   prints the figures of one run; WORKLOAD is phases or
                                   little_parallelism
"""

import argparse
import difflib
import sys

import machine
import page
import policies
import workloads


def run_one(name, policy_name, workers, machine_name, processors):
    policy = {policy.name: policy for policy in policies.ALL}[policy_name]
    costs = machine.load(machine_name, processors)
    if name == "phases":
        result = workloads.phases(costs, policy, workers, 1000.0, 100.0, 20)
    else:
        result = workloads.little_parallelism(costs, policy, workers, 1, 50.0, 500)
    figures = {"us": result.us, **result.counts}
    print(" ".join(f"{key}={page.figure(value)}" for key, value in figures.items()))


def check():
    """The exit status: 0 if the page is up to date."""
    have = page.PAGE.read_text(encoding="utf-8") if page.PAGE.exists() else ""
    want = page.text()
    if have == want:
        return 0
    difference = difflib.unified_diff(
        have.splitlines(), want.splitlines(), "docs/internals/scaling.md", "the model", lineterm=""
    )
    print("\n".join(list(difference)[:40]))
    print(
        "models/scaling: docs/internals/scaling.md differs from the result of the model; run "
        "`python3 models/scaling --write`"
    )
    return 1


def main():
    parser = argparse.ArgumentParser(
        prog="models/scaling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    what.add_argument("--run", nargs=3, metavar=("WORKLOAD", "POLICY", "WORKERS"))
    parser.add_argument("--machine", default="sixteen", choices=("two", "sixteen"))
    parser.add_argument("--processors", type=int)
    given = parser.parse_args()
    if given.check:
        return check()
    if given.write:
        page.PAGE.write_text(page.text(), encoding="utf-8")
        return 0
    workload, policy, workers = given.run
    if workload not in ("phases", "little_parallelism"):
        parser.error(f"unknown workload {workload}; use phases or little_parallelism")
    if policy not in (one.name for one in policies.ALL):
        parser.error(
            f"unknown policy {policy}; use " + ", ".join(one.name for one in policies.ALL)
        )
    if not workers.isdigit() or int(workers) < 1:
        parser.error(f"WORKERS is {workers}; give a number from 1")
    processors = given.processors
    if processors is None and given.machine == "sixteen":
        processors = int(workers)
    run_one(workload, policy, int(workers), given.machine, processors)
    return 0


if __name__ == "__main__":
    sys.exit(main())
