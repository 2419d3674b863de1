# SPDX-License-Identifier: Apache-2.0
"""Statistics of samples: the interval of a median, the comparison of two sets, and outliers. scipy
computes them.

Intervals are of 95 %, which takes six samples: the range of five samples holds the median in 93.75
% of cases, that of three in 75 %, that of two in 50 %. Fewer than six samples have no interval and
no verdict.
"""

import functools
import os
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from .options import FEWEST

# numpy starts this many threads when it is imported. More than one could disturb a bench.
THREADS = "OPENBLAS_NUM_THREADS"
given = os.environ.get(THREADS)
os.environ[THREADS] = "1"
import numpy as np  # noqa: E402
import scipy.stats  # noqa: E402

os.environ.pop(THREADS)
if given is not None:
    os.environ[THREADS] = given

Interval = tuple[float, float]  # low, high
ByBlock = Mapping[object, float]  # block -> seconds

CONFIDENCE = 0.95
RESAMPLES, SEED = 2000, 1  # of the bootstrap
# Scaled median deviations; from Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993.
FAR_OFF = 3.5
FEWEST_FOR_OUTLIERS = 5  # with fewer nothing can be called usual


class Comparison(NamedTuple):
    """How many times as long the first set takes as the second."""

    ratio: float
    interval: Interval | None  # of the ratio; None: too few samples
    paired: bool  # it is the median of the ratios within blocks, else the ratio of the medians

    @property
    def same(self) -> bool | None:
        """True: no difference is shown, for the interval holds 1. None: too few samples to tell."""
        return self.interval[0] <= 1 <= self.interval[1] if self.interval else None


@functools.cache
def _left_out(count: int) -> int:
    """How many samples at either end the interval of the median leaves out, after the sign test.

    The number of samples below the median has the distribution of heads in `count` tosses of a
    coin. scipy.stats.quantile_test gives the same interval, but Debian 12 has an older scipy.
    """
    return int(scipy.stats.binom.ppf((1 - CONFIDENCE) / 2, count, 0.5)) - 1


def median_interval(samples: Sequence[float]) -> Interval | None:
    """(low, high) of the median, for any distribution of the samples; None for fewer than
    FEWEST.
    """
    if len(samples) < FEWEST:
        return None
    ordered, cut = sorted(samples), _left_out(len(samples))
    return ordered[cut], ordered[-1 - cut]


def relative_width(samples: Sequence[float]) -> float:
    """Half of the interval of the median, as a part of the median: 0.02 is ±2 %. Where there is
    no interval: infinite.
    """
    interval = median_interval(samples)
    if interval is None or median(samples) <= 0:
        return float("inf")
    return (interval[1] - interval[0]) / 2 / median(samples)


def _ratio_of_medians(ours: np.ndarray, theirs: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.median(ours, axis=axis) / np.median(theirs, axis=axis)


def ratio_interval(ours: Sequence[float], theirs: Sequence[float]) -> Interval | None:
    """The interval of median(ours) / median(theirs) for unrelated samples; None for fewer than
    FEWEST of either.

    It is a percentile bootstrap interval (Efron and Tibshirani, An Introduction to the Bootstrap,
    1993, chapter 13), which held the ratio in 95 to 98 of 100 trials with 6 to 20 samples. The BCa
    interval of the same book does not suit medians: its acceleration comes from a jackknife, which
    hardly moves a median. The same samples always give the same interval.
    """
    if min(len(ours), len(theirs)) < FEWEST:
        return None
    found = scipy.stats.bootstrap(
        (ours, theirs),
        _ratio_of_medians,
        vectorized=True,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        random_state=np.random.default_rng(SEED),
    ).confidence_interval
    return float(found.low), float(found.high)


def paired_ratios(ours: ByBlock, theirs: ByBlock) -> list[float]:
    """ours[block] / theirs[block] of the blocks that both have; the arguments are dictionaries."""
    return [ours[block] / theirs[block] for block in ours if theirs.get(block)]


def compare(ours: ByBlock, theirs: ByBlock) -> Comparison | None:
    """Of two dictionaries block -> seconds; None where one of them is empty.

    Where both have blocks enough in common for an interval, the ratios within each block count: a
    slow block slows both sides. They count of two blocks on where one side has too few samples for
    any interval. Otherwise (a sample has no block, or most were measured at different times) it is
    the ratio of the medians.
    """
    if not ours or not theirs:
        return None
    ratios = paired_ratios(ours, theirs)
    if len(ratios) >= (FEWEST if min(len(ours), len(theirs)) >= FEWEST else 2):
        return Comparison(median(ratios), median_interval(ratios), True)
    return compare_medians(list(ours.values()), list(theirs.values()))


def compare_medians(ours: Sequence[float], theirs: Sequence[float]) -> Comparison:
    """The comparison of unrelated samples: the ratio of their medians."""
    return Comparison(median(ours) / median(theirs), ratio_interval(ours, theirs), False)


def outliers(samples: Sequence[float]) -> list[bool]:
    """For each sample whether it lies far from the median. Outliers are marked and kept."""
    if len(samples) < FEWEST_FOR_OUTLIERS:
        return [False] * len(samples)
    deviation = scipy.stats.median_abs_deviation(samples, scale="normal")
    if deviation == 0:
        return [False] * len(samples)
    middle = median(samples)
    return [bool(abs(value - middle) / deviation > FAR_OFF) for value in samples]
