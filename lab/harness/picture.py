# SPDX-License-Identifier: Apache-2.0
"""The picture of the README: for each workload of the main job a bar a runtime, as an SVG that
also reads on a dark page.
"""

from html import escape
from statistics import median

from .bench import Cell
from .catalogue import MAIN_JOB
from .table import Results, four_digits

WIDTH, ROW, HEAD, GAP = 760, 20, 34, 16  # pixels
LABEL, BAR = 170, 470  # where bars begin, and how long the longest is
MOST_ROWS = 8  # runtimes of a workload
CUT = 8.0  # times the best: longer bars are cut there, and say so
STYLE = """text { font: 13px system-ui, sans-serif; fill: #1f2328 } .head { font-weight: 600 } .peer { fill: #8c959f }
.ours { fill: #0969da } .floor { fill: #d0d7de }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ours { fill: #4493f8 } .peer { fill: #6e7681 } .floor { fill: #3d444d } }"""


def _bars(cells: list[Cell], top: int) -> list[str]:
    """The fastest runtimes; Sennit's are among them however slow."""
    cells.sort(key=lambda cell: median(cell.seconds()))
    kept = [cell for number, cell in enumerate(cells) if number < MOST_ROWS or cell.kind.ours]
    best = median(cells[0].seconds())
    parts = []
    for number, cell in enumerate(kept):
        seconds, y = median(cell.seconds()), top + HEAD + number * ROW
        times = seconds / best
        length = max(
            1.0, BAR * min(times, CUT) / min(CUT, max(median(one.seconds()) for one in kept) / best)
        )
        kind = "ours" if cell.kind.ours else "floor" if cell.runtime == "serial" else "peer"
        mark = " (cut)" if times > CUT else ""
        parts.append(
            f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(cell.title_of_runtime)}</text>'
        )
        parts.append(
            f'<rect class="{kind}" x="{LABEL}" y="{y + 2}" width="{length:.1f}" height="{ROW - 5}"/>'
        )
        parts.append(
            f'<text x="{LABEL + length + 6:.1f}" y="{y + 13}">{four_digits(seconds)} s{mark}</text>'
        )
    return parts


def picture(results: Results, threads: int) -> str:
    """Of results at that many workers, and of the plain function."""
    parts, top = [], 0
    titles = dict.fromkeys(cell.title for cell in results.cells if cell.workload in MAIN_JOB)
    for title in titles:
        cells = [
            cell
            for cell in results.cells
            if cell.good
            and cell.title == title
            and (cell.threads == threads or cell.runtime == "serial")
        ]
        if cells:
            workers = f"{threads} worker" + "s" * (threads != 1)
            bars = _bars(cells, top)
            shown = len(bars) // 3
            of = f", the fastest of {len(cells)}" if shown < len(cells) else ""
            parts.append(
                f'<text class="head" x="0" y="{top + 22}">{escape(title)}, {workers}, shorter is better{of}</text>'
            )
            parts += bars
            top += HEAD + shown * ROW + GAP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {max(top, 1)}" width="{WIDTH}" role="img" '
        'aria-label="Times of the main job in Sennit and its peers">'
    )
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"
