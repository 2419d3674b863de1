# SPDX-License-Identifier: Apache-2.0
"""What a set of samples says: the interval of its median, how it compares with another, which samples are far off.

Intervals are percentile bootstrap intervals (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13) of 95 %.
The same samples always give the same interval.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist, median

Interval = tuple[float, float]  # low, high
ByBlock = Mapping[object, float]  # block -> seconds

RESAMPLES = 2000
MANY = 100  # samples
FAR_OFF = 3.5  # scaled median deviations; the limit of Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993
FEWEST_FOR_OUTLIERS = 5  # with fewer nothing can be called usual


def _interval(draw: Callable[[random.Random], float], confidence: float, seed: int, resamples: int) -> Interval:
    rng = random.Random(seed)
    values = sorted(draw(rng) for _ in range(resamples))
    cut = int((1 - confidence) / 2 * resamples)
    return values[cut], values[-1 - cut]


def median_interval(samples: Sequence[float], confidence: float = 0.95, seed: int = 1, resamples: int = RESAMPLES) -> Interval:
    """(low, high) around the median. A single sample gives itself twice.

    Of many samples it is the interval of the order statistics, which the bootstrap then only approximates, slowly.
    """
    count = len(samples)
    if count == 1:
        return samples[0], samples[0]
    if count > MANY:
        ordered, reach = sorted(samples), NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(count) / 2
        return ordered[math.floor(count / 2 - reach)], ordered[math.ceil(count / 2 + reach)]
    return _interval(lambda rng: median(rng.choices(samples, k=len(samples))), confidence, seed, resamples)


def relative_width(samples: Sequence[float]) -> float:
    """Half of the interval of the median, as a part of the median: 0.02 is ±2 %. Fewer than two samples: infinite."""
    middle = median(samples) if samples else 0
    if len(samples) < 2 or middle <= 0:
        return float("inf")
    low, high = median_interval(samples, resamples=RESAMPLES // 4)  # it only decides when to stop
    return (high - low) / 2 / middle


def ratio_interval(ours: Sequence[float], theirs: Sequence[float], confidence: float = 0.95, seed: int = 1) -> Interval:
    """Of median(ours) / median(theirs), the samples being unrelated."""
    return _interval(lambda rng: median(rng.choices(ours, k=len(ours))) / median(rng.choices(theirs, k=len(theirs))),
                     confidence, seed, RESAMPLES)


def paired_ratios(ours: ByBlock, theirs: ByBlock) -> list[float]:
    """ours[block] / theirs[block] of the blocks that both have; the arguments are dictionaries."""
    return [ours[block] / theirs[block] for block in ours if theirs.get(block)]


def compare(ours: ByBlock, theirs: ByBlock) -> tuple[float, float, float, bool] | None:
    """(ratio, low, high, is paired) of two dictionaries block -> seconds; None where one of them is empty.

    Where both have two blocks in common, the ratios within each block count: what slowed a block slowed both. Otherwise
    (a sample has no block, or they were measured at different times) it is the ratio of the medians.
    """
    if not ours or not theirs:
        return None
    ratios = paired_ratios(ours, theirs)
    if len(ratios) >= 2:
        return median(ratios), *median_interval(ratios), True
    return compare_medians(list(ours.values()), list(theirs.values()))


def compare_medians(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float, float, bool]:
    """The same of samples that have nothing to do with each other. A single sample has no interval: 0 to infinity."""
    ratio = median(ours) / median(theirs)
    low, high = ratio_interval(ours, theirs) if min(len(ours), len(theirs)) > 1 else (0.0, float("inf"))
    return ratio, low, high, False


def no_difference(ours: Sequence[float], theirs: Sequence[float]) -> bool | None:
    """True when the interval of the ratio holds 1: no difference is shown. None: one sample cannot tell."""
    if len(ours) < 2 or len(theirs) < 2:
        return None
    low, high = ratio_interval(ours, theirs)
    return low <= 1 <= high


def outliers(samples: Sequence[float]) -> list[bool]:
    """For each sample whether it lies far from the median. They are marked and kept."""
    middle = median(samples) if samples else 0
    deviation = median(abs(value - middle) for value in samples) / 0.6745 if samples else 0
    if len(samples) < FEWEST_FOR_OUTLIERS or deviation == 0:
        return [False] * len(samples)
    return [abs(value - middle) / deviation > FAR_OFF for value in samples]
