# SPDX-License-Identifier: Apache-2.0
"""`bench publish FOLDER`: writes the committed set of results, docs/results/, the table and the
picture of the README, and docs/seed-tables.md if the results hold its rows. The set names no folder
of the machine."""

import json
import re
from collections.abc import Sequence
from argparse import Namespace
from pathlib import Path
from statistics import median

from . import guards, picture, report
from .bench import Cell
from .catalogue import MAIN_JOB, UsageError
from .document import load, restore, save, write_whole
from .say import warn
from .seed_measure import ROWS
from .seed_tables import markdown
from .footnotes import footnote
from .marks import marked, version
from .table import SAME_MARK, Results, four_digits, standing, standings
from .templates import wrapped

MOST_BYTES = 400_000  # of the set
BEGIN, END = "<!-- figures: begin, written by ./sennit bench publish -->", "<!-- figures: end -->"
FOLDERS = re.compile(r"(?<![\w.:/])/(?:[\w.+@-]+/)+([\w.+@-]*)")  # /a/b/c, of which c is kept
EACH = {
    "skynet-channel": "a fiber",
    "thread-ring": "a hop",
    "parallel-thread-ring": "a hop",
    "ring-work": "a hop",
    "skynet-actor": "an actor",
}
PEERS_SHOWN = 3


def _without_places(value: object) -> object:
    """Six digits of numbers, which no clock exceeds; no folders in texts."""
    if isinstance(value, dict):
        return {key: _without_places(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_places(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return FOLDERS.sub(r"\1", value) if isinstance(value, str) else value


def _shown(results: Results, cell: Cell | None) -> str:
    figures = results.figures(cell) if cell else None
    return marked(four_digits(figures.seconds), cell) if cell and figures else "–"


def _of(results: Results, runtime: str, title: str, threads: int) -> Cell | None:
    return next(
        (
            cell
            for cell in results.cells
            if cell.good and (cell.runtime, cell.title, cell.threads) == (runtime, title, threads)
        ),
        None,
    )


def _workers(count: int) -> str:
    return f"{count} worker" + "s" * (count != 1)


def _ratio(cell: Cell | None, peer: Cell | None) -> str:
    """The ratio to the peer, with the mark of RESULTS.md: = no difference shown, ? too few samples
    for a verdict."""
    return standing(cell, peer).shown if cell and peer else "–"


def _peer(cell: Cell, about: dict) -> str:
    """A peer and the version of it that ran."""
    recorded = str(about.get(f"version of {cell.runtime}", ""))
    recorded = recorded.partition(",")[0].partition(" (")[0].split(" ")[-1]
    return f"{cell.title_of_runtime} {recorded.removeprefix('go')}".strip()


def _beside(figure: str, cell: Cell, most: int, about: dict) -> str:
    """The figure of a peer, its version, its workers where they are not `most`, and its marks."""
    workers = f", {_workers(cell.threads)}" if cell.threads != most else ""
    return marked(f"{figure} {_peer(cell, about)}{workers}", cell)


def _forks(results: Results, most: int, about: dict) -> list[list[str]]:
    """Rows for the main job: the floor, Sennit, the best peer at any number of workers."""
    rows = [
        [
            "s",
            "plain function",
            "Sennit, 1 worker",
            f"Sennit, {_workers(most)}",
            "fastest peer",
            "÷ peer",
        ]
    ]
    ours = [
        cell
        for cell in results.cells
        if cell.workload in MAIN_JOB and cell.runtime == "sennit" and cell.good
    ]
    for title in dict.fromkeys(
        cell.title for cell in sorted(ours, key=lambda cell: MAIN_JOB.index(cell.workload))
    ):
        best = results.best_peer(title)
        cells = [
            _of(results, "serial", title, 1),
            _of(results, "sennit", title, 1),
            _of(results, "sennit", title, most),
        ]
        rows.append(
            [
                title,
                *(_shown(results, cell) for cell in cells),
                _beside(four_digits(median(best.seconds())), best, most, about) if best else "–",
                _ratio(cells[2], best),
            ]
        )
    return rows


def _cost(cell: Cell) -> float:
    """Nanoseconds an operation."""
    return median(cell.seconds()) / int(cell.size) * 1e9


def _operations(results: Results, most: int, about: dict) -> list[list[str]]:
    """Rows for fibers and actors: nanoseconds an operation of Sennit, and of the fastest peers at
    any number of workers, at the largest size that both have. Variants of Sennit's program, such as
    another allocator, do not count."""
    rows = [
        [
            "ns",
            "Sennit, 1 worker",
            f"Sennit, {_workers(most)}",
            "÷ peer",
            *["", "peers, the fastest first", ""][:PEERS_SHOWN],
        ]
    ]
    for workload in EACH:
        cells = [cell for cell in results.cells if cell.workload == workload and cell.good]
        for size in sorted({int(cell.size) for cell in cells}, reverse=True):
            of_size = sorted((cell for cell in cells if int(cell.size) == size), key=_cost)
            ours = {
                cell.threads: cell
                for cell in reversed(of_size)
                if cell.kind.ours and not cell.kind.program
            }
            peers: dict[str, Cell] = {}
            for cell in of_size:
                if not cell.kind.ours:
                    peers.setdefault(cell.runtime, cell)
            if most in ours and peers:
                shown = [
                    _beside(f"{_cost(cell):,.0f}", cell, most, about)
                    for cell in list(peers.values())[:PEERS_SHOWN]
                ]
                one = ours.get(1)
                rows.append(
                    [
                        f"{workload}, {size:,}: {EACH[workload]}",
                        marked(f"{_cost(one):,.0f}", one) if one else "–",
                        marked(f"{_cost(ours[most]):,.0f}", ours[most]),
                        _ratio(ours[most], next(iter(peers.values()))),
                        *shown,
                        *[""] * (PEERS_SHOWN - len(shown)),
                    ]
                )
                break
    return rows


def _table(rows: list[list[str]]) -> str:
    head, *rest = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|---|" + "--:|" * (len(rows[0]) - 1), *rest]) + "\n" if rest else ""


def _standing(results: Results) -> str:
    """The sentences that say in which workloads Sennit is behind the fastest peer."""
    found = standings(results)
    losses = [f"{one.ours.title} {one.shown}" for one in found if one.ratio > 1 and not one.same]
    draws = [f"{one.ours.title} {one.shown}" for one in found if one.same]
    draws += [
        f"{one.ours.title} {one.shown}" for one in found if one.same is None and one.ratio <= 1
    ]
    alone = {cell.workload for cell in results.cells if cell.good and cell.kind.ours}
    missing = [cell.workload for cell in results.cells if cell.good and cell.workload not in alone]
    behind = ", ".join(losses) or f"none of the {len(found)} workloads that Sennit and a peer have"
    return (
        f"In this run, behind in: {behind}. No difference, or no verdict: "
        f"{', '.join(draws) or 'none'}. "
        + (f"No row of Sennit in: {', '.join(dict.fromkeys(missing))}. " if missing else "")
        + "In other measurements peers are ahead: "
        "[performance.md](docs/performance.md#workloads-in-which-peers-are-ahead). "
        "[RESULTS.md](docs/results/RESULTS.md#behind) has each row of Sennit that is behind."
    )


def _without_version(results: Results, about: dict) -> str:
    names = {
        cell.title_of_runtime
        for cell in results.cells
        if cell.good and version(cell.runtime, about) is None
    }
    return f" No version was recorded of {', '.join(sorted(names))}." if names else ""


def figures(results: Results, about: dict, blocks: Sequence[dict] = ()) -> str:
    """The generated part of the README, without its marks."""
    most = max((cell.threads for cell in results.cells if cell.good), default=1)
    most = min(most, about["cores"])
    noisy = sum(block["noisy"] for block in blocks)
    text = wrapped(
        f"Medians on {about['cores']} CPUs: {about['cpu']}, Linux {about['kernel']}, "
        f"{about['compiler']}; commit {about['commit']}. {noisy} of {len(blocks)} blocks of runs "
        f"{'was' if noisy == 1 else 'were'} noisy.{_without_version(results, about)}"
    )
    text += "\n"
    legend = (
        f"*÷ peer*: the time of Sennit with {_workers(most)} ÷ that of the fastest peer, at any "
        "number of workers. *=*: the samples show no difference. *?*: too few samples for a "
        "verdict, which takes 6 of both. *n=*: the figure is the median of fewer than 6 runs. "
        "*one CPU*: the row has several workers in a parallel workload, and used one CPU."
    )
    text += f"\n{wrapped(legend)}\n"
    operations = _table(_operations(results, most, about))
    for table in (_table(_forks(results, most, about)), operations):
        text += f"\n{table}" if table else ""
    note = footnote(
        (
            (cell.runtime, cell.workload, cell.threads)
            for cell in results.cells
            if cell.good and cell.workload in EACH
        ),
        "docs/",
    )
    text += f"\n{wrapped(note)}\n" if note and operations else ""
    seeds = (
        "\nThe published tables beside them: [docs/seed-tables.md](docs/seed-tables.md)."
        if about.get(ROWS)
        else ""
    )
    text += f"\n{wrapped(_standing(results))}\n"
    return (
        text + "\n![Times of the main job, Sennit beside its peers](docs/results/figures.svg)\n\n"
        "All samples, the machine and the missing rows: "
        f"[docs/results](docs/results/RESULTS.md).{seeds}\n"
    )


def with_figures(readme: str, text: str) -> str:
    """The README with the text between the marks. Raises UsageError where it has none."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise UsageError(f"README.md has no lines '{BEGIN}' and '{END}'")
    return f"{before}{BEGIN}\n{text}{END}{after}"


def open_files(given: Namespace) -> None:
    """Reads the results and the README. Raises UsageError where no set can be made of them."""
    given.document = load(given.folder)
    if not any(cell["median"] is not None for cell in given.document["cells"]):
        raise UsageError(f"{given.folder} holds no figure")
    given.readme = Path(given.root, "README.md").read_text(encoding="utf-8")
    with_figures(given.readme, "")
    size = len(_text(given.document))
    if size > MOST_BYTES * 3 // 4:
        raise UsageError(
            f"{given.folder} holds {size // 1000} kB of samples; "
            f"a committed set has at most {MOST_BYTES * 3 // 4000} kB"
        )


def _text(document: dict) -> bytes:
    about = document["machine"]
    document = document | {"machine": about | {"kernel": str(about["kernel"]).partition("-")[0]}}
    return json.dumps(_without_places(document), separators=(",", ":"), ensure_ascii=False).encode()


def act(given: Namespace) -> int:
    root = Path(given.root)
    folder = root / "docs" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    document = json.loads(_text(given.document))
    run, _, about = restore(document)
    results = Results(run.cells)
    save(document, folder / "RESULTS.json")
    report.write_csv(results, folder / "RESULTS.csv")
    write_whole(report.markdown(results, about, run.blocks), folder / "RESULTS.md")
    write_whole(picture.picture(results, about["cores"]), folder / "figures.svg")
    shown = figures(results, about, run.blocks)
    write_whole(with_figures(given.readme, shown), root / "README.md")
    written = ["docs/results", "README.md"]
    if about.get(ROWS):
        write_whole(markdown([document]), root / "docs" / "seed-tables.md")
        written.append("docs/seed-tables.md")
    print(f"written: {', '.join(written)}")
    for message in guards.published(root, results, about):
        warn(f"sennit: {message}")
    return 0
