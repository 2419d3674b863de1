# SPDX-License-Identifier: Apache-2.0
"""Tests of `bench publish`: the committed set of results and the files made from it, which name no
folder of the machine.
"""

import json
import re
import tempfile
import unittest
import xml.etree.ElementTree as tree
from pathlib import Path

from example_results import ABOUT
from lab_case import call
from harness.bench import Cell, Plan, Run
from harness.document import document, load, save
from harness.publish import BEGIN, END
from harness.seed_measure import ROWS
from test_results import sample

README = f"# Name\n\nBefore.\n\n{BEGIN}\nold figures\n{END}\n\nAfter.\n"


def cell(runtime, workload, size, threads, seconds):
    return Cell(
        runtime,
        workload,
        size,
        threads,
        [sample(seconds * (1 + 0.001 * block), block) for block in range(5)],
    )


def results(**about):
    cells = [
        cell("serial", "fib", "39", 1, 0.2),
        cell("sennit", "fib", "39", 1, 0.3),
        cell("sennit", "fib", "39", 4, 0.1),
        cell("chili", "fib", "39", 4, 0.15),
        cell("onetbb", "fib", "39", 4, 4.0),
        cell("rayon", "fib", "39", 8, 0.01),
        cell("sennit-fiber", "skynet-channel", "1000000", 4, 0.04),
        cell("go", "skynet-channel", "1000000", 4, 0.8),
    ]
    broken = Cell("tokio", "skynet-channel", "1000000", 4)
    broken.stop("not installed", "does not build, see /srv/sennit/build/lab/tokio.log")
    about = (
        ABOUT
        | {
            "cores": 4,
            "compiler": "g++ (Debian 12.2.0-14) 12.2.0",
            "allocator": "/usr/lib/libtcmalloc.so.4",
            ROWS: "measured",
        }
        | about
    )
    return document(
        Run([*cells, broken], [{"sentinel": [0.01], "noisy": False}], "complete"),
        Plan([], [], [4], 5, 1, 5.0),
        about,
    )


class Publish(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs").mkdir()
        (self.root / "README.md").write_text(README)
        self.given = self.root / "given"
        self.given.mkdir()

    def publish(self, found):
        save(found, self.given / "RESULTS.json")
        return call("bench", "publish", str(self.given), "--root", str(self.root))

    def test_publish_writes_set_that_can_be_read_back(self):
        self.assertEqual(
            self.publish(results())[:2],
            (0, ["written: docs/results, README.md, docs/seed-tables.md"]),
        )
        place = self.root / "docs" / "results"
        self.assertEqual(
            {path.name for path in place.iterdir()},
            {"RESULTS.json", "RESULTS.csv", "RESULTS.md", "figures.svg"},
        )
        self.assertEqual(load(place)["cells"][0]["median"], 0.2004)
        # The repository keeps every version of these files.
        published = [*place.glob("RESULTS.*"), place / "figures.svg"]
        self.assertLess(sum(path.stat().st_size for path in published), 400_000)
        for further in set(place.iterdir()) - set(published):
            self.assertLess(further.stat().st_size, 150_000, further.name)
        self.assertIn(
            "| Go 1.8.1 | 0.42 to 0.49 | 0.8016 |",
            (self.root / "docs" / "seed-tables.md").read_text(),
        )

    def test_published_set_names_no_folder_of_machine(self):
        self.publish(results())
        for path in self.root.glob("docs/**/*.*"):
            with self.subTest(path.name):
                self.assertNotRegex(
                    path.read_text().replace("http://www.w3.org/2000/svg", ""),
                    r"/(home|srv|usr|tmp)/",
                )
        self.assertIn(
            "does not build, see tokio.log",
            (self.root / "docs" / "results" / "RESULTS.md").read_text(),
        )

    def test_readme_has_figures_between_its_marks(self):
        self.publish(results())
        readme = (self.root / "README.md").read_text()
        for line in (
            "| s | plain function | Sennit, 1 worker | Sennit, 4 workers | fastest peer | ÷ peer |",
            "| fib(39) | 0.2004 (n=5) | 0.3006 (n=5) | 0.1002 (n=5) "
            "| 0.01002 rayon, 8 workers (n=5) | 10.00 ? |",
            "| skynet-channel, 1,000,000: a fiber | – | 40 (n=5) | 0.05 ? | 802 Go (n=5) |  |  |",
            "In this run, behind in: fib(39) 10.00 ?. No difference, or no verdict: "
            "skynet-channel(1000000) 0.05",
        ):
            self.assertIn(f"{line}\n", readme)
        self.assertTrue(readme.startswith("# Name\n\nBefore.\n\n"))
        self.assertTrue(readme.endswith(f"{END}\n\nAfter.\n"))
        self.assertNotIn("old figures", readme)
        self.publish(results())
        self.assertEqual(
            (self.root / "README.md").read_text(), readme
        )  # a second call writes an equal file

    def test_picture_has_bar_for_each_runtime(self):
        self.publish(results())
        svg = tree.parse(self.root / "docs" / "results" / "figures.svg").getroot()
        bars = [one for one in svg if one.tag.endswith("rect")]
        self.assertEqual([one.get("class") for one in bars], ["ours", "peer", "floor", "peer"])
        lengths = [float(one.get("width")) for one in bars]
        self.assertEqual(lengths, sorted(lengths))
        self.assertTrue(any(one.text.endswith("(cut)") for one in svg if one.text))
        self.assertIsNotNone(
            re.search(
                "prefers-color-scheme: dark",
                (self.root / "docs" / "results" / "figures.svg").read_text(),
            )
        )

    def test_bad_input_gives_one_clear_line_and_changes_nothing(self):
        nothing = results()
        nothing["cells"] = nothing["cells"][-1:]
        big = results()
        big["cells"][0]["samples"] *= 500
        old = results() | {"version": 99}
        for found, message in (
            (nothing, "holds no figure"),
            (big, "kB of samples; a committed set has at most 300 kB"),
            (old, "has version 99"),
        ):
            with self.subTest(message):
                status, out, err = self.publish(found)
                self.assertEqual((status, out, len(err)), (2, [], 1), err)
                self.assertIn(message, err[0])
        (self.root / "README.md").write_text("# Name\n")
        status, out, err = self.publish(results())
        self.assertEqual((status, out, len(err)), (2, [], 1), err)
        self.assertIn("README.md has no lines", err[0])
        self.assertFalse((self.root / "docs" / "results").exists())

    def test_readme_of_project_has_marks(self):
        from harness.build import ROOT
        from harness.publish import with_figures

        self.assertIn("new", with_figures((ROOT / "README.md").read_text(), "new"))


class Committed(unittest.TestCase):
    def test_committed_results_can_be_read(self):
        from harness.build import ROOT

        place = ROOT / "docs" / "results"
        if not place.exists():
            self.skipTest("no results are committed yet")
        self.assertTrue(any(one["median"] is not None for one in load(place)["cells"]))
        # The repository keeps every version of these files.
        published = [*place.glob("RESULTS.*"), place / "figures.svg"]
        self.assertLess(sum(path.stat().st_size for path in published), 400_000)
        for further in set(place.iterdir()) - set(published):
            self.assertLess(further.stat().st_size, 150_000, further.name)
        json.loads((place / "RESULTS.json").read_text())


if __name__ == "__main__":
    unittest.main()
