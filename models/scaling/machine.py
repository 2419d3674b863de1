# SPDX-License-Identifier: Apache-2.0
"""The costs of a machine, from the figures of the lab's calibration programs.

A file of `machines/` has the rows of the programs `membarrier_cost`, `futex_wake`,
`cache_line_transfer` and `processor_sharing` (lab/sweep/programs). A cost between two measured
points is interpolated, and a barrier beside more threads than were measured follows the straight
line through the measured points. `model_us` holds the few costs that no program measures.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

NO_SLICE_US = 3000.0
PAUSES_PER_LOOK = 32  # tuning::pauses_per_look
LOOKS_BEFORE_WAITING = 100  # tuning::looks_before_waiting
FOLDER = Path(__file__).resolve().parent / "machines"


def interpolated(points, x):
    """The value at `x` of the line through `points`, sorted pairs; constant beyond both ends."""
    if x <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in zip(points, points[1:], strict=False):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[-1][1]


def fitted(points):
    """The least-squares line through `points`: its value at 0, and its slope."""
    n = len(points)
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if spread == 0:
        return mean_y, 0.0
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return mean_y - slope * mean_x, slope


def drawn(p50, p90, u):
    """A time with these quantiles; `u` is uniform in [0, 1)."""
    if u <= 0.5:
        return p50
    return p50 + (p90 - p50) * min(1.0, (u - 0.5) / 0.4)


@dataclass(frozen=True)
class Wake:
    """A wake-up after a sleep of `slept_us`: the call, and the time until the thread runs."""

    slept_us: float
    call_us: float
    runs_p50_us: float
    runs_p90_us: float


class Machine:
    """The costs of one machine, in microseconds."""

    def __init__(self, name, table):
        self.name = name
        self.table = table
        self.processors = table["processors"]
        self._barriers = [(row["computing"], row["us"]) for row in table["barrier"]]
        self._line = fitted(self._barriers[1:])
        self.lost_us = table["barrier_lost_us"]
        self._wakes = [Wake(**row) for row in table["wake"]]
        self._busy = table.get("wake_busy")
        self._slice = table.get("slice")
        costs = table["model_us"]
        self.syscall_us = costs["syscall"]
        self.fork_us = costs["fork"]
        self.publish_us = costs["publish"]
        self.steal_us = costs["steal"]
        self.switch_us = costs["switch"]
        self.line_us = table["line_us"]  # from the cache of another processor
        self.cached_line_us = costs["cached_line"]
        self.pauses_us = PAUSES_PER_LOOK * table["pause_us"]
        self.join_looks_us = LOOKS_BEFORE_WAITING * table["pause_us"]

    def barrier_us(self, others):
        """A membarrier beside `others` processors that run threads of the process."""
        if others <= self._barriers[-1][0]:
            return interpolated(self._barriers, others)
        at_zero, slope = self._line
        return at_zero + slope * others

    def wake_call_us(self, slept_us):
        return interpolated([(w.slept_us, w.call_us) for w in self._wakes], slept_us)

    def wake_us(self, slept_us, u):
        """Until a thread runs that is woken on an idle processor."""
        p50 = interpolated([(w.slept_us, w.runs_p50_us) for w in self._wakes], slept_us)
        p90 = interpolated([(w.slept_us, w.runs_p90_us) for w in self._wakes], slept_us)
        return drawn(p50, p90, u)

    def wake_busy_us(self, u):
        """Until a thread is ready on another processor where a thread computes."""
        if self._busy is None:  # not measured
            return self.wake_us(0.0, u)
        return drawn(self._busy["runs_p50_us"], self._busy["runs_p90_us"], u)

    def slice_us(self, u):
        """The time slice of a thread. A machine without [slice] has as many processors as threads:
        there is always an idle one."""
        if self._slice is None:
            return NO_SLICE_US
        return drawn(self._slice["p50_us"], self._slice["p90_us"], u)


def load(name, processors=None):
    """The machine of `machines/NAME.toml`; `processors` replaces their number."""
    table = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    if processors is not None:
        table["processors"] = processors
    return Machine(name, table)
