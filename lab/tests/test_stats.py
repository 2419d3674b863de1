# SPDX-License-Identifier: Apache-2.0
import random
import unittest
from statistics import median

import lab_case  # noqa: F401  (finds the harness)
from harness import stats
from harness.stats import median_interval, no_difference, outliers, ratio_interval, relative_width
from harness.table import four_digits


class Stats(unittest.TestCase):
    def test_interval_holds_the_ratio_of_the_medians(self):
        ours, theirs = [2.0, 2.1, 2.2, 2.3, 2.4], [1.0, 1.1, 1.2, 1.3, 1.4]
        low, high = ratio_interval(ours, theirs)
        self.assertLessEqual(low, median(ours) / median(theirs))
        self.assertGreaterEqual(high, median(ours) / median(theirs))
        self.assertGreater(high, low)

    def test_interval_of_constant_samples_is_their_ratio(self):
        self.assertEqual(ratio_interval([3.0] * 5, [2.0] * 5), (1.5, 1.5))

    def test_interval_stays_within_the_extreme_ratios(self):
        ours, theirs = [1.0, 5.0, 2.0], [4.0, 2.0, 8.0]
        low, high = ratio_interval(ours, theirs)
        self.assertGreaterEqual(low, min(ours) / max(theirs))
        self.assertLessEqual(high, max(ours) / min(theirs))

    def test_same_samples_give_the_same_interval(self):
        ours, theirs = [1.0, 1.5, 1.2, 1.1], [1.3, 1.0, 1.6, 1.2]
        self.assertEqual(ratio_interval(ours, theirs), ratio_interval(ours, theirs))

    def test_overlapping_samples_show_no_difference(self):
        self.assertTrue(no_difference([1.0, 1.2, 0.9, 1.1, 1.05], [1.02, 0.95, 1.15, 1.0, 1.1]))

    def test_separate_samples_show_a_difference_both_ways(self):
        fast, slow = [1.00, 1.01, 1.02, 1.01, 1.00], [1.10, 1.11, 1.12, 1.13, 1.10]
        self.assertFalse(no_difference(fast, slow))
        self.assertFalse(no_difference(slow, fast))

    def test_interval_of_the_median_holds_it_both_ways_of_computing_it(self):
        rng = random.Random(3)
        samples = [rng.gauss(10, 1) for _ in range(stats.MANY)]
        low, high = median_interval(samples)
        self.assertLess(low, median(samples))
        self.assertGreater(high, median(samples))
        for one, other in zip((low, high), median_interval([*samples, median(samples)])):
            self.assertAlmostEqual(one, other, delta=0.1)
        self.assertEqual(median_interval([4.0]), (4.0, 4.0))

    def test_relative_width(self):
        self.assertEqual([relative_width(samples) for samples in ([], [1.0], [2.0, 2.0])], [float("inf"), float("inf"), 0.0])

    def test_outliers_need_something_usual(self):
        self.assertEqual(outliers([1.0, 1.01, 0.99, 1.0, 1.02, 5.0]), [False] * 5 + [True])
        self.assertEqual(outliers([1.0, 9.0, 1.0]), [False] * 3)
        self.assertEqual(outliers([]), [])

    def test_one_sample_cannot_tell(self):
        self.assertIsNone(no_difference([1.0], [9.0, 9.1, 9.2]))

    def test_four_significant_digits(self):
        shown = {0.0: "0.000", 0.000012346: "0.00001235", 0.1: "0.1000", 1.0: "1.000", 12.3456: "12.35", 1234.5: "1234"}
        self.assertEqual({value: four_digits(value) for value in shown}, shown)


if __name__ == "__main__":
    unittest.main()
