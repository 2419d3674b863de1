# SPDX-License-Identifier: Apache-2.0
"""`bench compare A B`: two results files, or two builds of Sennit measured against each other in
the same blocks.
"""

import hashlib
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from .bench import LEAST, MOST_PER_LEAST, PRECISION, Cell, Plan, Run, jobs_for, run_plan
from .build import OUT, ROOT, NotInstalled, default_compiler
from .catalogue import RUNTIMES
from .document import load, restore
from .options import FEWEST
from .parser import REFUSED
from .stats import Comparison, compare, compare_medians
from .table import aligned, four_digits

Pair = tuple[Cell, Cell, Comparison]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(sennit_compare CXX)
find_package(sennit REQUIRED PATHS "{prefix}" NO_DEFAULT_PATH)
add_subdirectory("{lab}" lab)
"""


class Builds:
    """Stands in for a Builder. `sennit@a` is the program of the first folder, `sennit@b` that of
    the second."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = dict(zip("ab", folders))

    def command(self, name: str) -> list[str]:
        runtime, _, build = name.partition("@")
        return [str(programs(self.folders[build], runtime) / f"lab-{runtime}")]

    def client(self, name: str) -> list[str]:
        """That of the first folder, for both builds."""
        return [str(programs(self.folders["a"], f"client-{name}") / f"lab-client-{name}")]


def programs(folder: Path, runtime: str) -> Path:
    """Where the lab's programs of a build folder lie, or those built for an installed Sennit.
    Raises NotInstalled.
    """
    for place in (folder / "lab", folder):
        if (place / f"lab-{runtime}").is_file():
            return place
    if not next(folder.glob("lib*/**/cmake/sennit/sennitConfig.cmake"), None):
        raise NotInstalled(f"{folder} holds neither lab-{runtime} nor an installed Sennit")
    return _built_for(folder, runtime)


def _built_for(prefix: Path, runtime: str) -> Path:
    place = OUT / "compare" / hashlib.sha256(str(prefix).encode()).hexdigest()[:12]
    (place / "source").mkdir(parents=True, exist_ok=True)
    (place / "source" / "CMakeLists.txt").write_text(
        PROJECT.format(prefix=prefix, lab=ROOT / "lab")
    )
    print(f"building lab-{runtime} for {prefix}", file=sys.stderr)
    log = place / f"{runtime}.log"
    with open(log, "wb") as out:
        for command in (
            [
                "cmake",
                "-S",
                str(place / "source"),
                "-B",
                str(place),
                "-DCMAKE_BUILD_TYPE=Release",
                f"-DCMAKE_CXX_COMPILER={default_compiler()}",
            ],
            ["cmake", "--build", str(place), "--target", f"lab-{runtime}"],
        ):
            try:
                if (
                    subprocess.run(
                        command, stdout=out, stderr=out, stdin=subprocess.DEVNULL
                    ).returncode
                    != 0
                ):
                    raise NotInstalled(f"does not build, see {log}")
            except FileNotFoundError:
                raise NotInstalled(f"{command[0]} is not installed") from None
    return place / "lab"


def open_files(given: Namespace) -> None:
    """Reads the results files, where it is two of them. Raises UsageError."""
    if given.files[0]:
        given.runs = [restore(load(place))[0] for place in (given.a, given.b)]


def pairs_of_files(first: Run, second: Run) -> Iterator[Pair]:
    """Cells of the same name in both, and their comparison. The files were made at different
    times: nothing is paired.
    """
    others = {
        (cell.runtime, cell.workload, cell.size, cell.threads): cell
        for cell in second.cells
        if cell.good
    }
    for cell in filter(lambda cell: cell.good, first.cells):
        other = others.get((cell.runtime, cell.workload, cell.size, cell.threads))
        if other:
            yield cell, other, compare_medians(other.seconds(), cell.seconds())


def measure(given: Namespace) -> Run:
    """A run of both builds, in the same blocks."""
    ours = {
        workload: next(
            one.name
            for one in RUNTIMES.values()
            if one.ours and not one.program and workload in one.offers
        )
        for workload in given.workloads
    }
    plan = Plan(
        list(dict.fromkeys(ours.values())),
        list(jobs_for(given.workloads, given.quick, False)),
        given.threads,
        given.reps,
        given.seed,
        given.time_limit,
        least=LEAST,
        most=LEAST * MOST_PER_LEAST,
        precision=PRECISION,
    )
    cells = [
        Cell(f"{ours[workload]}@{build}", workload, size, threads)
        for workload, size in plan.jobs
        for threads in plan.threads
        for build in "ab"
    ]
    run = Run(cells)
    run_plan(plan, Builds([Path(given.a).resolve(), Path(given.b).resolve()]), run)
    return run


def pairs_of_builds(run: Run) -> Iterator[Pair]:
    for first, second in zip(run.cells[::2], run.cells[1::2]):
        if first.good and second.good and (found := compare(second.by_block(), first.by_block())):
            yield first, second, found


def verdict(found: Comparison) -> str:
    """In words; the ratio is time of B ÷ time of A."""
    if found.interval is None:
        return f"fewer than {FEWEST} samples cannot tell"
    if found.same:
        return "no difference shown"
    return f"B is {abs(1 - found.ratio):.1%} {'faster' if found.ratio < 1 else 'slower'}"


def rows(pairs: list[Pair]) -> Iterator[list[str]]:
    yield ["runtime", "workload", "A, s", "B, s", "B ÷ A", "95 % interval", ""]
    for first, second, found in pairs:
        seconds_of = [four_digits(median(cell.seconds())) for cell in (first, second)]
        label = first.label.replace(" of a,", ",")
        interval = "{:.3f} to {:.3f}".format(*found.interval) if found.interval else "–"
        yield [label, first.title, *seconds_of, f"{found.ratio:.3f}", interval, verdict(found)]


def act(given: Namespace) -> int:
    if given.files[0]:
        pairs = list(pairs_of_files(*given.runs))
        missing = []
    else:
        run = measure(given)
        pairs = list(pairs_of_builds(run))
        missing = [
            f"{cell.label}: {cell.title}: {cell.reason}" for cell in run.cells if cell.reason
        ]
    print(f"A: {given.a}\nB: {given.b}\n")
    if pairs:
        print("\n".join(aligned(list(rows(pairs)))))
        how = (
            "the ratio of the medians; for a sharper answer measure both builds together"
            if given.files[0]
            else "the ratio within blocks"
        )
        print(
            f"\n{how}; 'no difference shown' where its 95 % interval holds 1, "
            f"which takes {FEWEST} samples of both"
        )
    for line in dict.fromkeys(missing):
        print(line)
    if not pairs:
        print("sennit: A and B have no result in common", file=sys.stderr)
        return REFUSED
    return 0
