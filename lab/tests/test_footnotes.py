# SPDX-License-Identifier: Apache-2.0
"""Tests of the footnotes: each table that prints a fiber or a lock of Sennit says what it is."""

import json
import re
import shutil
import subprocess
import unittest

from lab_case import ROOT
from harness import footnotes, guards, seed_tables
from harness.catalogue import RUNTIMES, WORKLOADS
from harness.document import load

CALLED, ELIDED = "joiner's own stack", "need no locked instructions"
PAGES = ("README.md", "docs/results/RESULTS.md", "docs/scaling.md", "docs/sixteen-cores.md")


class Footnote(unittest.TestCase):
    def test_table_has_notes_of_its_rows_only(self):
        for shown, parts in (
            ([("sennit-fiber", "skynet-channel", 2)], [CALLED]),
            ([("sennit-fiber-sharing", "skynet-channel", 2)], []),
            ([("sennit-fiber", "mutex-free", 1)], [ELIDED]),
            ([("sennit-fiber", "mutex-free", 2)], []),
            ([("sennit-fiber", "skynet-channel", 1)], [CALLED, ELIDED]),
            ([("go", "mutex-free", 1), ("sennit", "fib", 1)], []),
        ):
            note = footnotes.footnote(shown)
            self.assertEqual([part for part in (CALLED, ELIDED) if part in note], parts)
            self.assertEqual(bool(note), bool(parts))

    def test_note_names_workloads_of_table_and_links_to_docs(self):
        note = footnotes.footnote(
            [("sennit-monitor", "monitor-1", 1), ("sennit-monitor", "signal-1", 1)], "../"
        )
        self.assertIn("in monitor-1 and signal-1.", note)
        self.assertIn("(../guide/runtime.md#one-worker-alone)", note)
        self.assertNotIn("](", footnotes.footnote([("sennit-fiber", "mutex", 1)], None))

    def test_notes_name_existing_workloads_and_runtimes(self):
        for note in footnotes.NOTES:
            self.assertLessEqual(note.workloads, set(WORKLOADS))
            self.assertLessEqual(note.runtimes, set(RUNTIMES))

    def test_every_seed_table_that_prints_such_rows_has_note(self):
        found = [load(ROOT / "docs" / "results")]
        for table in seed_tables.for_page(found):
            names = " ".join(row[0] for row in table["rows"] if not row[2].startswith("no:"))
            if "skynet, " in table["title"] and re.search(
                r"Sennit fibers(?!, work|, round)", names
            ):
                self.assertIn(CALLED, table["note"], table["title"])
            if "Sennit mutex" in names or "Sennit monitor" in names:
                if "creation" not in table["title"]:
                    self.assertIn(ELIDED, table["note"], table["title"])


class Committed(unittest.TestCase):
    def test_table_with_fibers_of_sennit_has_note(self):
        for name in PAGES:
            text = (ROOT / name).read_text()
            for part in (CALLED, ELIDED):
                self.assertIn(part, " ".join(text.split()), name)
            self.assertTrue(list(guards.tables(text)), name)


@unittest.skipUnless(shutil.which("node"), "node is not on the PATH")
class Page(unittest.TestCase):
    def test_page_chooses_notes_of_its_rows(self):
        rows = [
            {"name": "sennit-fiber", "workload": "mutex-free", "threads": 1},
            {"name": "go", "workload": "skynet-channel", "threads": 1},
        ]
        script = (
            (ROOT / "lab" / "harness" / "page" / "data.js").read_text()
            + f"console.log(JSON.stringify(notesOf({json.dumps(rows)}, "
            + f"{json.dumps(footnotes.for_page())})));"
        )
        done = subprocess.run(["node", "-e", script], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        (note,) = json.loads(done.stdout)
        self.assertIn("rows of one worker faster in mutex-free.", note)


if __name__ == "__main__":
    unittest.main()
