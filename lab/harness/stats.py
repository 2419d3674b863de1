# SPDX-License-Identifier: Apache-2.0
"""Whether the medians of two sets of samples differ."""

import random
from statistics import median

RESAMPLES = 2000


def ratio_interval(ours, theirs, confidence=0.95, seed=1):
    """Bootstrap interval of median(ours) / median(theirs). The same samples give the same interval."""
    rng = random.Random(seed)
    ratios = sorted(
        median(rng.choices(ours, k=len(ours))) / median(rng.choices(theirs, k=len(theirs))) for _ in range(RESAMPLES))
    cut = int((1 - confidence) / 2 * RESAMPLES)
    return ratios[cut], ratios[-1 - cut]


def no_difference(ours, theirs):
    """True when the interval of the ratio holds 1: no difference is shown. None: one sample cannot tell."""
    if len(ours) < 2 or len(theirs) < 2:
        return None
    low, high = ratio_interval(ours, theirs)
    return low <= 1 <= high
