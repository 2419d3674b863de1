# SPDX-License-Identifier: Apache-2.0
"""Tests of docs/benchmarks/faq.md: ten questions, each with a link to evidence, and links that lead
somewhere. An open answer names the missing measurement.
"""

import re
import unittest

from lab_case import ROOT

PAGE = ROOT / "docs" / "benchmarks" / "faq.md"
LINK = re.compile(r"\]\(([^)#]*)#?([^)]*)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in HEADING.findall(path.read_text())
    }


class Faq(unittest.TestCase):
    def setUp(self):
        self.answers = PAGE.read_text().split("\n## ")[1:]

    def test_ten_questions_have_evidence(self):
        self.assertEqual(
            [answer.partition(".")[0] for answer in self.answers], [str(n) for n in range(1, 11)]
        )
        for answer in self.answers:
            title, _, text = answer.partition("\n")
            with self.subTest(title):
                self.assertTrue(title.endswith("?"))
                self.assertRegex(text, LINK)
                if "**Open" in text:
                    self.assertIn("Missing:", text)

    def test_links_lead_to_files_and_headings(self):
        for name, anchor in LINK.findall(PAGE.read_text()):
            with self.subTest(name, anchor=anchor):
                path = (PAGE.parent / name).resolve()
                self.assertTrue(path.is_file(), path)
                if anchor:
                    self.assertIn(anchor, anchors(path))

    def test_performance_page_links_to_questions(self):
        self.assertIn("(benchmarks/faq.md)", (ROOT / "docs" / "performance.md").read_text())


if __name__ == "__main__":
    unittest.main()
