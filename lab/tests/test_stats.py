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
    def test_interval_holds_ratio_of_medians(self):
        ours, theirs = [2.0, 2.1, 2.2, 2.3, 2.4, 2.5], [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
        low, high = ratio_interval(ours, theirs)
        self.assertLessEqual(low, median(ours) / median(theirs))
        self.assertGreaterEqual(high, median(ours) / median(theirs))
        self.assertGreater(high, low)

    def test_interval_of_constant_samples_is_their_ratio(self):
        self.assertEqual(ratio_interval([3.0] * 6, [2.0] * 6), (1.5, 1.5))

    def test_interval_stays_within_extreme_ratios(self):
        ours, theirs = [1.0, 5.0, 2.0, 3.0, 9.0, 4.0], [4.0, 2.0, 8.0, 6.0, 3.0, 5.0]
        low, high = ratio_interval(ours, theirs)
        self.assertGreaterEqual(low, min(ours) / max(theirs))
        self.assertLessEqual(high, max(ours) / min(theirs))

    def test_equal_samples_give_equal_intervals(self):
        ours, theirs = [1.0, 1.5, 1.2, 1.1, 1.4, 1.3], [1.3, 1.0, 1.6, 1.2, 1.1, 1.5]
        self.assertEqual(ratio_interval(ours, theirs), ratio_interval(ours, theirs))

    def test_overlapping_samples_show_no_difference(self):
        self.assertIs(
            compare_medians(
                [1.0, 1.2, 0.9, 1.1, 1.05, 1.0], [1.02, 0.95, 1.15, 1.0, 1.1, 1.05]
            ).same,
            True,
        )

    def test_separate_samples_show_difference_both_ways(self):
        fast, slow = [1.00, 1.01, 1.02, 1.01, 1.00, 1.01], [1.10, 1.11, 1.12, 1.13, 1.10, 1.11]
        self.assertIs(compare_medians(fast, slow).same, False)
        self.assertIs(compare_medians(slow, fast).same, False)

    def test_fewer_than_six_samples_have_no_interval(self):
        for count in range(FEWEST):
            self.assertIsNone(median_interval([1.0] * count))
        self.assertEqual(median_interval([3.0, 1.0, 6.0, 2.0, 5.0, 4.0]), (1.0, 6.0))

    def test_interval_of_median_omits_samples_as_sign_test_table_does(
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

    def test_interval_holds_median_in_95_of_100_cases(self):
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
                )  # the margin for chance is two standard deviations

    def test_relative_width_is_half_interval_over_median(self):
        self.assertEqual(
            [relative_width([2.0] * count) for count in (0, 1, 5, 6)],
            [math.inf, math.inf, math.inf, 0.0],
        )
        self.assertEqual(relative_width([1.0, 2.0, 2.0, 2.0, 2.0, 3.0]), 0.5)

    def test_outlier_needs_deviating_usual_samples(self):
        self.assertEqual(outliers([1.0, 1.01, 0.99, 1.0, 1.02, 5.0]), [False] * 5 + [True])
        self.assertEqual(outliers([1.0, 9.0, 1.0]), [False] * 3)
        self.assertEqual(outliers([]), [])

    def test_too_few_samples_of_one_side_give_no_verdict(self):
        for few in range(1, FEWEST):
            self.assertEqual(compare_medians([1.0] * few, [2.0] * FEWEST), (0.5, None, False))
            self.assertIsNone(compare_medians([1.0] * FEWEST, [2.0] * few).same)

    def test_few_common_blocks_fall_back_to_unpaired_verdict(self):
        ours, theirs = (
            {block: 1.0 + block / 100 for block in range(7)},
            {block: 2.0 + block / 100 for block in range(4, 11)},
        )
        self.assertEqual((compare(ours, theirs).same, compare(ours, theirs).paired), (False, False))
        self.assertTrue(compare(ours, {block: 2.0 for block in range(1, 8)}).paired)
        self.assertEqual(compare(ours, {4: 2.0, 5: 2.0})[1:], (None, True))

    def test_figures_have_four_significant_digits(self):
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
    """Compares with the formulae that this lab had before it used scipy, on fixed data, so that
    published figures stay comparable.
    """

    SAMPLES = [
        [rng.lognormvariate(0, 0.1) for _ in range(6 + seed % 15)]
        for seed in range(60)
        for rng in [random.Random(seed)]
    ]

    def test_interval_of_median_equals_former_formula(self):
        for count in range(FEWEST, 400):
            ways = itertools.accumulate(math.comb(count, heads) for heads in range(count))
            left_out = (
                sum(1 for _ in itertools.takewhile(lambda few: 2 * 20 * few <= 2**count, ways)) - 1
            )
            self.assertEqual(median_interval(range(count)), (left_out, count - 1 - left_out), count)

    def test_outliers_equal_those_of_former_formula(self):
        def marks(samples):
            middle = median(samples)
            deviation = median(abs(value - middle) for value in samples) / 0.6745
            return [abs(value - middle) / deviation > 3.5 for value in samples]

        # No usual sample deviates, so there is no scale for an outlier.
        self.assertEqual(outliers([1.0] * 5 + [9.0]), [False] * 6)
        for samples in self.SAMPLES:
            spiked = [*samples, 3.0, 0.2]
            self.assertEqual(outliers(spiked), marks(spiked))

    def test_interval_of_ratio_differs_from_former_only_by_resampling(self):
        """Other random numbers give other resamples. The ends of the interval differ as much as
        they do between two seeds of the former formula.
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
