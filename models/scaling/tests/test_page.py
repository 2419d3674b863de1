# SPDX-License-Identifier: Apache-2.0
"""Tests of the comparison and of the page."""

import unittest

import compare
import page
from compare import Row


class CompareTest(unittest.TestCase):
    def test_count_agrees_within_30_percent(self):
        self.assertTrue(compare.count_agrees(10.0, 12.9))
        self.assertFalse(compare.count_agrees(10.0, 13.1))
        self.assertFalse(compare.count_agrees(10.0, 6.9))

    def test_rare_events_agree(self):
        self.assertTrue(compare.count_agrees(0.0, 0.09))
        self.assertFalse(compare.count_agrees(0.0, 0.11))

    def test_time_agrees_within_15_percent(self):
        self.assertTrue(compare.time_agrees(100.0, 114.0))
        self.assertFalse(compare.time_agrees(100.0, 116.0))

    def test_model_covers_no_peer(self):
        row = {"group": "phases", "program": "phases_openmp", "arguments": "W 1000 100 150 in"}
        self.assertFalse(compare.covered(row))
        self.assertTrue(compare.covered(row | {"program": "phases"}))


class PageTest(unittest.TestCase):
    def row(self, name, wrong):
        return Row(name, 2, {"us": 1.0}, {"us": 2.0}, ("time",) if wrong else ())

    def test_disagreement_needs_a_note(self):
        with self.assertRaisesRegex(ValueError, "no row.*has no note, and a disagreement"):
            page.notes_for(["no row"], [self.row("no row", True)])

    def test_note_needs_a_disagreement(self):
        with self.assertRaisesRegex(ValueError, "fib 39 W.*has a note, and no disagreement"):
            page.notes_for(["fib 39 W"], [self.row("fib 39 W", False)])

    def test_note_names_the_workers(self):
        notes = page.notes_for(["fib 39 W"], [self.row("fib 39 W", True)])
        self.assertIn("`fib 39 W`, W = 2:", notes)

    def test_figures_have_three_or_four_digits(self):
        values = (16588.2, 344.2, 12.34, 1.234, 0.0049)
        self.assertEqual([page.figure(v) for v in values], ["16,588", "344", "12.3", "1.23", "0"])


if __name__ == "__main__":
    unittest.main()
