# SPDX-License-Identifier: Apache-2.0
import itertools
import math
import random
import unittest
from statistics import median

import lab_case  # noqa: F401  (finds the harness)
from harness.stats import (
    FEWEST,
    compare,
    compare_medians,
    median_interval,
    outliers,
    ratio_interval,
    relative_width,
)
from harness.table import four_digits


class Stats(unittest.TestCase):
    def test_interval_holds_the_ratio_of_the_medians(self):
        ours, theirs = [2.0, 2.1, 2.2, 2.3, 2.4, 2.5], [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
        low, high = ratio_interval(ours, theirs)
        self.assertLessEqual(low, median(ours) / median(theirs))
        self.assertGreaterEqual(high, median(ours) / median(theirs))
        self.assertGreater(high, low)

    def test_interval_of_constant_samples_is_their_ratio(self):
        self.assertEqual(ratio_interval([3.0] * 6, [2.0] * 6), (1.5, 1.5))

    def test_interval_stays_within_the_extreme_ratios(self):
        ours, theirs = [1.0, 5.0, 2.0, 3.0, 9.0, 4.0], [4.0, 2.0, 8.0, 6.0, 3.0, 5.0]
        low, high = ratio_interval(ours, theirs)
        self.assertGreaterEqual(low, min(ours) / max(theirs))
        self.assertLessEqual(high, max(ours) / min(theirs))

    def test_same_samples_give_the_same_interval(self):
        ours, theirs = [1.0, 1.5, 1.2, 1.1, 1.4, 1.3], [1.3, 1.0, 1.6, 1.2, 1.1, 1.5]
        self.assertEqual(ratio_interval(ours, theirs), ratio_interval(ours, theirs))

    def test_overlapping_samples_show_no_difference(self):
        self.assertIs(
            compare_medians(
                [1.0, 1.2, 0.9, 1.1, 1.05, 1.0], [1.02, 0.95, 1.15, 1.0, 1.1, 1.05]
            ).same,
            True,
        )

    def test_separate_samples_show_a_difference_both_ways(self):
        fast, slow = [1.00, 1.01, 1.02, 1.01, 1.00, 1.01], [1.10, 1.11, 1.12, 1.13, 1.10, 1.11]
        self.assertIs(compare_medians(fast, slow).same, False)
        self.assertIs(compare_medians(slow, fast).same, False)

    def test_fewer_than_six_samples_have_no_interval(self):
        for count in range(FEWEST):
            self.assertIsNone(median_interval([1.0] * count))
        self.assertEqual(median_interval([3.0, 1.0, 6.0, 2.0, 5.0, 4.0]), (1.0, 6.0))

    def test_interval_of_the_median_leaves_out_as_many_samples_as_the_table_of_the_sign_test_says(
        self,
    ):
        for count, left_out in (
            (6, 0),
            (8, 0),
            (9, 1),
            (12, 2),
            (15, 3),
            (25, 7),
            (100, 39),
            (2000, 955),
        ):
            self.assertEqual(median_interval(range(count)), (left_out, count - 1 - left_out), count)

    def test_intervals_hold_what_they_are_of_in_95_of_100_cases(self):
        seed, trials = 3, 2000
        for count in range(FEWEST, 16):
            with self.subTest(count, seed=seed):
                rng = random.Random(seed)
                found = [
                    median_interval([rng.expovariate(math.log(2)) for _ in range(count)])
                    for _ in range(trials)
                ]
                self.assertGreater(
                    sum(low <= 1 <= high for low, high in found), 0.94 * trials
                )  # chance: two standard deviations

    def test_relative_width(self):
        self.assertEqual(
            [relative_width([2.0] * count) for count in (0, 1, 5, 6)],
            [math.inf, math.inf, math.inf, 0.0],
        )
        self.assertEqual(relative_width([1.0, 2.0, 2.0, 2.0, 2.0, 3.0]), 0.5)

    def test_outliers_need_something_usual(self):
        self.assertEqual(outliers([1.0, 1.01, 0.99, 1.0, 1.02, 5.0]), [False] * 5 + [True])
        self.assertEqual(outliers([1.0, 9.0, 1.0]), [False] * 3)
        self.assertEqual(outliers([]), [])

    def test_too_few_samples_of_one_cannot_tell(self):
        for few in range(1, FEWEST):
            self.assertEqual(compare_medians([1.0] * few, [2.0] * FEWEST), (0.5, None, False))
            self.assertIsNone(compare_medians([1.0] * FEWEST, [2.0] * few).same)

    def test_few_blocks_in_common_hide_no_verdict(self):
        ours, theirs = (
            {block: 1.0 + block / 100 for block in range(7)},
            {block: 2.0 + block / 100 for block in range(4, 11)},
        )
        self.assertEqual((compare(ours, theirs).same, compare(ours, theirs).paired), (False, False))
        self.assertTrue(compare(ours, {block: 2.0 for block in range(1, 8)}).paired)
        self.assertEqual(compare(ours, {4: 2.0, 5: 2.0})[1:], (None, True))

    def test_four_significant_digits(self):
        shown = {
            0.0: "0.000",
            0.000012346: "0.00001235",
            0.1: "0.1000",
            1.0: "1.000",
            12.3456: "12.35",
            1234.5: "1234",
        }
        self.assertEqual({value: four_digits(value) for value in shown}, shown)


class BeforeScipy(unittest.TestCase):
    """The formulae that this lab had before scipy, on fixed data: published figures stay
    comparable.
    """

    SAMPLES = [
        [rng.lognormvariate(0, 0.1) for _ in range(6 + seed % 15)]
        for seed in range(60)
        for rng in [random.Random(seed)]
    ]

    def test_interval_of_the_median_is_equal(self):
        for count in range(FEWEST, 400):
            ways = itertools.accumulate(math.comb(count, heads) for heads in range(count))
            left_out = (
                sum(1 for _ in itertools.takewhile(lambda few: 2 * 20 * few <= 2**count, ways)) - 1
            )
            self.assertEqual(median_interval(range(count)), (left_out, count - 1 - left_out), count)

    def test_outliers_are_equal(self):
        def marks(samples):
            middle = median(samples)
            deviation = median(abs(value - middle) for value in samples) / 0.6745
            return [abs(value - middle) / deviation > 3.5 for value in samples]

        self.assertEqual(
            outliers([1.0] * 5 + [9.0]), [False] * 6
        )  # nothing deviates, so that nothing is usual
        for samples in self.SAMPLES:
            spiked = [*samples, 3.0, 0.2]
            self.assertEqual(outliers(spiked), marks(spiked))

    def test_interval_of_a_ratio_differs_by_the_chance_of_the_resampling_only(self):
        """Other random numbers give other resamples. The ends move as they do between two seeds
        of the old formula.
        """

        def interval(ours, theirs, seed):
            rng = random.Random(seed)
            ratios = sorted(
                median(rng.choices(ours, k=len(ours))) / median(rng.choices(theirs, k=len(theirs)))
                for _ in range(2000)
            )
            return ratios[50], ratios[-51]

        for ours, theirs in zip(self.SAMPLES[::10], self.SAMPLES[5::10]):
            seeds = [interval(ours, theirs, seed) for seed in range(1, 5)]
            widest = max(high - low for low, high in seeds)
            for end, old in zip(ratio_interval(ours, theirs), zip(*seeds)):
                self.assertLessEqual(min(old) - 0.1 * widest, end)
                self.assertGreaterEqual(max(old) + 0.1 * widest, end)


if __name__ == "__main__":
    unittest.main()
