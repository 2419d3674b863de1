# SPDX-License-Identifier: Apache-2.0
"""The verbs of ./sennit, their options and their help: one argparse parser for all of them.

The parser needs the standard library alone, so that bad input ends before anything is installed.
The parser checks which options there are. The verbs check the values that need the catalogue of the
lab.
"""

import argparse
import functools
import importlib.machinery
import importlib.util
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from .declared import UsageError

ROOT = Path(__file__).resolve().parents[2]
REFUSED, USAGE = 1, 2  # exit codes: the request cannot be met; bad input

DESCRIPTION = """\
Builds, tests and measures Sennit. Every command works from any folder and asks no questions. It
writes to build/ and .venv/ only, and names the Debian packages that it installs.
"""
EPILOG = """\
examples:
  ./sennit test                           install missing packages, build, and run all tests
  ./sennit bench --quick                  a first table in under two minutes
  ./sennit run sennit fib 39 --threads 2  one run, one line of JSON
  ./sennit help bench                     all options of bench

exit status: 0 success, 1 failure, 2 bad input. lab/README.md explains the figures.
"""


class Parser(argparse.ArgumentParser):
    """Reports bad input as one line, with the command that shows the right usage."""

    def __init__(self, **options: Any) -> None:
        shape = argparse.RawDescriptionHelpFormatter
        super().__init__(allow_abbrev=False, formatter_class=shape, **options)

    def error(self, message: str) -> NoReturn:
        words = self.prog.removeprefix("./sennit").split()
        verb = " ".join(words)
        what = f"{verb}: {message}" if verb else message
        raise UsageError(f"{what}; see ./sennit {' '.join(['help', *words])}")


def script(path: str) -> ModuleType:
    """A Python script of the project, loaded as a module: its options are declared there."""
    name = re.sub(r"\W", "_", path)
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


def positive(text: str) -> float:
    """A duration that the user gives; soak and overload accept 0, which is one round."""
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        raise argparse.ArgumentTypeError(f"must be a number, not '{text}'")
    return float(text)


def count(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, not '{text}'")
    return int(text)


# --- the options of each verb ---------------------------------------------------------------------

WORKLOADS = "workloads or families, with commas between them; `all` for every workload"
THREADS = "numbers of worker threads, with commas between them (default: all cores)"
SEED = "the seed of the order of the runs (default: random)"


def _bench(parser: Parser) -> None:
    parser.usage = "./sennit bench [OPTION]...\n       ./sennit bench ACTION ..."
    parser.add_argument("--quick", action="store_true", help="small sizes, in under two minutes")
    parser.add_argument(
        "--full",
        action="store_true",
        help="every number of threads, the workload uts, and every row of the seed tables; "
        "installs all peers first",
    )
    parser.add_argument(
        "--scaling",
        action="store_true",
        help="the rows of lab/scaling.toml with 1, 2, 4 and 8 workers; writes docs/scaling.md",
    )
    parser.add_argument("--workloads", metavar="A,B", help=f"{WORKLOADS} (default: the main job)")
    parser.add_argument(
        "--runtimes", metavar="A,B", help="only these runtimes (default: every runtime found)"
    )
    parser.add_argument("--threads", metavar="N,M", help=THREADS)
    parser.add_argument(
        "--reps",
        metavar="K",
        help="samples of each cell (default: until the 95 %% interval is narrow enough)",
    )
    parser.add_argument(
        "--compiler", metavar="CXX", help="the C++ compiler (default: $CXX, or g++)"
    )
    parser.add_argument("--seed", metavar="N", help=SEED)
    parser.add_argument(
        "--time-limit",
        metavar="S",
        help="seconds for one run (default: 15; 30 with --full, 10 with --quick or --scaling)",
    )
    parser.add_argument(
        "--budget",
        metavar="MIN",
        help="minutes after which no run begins "
        "(default: 12; none with --full, 10 with --quick, 14 with --scaling)",
    )
    parser.add_argument(
        "--pin", action="store_true", help="give each run as many CPUs as it has workers"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="where the results go (default: build/results/DATE)"
    )
    parser.add_argument(
        "--quiet-log", action="store_true", help="print one line for each block, for log files"
    )
    parser.add_argument(
        "--resume",
        metavar="FOLDER",
        nargs="?",
        const=str(ROOT / "build" / "results" / "latest"),
        help="continue an interrupted run (default: the last one)",
    )
    verbs = parser.add_subparsers(
        dest="action",
        metavar="ACTION",
        title="other actions",
        help="see ./sennit help bench ACTION",
    )
    for name, (about, declare, *more) in BENCH_ACTIONS.items():
        declare(_add(verbs, "./sennit bench", name, about, *more))


def _compare(parser: Parser) -> None:
    parser.add_argument(
        "a", metavar="A", help="a results file, a build folder, or an install prefix"
    )
    parser.add_argument("b", metavar="B", help="a second one of the same kind")
    parser.add_argument("--workloads", metavar="A,B", help=f"{WORKLOADS} (default: the main job)")
    parser.add_argument("--threads", metavar="N,M", help=THREADS)
    parser.add_argument("--reps", metavar="K", help="samples of each cell")
    parser.add_argument("--seed", metavar="N", help=SEED)
    parser.add_argument(
        "--time-limit", metavar="S", default="30", help="seconds for one run (default: 30)"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes")


def _page(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="results files, or their folders")
    parser.add_argument(
        "--out",
        metavar="FILE.html",
        default="RESULTS.html",
        help="the page (default: RESULTS.html)",
    )


def _seed_tables(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", help="results files, or their folders")
    parser.add_argument(
        "--measure", metavar="FOLDER", help="measure the rows into this folder first, or continue"
    )
    parser.add_argument("--budget", metavar="MIN", help="minutes for all runs (default: 12)")
    parser.add_argument("--time-limit", metavar="S", help="seconds for one run (default: 20)")
    parser.add_argument("--reps", metavar="K", help="samples of each row (default: 6 to 7)")
    parser.add_argument(
        "--out",
        metavar="FILE",
        default=str(ROOT / "docs" / "seed-tables.md"),
        help="the document (default: docs/seed-tables.md)",
    )
    parser.add_argument("--quiet-log", action="store_true", help="print one line for each block")


def _publish(parser: Parser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="the results of one `./sennit bench`")
    parser.add_argument("--root", default=str(ROOT), help=argparse.SUPPRESS)


def _track(parser: Parser) -> None:
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        help="the results of one `./sennit bench` (default: show the newest changes again)",
    )
    parser.add_argument("--root", default=str(ROOT), help=argparse.SUPPRESS)


def _pages(parser: Parser) -> None:
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a page is out of date"
    )
    parser.add_argument("--root", default=str(ROOT), help=argparse.SUPPRESS)


def _pack(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE.tar.gz", help="the archive to write")
    parser.add_argument(
        "--compiler",
        metavar="CXX",
        help="the C++ compiler (default: $CXX, or g++); g++ builds runtimes that it lacks",
    )


def _sweep_page(parser: Parser) -> None:
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        help="the results of a sweep (default: write the page of the committed data again)",
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        default="sixteen-cores",
        help="writes docs/NAME.md and docs/results/NAME.json (default: sixteen-cores)",
    )
    parser.add_argument("--root", default=str(ROOT), help=argparse.SUPPRESS)


def _overhead(parser: Parser) -> None:
    parser.add_argument("--reps", metavar="K", default="25", help="pairs of runs (default: 25)")


def _run(parser: Parser) -> None:
    parser.add_argument("runtime", metavar="RUNTIME", help="a runtime of `./sennit list`")
    parser.add_argument("workload", metavar="WORKLOAD", help="a workload of `./sennit list`")
    parser.add_argument(
        "size", metavar="SIZE", nargs="?", help="the size (default: the workload's)"
    )
    parser.add_argument("--threads", metavar="N", help="worker threads (default: all cores)")
    parser.add_argument(
        "--compiler", metavar="CXX", help="the C++ compiler (default: $CXX, or g++)"
    )
    parser.add_argument(
        "--time-limit", metavar="S", default="30", help="seconds for the run (default: 30)"
    )


def _list(parser: Parser) -> None:
    parser.add_argument(
        "--compiler", metavar="CXX", help="the C++ compiler (default: $CXX, or g++)"
    )


def _setup(parser: Parser) -> None:
    parser.add_argument(
        "--peers",
        metavar="light|all",
        choices=("light", "all"),
        default="light",
        help="light: small libraries; all: every tool chain that has a package (default: light)",
    )


def _test(parser: Parser) -> None:
    script("tests/run").add_options(parser)


def _explore(parser: Parser) -> None:
    script("tests/sim/run").add_options(parser)


def _soak(parser: Parser) -> None:
    parser.add_argument(
        "minutes", metavar="MINUTES", nargs="?", type=positive, default=10.0, help="(default: 10)"
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=count,
        help="workers of the runtimes that last (default: 1, 2, 3 and 8 in turn)",
    )


def _overload(parser: Parser) -> None:
    parser.add_argument(
        "seconds",
        metavar="SECONDS",
        nargs="?",
        type=positive,
        default=10.0,
        help="for each mailbox policy (default: 10)",
    )


def _clean(_: Parser) -> None:
    pass


def _help(parser: Parser) -> None:
    parser.add_argument("words", metavar="VERB", nargs="*", help="the verb to explain")


# name -> (one line, options[, description[, examples]])
Verb = tuple
BENCH_ACTIONS: dict[str, Verb] = {
    "compare": (
        "compare two results files, or two builds",
        _compare,
        "Compares two results files. Given two build folders or install prefixes, it measures\n"
        "both builds in the same blocks, which gives the sharper answer.",
        "  ./sennit bench compare old/RESULTS.json new/RESULTS.json\n"
        "  ./sennit bench compare build/before build/after --workloads fib,skynet",
    ),
    "page": ("write one RESULTS.html from several results files", _page),
    "seed-tables": (
        "write docs/seed-tables.md from results",
        _seed_tables,
        "Writes the published tables with this machine's figures beside them.",
        "  ./sennit bench seed-tables --measure build/seeds",
    ),
    "publish": ("make docs/results and the README's figures from results", _publish),
    "track": (
        "append a run to docs/results/history.jsonl, and show what changed",
        _track,
        "Appends the rows of Sennit to the history, and compares them with the run before on the\n"
        "same kind of machine: as many CPUs of the same name.",
        "  ./sennit bench --out build/results/today && ./sennit bench track build/results/today",
    ),
    "pages": (
        "write a page for each workload, docs/benchmarks",
        _pages,
        "Writes docs/benchmarks from the committed results, docs/results/*.json, from the tables\n"
        "of lab/README.md, from lab/pages.toml, and from excerpts that the sources mark.",
    ),
    "pack": (
        "pack the programs for a machine without tools",
        _pack,
        "Builds Sennit's programs, their peers and the programs of lab/sweep for x86-64-v3, and\n"
        "packs them into one archive. The other machine needs bash, Python 3.11 and a glibc that\n"
        "is not older than the one here. Each peer that is not found here is named.",
        "  ./sennit bench pack build/sweep.tar.gz --compiler clang++-19\n"
        "  tar -xf sweep.tar.gz && sennit-sweep/run --budget 500 --out results",
    ),
    "sweep-page": (
        "write docs/sixteen-cores.md from the results of a pack",
        _sweep_page,
        "Reduces the results of a sweep to medians, writes them to docs/results, and writes the\n"
        "page from them.",
        "  ./sennit bench sweep-page results",
    ),
    "overhead": ("measure the overhead of the harness itself", _overhead),
}
VERBS: dict[str, Verb] = {
    "bench": (
        "measure Sennit beside every other runtime found",
        _bench,
        "Installs missing packages, builds every runtime, and runs fib, skynet, nqueens and\n"
        "matmul in each of them. It checks every answer, prints one table, and writes RESULTS.md,\n"
        ".csv, .json and .html below build/results.",
        "  ./sennit bench --quick\n"
        "  ./sennit bench --workloads fibers --runtimes sennit-fiber,go --threads 1,2\n"
        "  ./sennit bench --scaling\n"
        "  ./sennit bench --resume",
    ),
    "test": (
        "install packages, build, and run the tests",
        _test,
        "Runs every stage of the test matrix. The first failure ends the run.",
        "  ./sennit test --list\n  ./sennit test --stages release-gcc,tsan",
    ),
    "run": (
        "run one workload once and print one line of JSON",
        _run,
        "Builds the runtime, runs one workload once, and prints exactly one line of JSON. The\n"
        "exit status is 0 only if the answer is right.",
        "  ./sennit run sennit fib 39 --threads 2",
    ),
    "list": (
        "list runtimes, workloads and sizes, with the reason for each runtime that is missing",
        _list,
    ),
    "setup": ("install the Debian packages that bench needs", _setup),
    "explore": (
        "run every interleaving of the scenarios in tests/sim",
        _explore,
        "Runs each scenario of tests/sim in every interleaving within its bounds.",
        "  ./sennit explore --short\n  ./sennit explore actor mutex.a_waiter_is_woken",
    ),
    "soak": (
        "run random programs over every primitive",
        _soak,
        "Runs random programs and checks their answers, that each round leaves nothing alive, and\n"
        "that memory stays flat. It prints one line for each period.",
        "  ./sennit soak 60 --workers 2",
    ),
    "overload": (
        "send to an actor faster than it can receive",
        _overload,
        "Overloads an actor under each mailbox policy. It checks that bounds hold, that memory\n"
        "stays flat where it must, and that no accepted message is lost.",
        "  ./sennit overload 30",
    ),
    "clean": ("remove build/ and .venv/", _clean),
    "help": ("explain a verb", _help),
}


def _add(
    verbs: argparse._SubParsersAction,
    prefix: str,
    name: str,
    about: str,
    description: str = "",
    examples: str = "",
) -> Parser:
    return verbs.add_parser(
        name,
        prog=f"{prefix} {name}",
        help=about,
        description=description or f"{about[0].upper()}{about[1:]}.",
        epilog=f"examples:\n{examples}" if examples else None,
    )


def version() -> str:
    """The version of the project, which CMakeLists.txt holds."""
    found = re.search(r"^\s*VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    return found.group(1) if found else "unknown"


@functools.cache
def parser_for(verb: str | None) -> Parser:
    """The parser of all verbs. Only the given verb has its options, since some are costly to
    load.
    """
    parser = Parser(prog="./sennit", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"sennit {version()}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", parser_class=Parser)
    for name, (about, declare, *more) in VERBS.items():
        made = _add(verbs, "./sennit", name, about, *more)
        if name == verb:
            declare(made)
    return parser


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line. Raises UsageError for bad input, and SystemExit(0) after help."""
    verb = next((word for word in arguments if not word.startswith("-")), None)
    if arguments and verb == arguments[0] and verb not in VERBS:
        raise UsageError(f"there is no verb '{verb}'; see ./sennit help")
    given, unknown = parser_for(verb).parse_known_args(list(arguments))
    if unknown:
        words = [word for word in (given.verb, getattr(given, "action", None)) if word]
        place = f"{' '.join(words)}: " if words else ""
        raise UsageError(
            f"{place}unrecognized arguments: {' '.join(unknown)}; "
            f"see ./sennit {' '.join(['help', *words])}"
        )
    if given.verb == "help":
        show_help(given.words)
    if given.verb is None:
        show_help([])
    return given


def show_help(words: Sequence[str]) -> NoReturn:
    if words and words[0] not in VERBS:
        raise UsageError(f"there is no verb '{words[0]}'; see ./sennit help")
    parser_for(words[0] if words else None).parse_args([*words, "--help"])
    raise SystemExit(0)
