# SPDX-License-Identifier: Apache-2.0
"""The constants of the model are those of the library."""

import re
import unittest
from pathlib import Path

import machine
import programs
import runtime

ROOT = Path(__file__).resolve().parents[3]


def constant(path, name):
    """The value of a constant in a header: the last number of its definition, which is that of
    builds for users."""
    text = (ROOT / path).read_text(encoding="utf-8")
    found = re.search(rf"constexpr [\w:]+(?: \w+)* {name} =([^;]*);", text)
    if not found:
        raise AssertionError(f"{path} does not define {name}; change the model and this test")
    return int(re.findall(r"\d[\d']*", found.group(1))[-1].replace("'", ""))


class ConstantsTest(unittest.TestCase):
    def test_model_has_the_constants_of_tuning(self):
        tuning = "src/core/policy/tuning.hpp"
        for name, value in (
            ("force_after_ns", 1000 * runtime.FORCE_AFTER_US),
            ("victims_per_barrier", runtime.BATCH),
            ("eager_pushes", runtime.EAGER_PUSHES),
            ("late_look_ns", 1000 * runtime.LATE_LOOK_US),
            ("most_halvings_of_search", runtime.MOST_HALVINGS),
            ("pauses_per_look", machine.PAUSES_PER_LOOK),
            ("looks_before_waiting", machine.LOOKS_BEFORE_WAITING),
        ):
            self.assertEqual(constant(tuning, name), value, name)

    def test_model_has_the_constants_of_the_late_look_policy(self):
        header = "src/core/policy/late_look_policy.hpp"
        self.assertEqual(constant(header, "most_skipped"), runtime.MOST_SKIPPED)

    def test_model_has_the_constants_of_loops(self):
        header = "include/sennit/par/detail/chunk_sizer.hpp"
        self.assertEqual(constant(header, "growth"), programs.GROWTH)
        self.assertEqual(constant(header, "chunk_alignment"), programs.ALIGNMENT)

    def test_missing_constant_is_reported(self):
        with self.assertRaisesRegex(AssertionError, "does not define no_such_constant"):
            constant("src/core/policy/tuning.hpp", "no_such_constant")


if __name__ == "__main__":
    unittest.main()
