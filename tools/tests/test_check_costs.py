# SPDX-License-Identifier: Apache-2.0
"""Shows that each cell of the cost table must be a measured one."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import check_costs  # noqa: E402

NAMES = [name for of in check_costs.OPERATIONS.values() for name in of]
ROWS = "".join(
    f"| `{name} 1,000` | {number}.5 (1 to 9) | | 2.0 (1 to 3) | | 9 |\n"
    for number, name in enumerate(NAMES)
)
SOURCE = f"# Tables\n\n{check_costs.SECTION}\n\n| head |\n|---|\n{ROWS}\n## Next\n\n{ROWS}"
PAGE = "# Costs\n\n" + "\n".join(check_costs.HEAD) + "\n\nText.\n"


class Costs(unittest.TestCase):
    def test_fix_writes_the_measured_medians(self):
        page = check_costs.fix(PAGE, SOURCE)
        first = "| fibers | create and join (`sennit-fiber fiber-create`) | 0.5 | | 2.0 | |\n"
        self.assertIn(first, page)
        self.assertEqual(check_costs.check(page, SOURCE), [])
        self.assertEqual(check_costs.fix(page, SOURCE), page)
        self.assertTrue(page.startswith("# Costs\n\n") and page.endswith("|\n\nText.\n"))

    def test_changed_cell_is_reported(self):
        page = check_costs.fix(PAGE, SOURCE).replace("| 3.5 |", "| 3.6 |")
        (finding,) = check_costs.check(page, SOURCE)
        self.assertIn("3.6", finding)
        self.assertIn("3.5", finding)

    def test_missing_line_table_and_measured_row_are_reported(self):
        page = check_costs.fix(PAGE, SOURCE)
        short = "\n".join(page.splitlines()[:-3]) + "\n"
        self.assertEqual(len(check_costs.check(short, SOURCE)), 1)
        self.assertEqual(len(check_costs.check("# Costs\n", SOURCE)), 1)
        without = SOURCE.replace(f"| `{NAMES[2]} 1,000`", "| `other 1,000`")
        (finding,) = check_costs.check(page, without)
        self.assertIn(NAMES[2], finding)


if __name__ == "__main__":
    unittest.main()
