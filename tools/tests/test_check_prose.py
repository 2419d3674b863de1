# SPDX-License-Identifier: Apache-2.0
"""Shows that the prose check finds the text that the style guide forbids, in each language, and
accepts the rest.
"""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import check_prose  # noqa: E402
import prose  # noqa: E402


def lines(*texts):
    """A page of short samples. Each is too short to be a message of this file itself."""
    return "\n".join(texts) + "\n"


def rules(text, name="a.md"):
    return [hit.rule for hit in check_prose.measure(name, text).hits]


def passages(name, text):
    return sorted(
        (passage.line, passage.kind, passage.text) for passage in prose.extract(name, text)
    )


class Rules(unittest.TestCase):
    def test_relative_pronoun_counts_unless_it_follows_a_person(self):
        self.assertEqual(rules(lines("Wake whoever waits.", "Who asks?")), ["who", "who"])
        self.assertEqual(rules("A user who asks is told. An engineer, whom we ask, answers.\n"), [])

    def test_headless_relative_counts_and_indirect_question_does_not(self):
        self.assertEqual(rules(lines("Returns what was.", "What lacks time.")), ["what", "what"])
        self.assertEqual(
            rules("The text says what happened. It tells the user what to do. What is it for?\n"),
            [],
        )

    def test_an_indefinite_pronoun_counts_as_an_actor(self):
        self.assertEqual(
            rules(lines("Nobody waits.", "Others wait.", "the one that")), ["actor"] * 3
        )
        self.assertEqual(
            rules("The one thread waits for one message of another one-word queue.\n"), []
        )

    def test_a_comment_must_not_begin_with_a_reference(self):
        for opening in ("The same, but shorter.", "As above.", "As said, it waits."):
            self.assertEqual(rules(f"int a;  // {opening}\n", "a.cpp"), ["same"], opening)
        self.assertEqual(rules("// A queue of the same size.\n", "a.cpp"), [])

    def test_code_and_quotations_do_not_count(self):
        self.assertEqual(
            rules('Use `nobody` and "whoever", not the [page](https://example.org/who).\n'), []
        )

    def test_a_long_line_counts_unless_it_is_a_table_or_an_address(self):
        wide = "word " * 21
        self.assertEqual(rules(f"{wide}\n"), ["long"])
        self.assertEqual(rules(f"| {wide} |\nSee https://example.org/{'a' * 90}\n"), [])


class Languages(unittest.TestCase):
    def test_cpp_gives_comments_messages_and_test_names(self):
        text = (
            "// A thing\n// of two lines.\nint a;  // beside\n/* A block. */\n"
            'check(a, "the owner must not "\n         "leave a queue");\n'
            "TEST(Queue, keeps_its_order) {}\n"
        )
        self.assertEqual(
            passages("a.cpp", text),
            [
                (1, "comment", "A thing\nof two lines."),
                (3, "comment", "beside"),
                (4, "comment", " A block. "),
                (5, "message", "the owner must not leave a queue"),
                (7, "test name", "queue keeps its order"),
            ],
        )

    def test_cpp_literals_hide_comment_marks(self):
        self.assertEqual(
            passages(
                "a.cpp", 'auto a = "// no"; auto b = \'"\'; auto c = 1\'000; auto d = R"(// no)";\n'
            ),
            [],
        )

    def test_a_literal_with_code_or_few_words_is_no_message(self):
        for literal in (
            "mov %rax, (%rbx); ret; nop; nop",
            "too few words",
            "a=1 b=2 if only c=3 d=4 e=5 f=6",
        ):
            self.assertFalse(prose.is_message(literal), literal)
        self.assertTrue(prose.is_message("cannot open %s: it is a folder"))

    def test_python_gives_comments_docstrings_messages_and_test_names(self):
        text = (
            '"""A module."""\n# A comment.\ndef test_the_queue_keeps_order():\n'
            '    """A docstring."""\n'
            '    print(f"there are {n} words in this")\n'
        )
        self.assertEqual(
            passages("a.py", text),
            [
                (1, "comment", "A module."),
                (2, "comment", "A comment."),
                (3, "test name", "the queue keeps order"),
                (4, "comment", "A docstring."),
                (5, "message", "there are {} words in this"),
            ],
        )

    def test_shell_gives_comments_messages_and_here_documents(self):
        text = (
            "#!/bin/sh\n# A comment.\nn=$#; echo 'this is no short message'\n"
            "cat <<EOF\nA help text.\nEOF\n"
        )
        self.assertEqual(
            passages("a.sh", text),
            [
                (2, "comment", "A comment."),
                (3, "message", "this is no short message"),
                (5, "message", "A help text."),
            ],
        )

    def test_every_other_language_gives_comments(self):
        for name, text in (
            ("a.toml", "a = 1  # A comment."),
            ("a.cmake", "# A comment."),
            ("CMakeLists.txt", "# A comment."),
            ("Makefile", "# A comment."),
            ("a.rs", "// A comment."),
            ("a.hs", "-- A comment."),
            ("a.erl", "%% A comment."),
            ("a.go", "// A comment."),
            ("a.js", "// A comment."),
        ):
            with self.subTest(name):
                self.assertEqual([text for *_, text in passages(name, text)], ["A comment."])

    def test_markdown_gives_paragraphs_and_the_comments_of_examples(self):
        text = (
            "# Title\n\nA text\nof two lines.\n\n```cpp\nint a;  // beside\n```\n\n| a | table |\n"
        )
        found = list(prose.extract("a.md", text))
        self.assertEqual(
            [(passage.line, passage.text.strip(), passage.measured) for passage in found],
            [
                (1, "Title", False),
                (3, "A text\nof two lines.", True),
                (7, "beside", False),
                (10, "| a | table |", False),
            ],
        )


class Sentences(unittest.TestCase):
    def lengths(self, text):
        return [
            (length, line) for length, _, line, _ in check_prose.measure("a.md", text).sentences
        ]

    def test_a_sentence_ends_at_its_stop_and_an_item_is_a_sentence(self):
        self.assertEqual(
            self.lengths("One two. Three\nfour five! Six, e.g. seven\n\n* eight nine\n1. ten\n"),
            [(2, 1), (3, 1), (3, 2), (2, 4), (1, 5)],
        )

    def test_the_percentile_is_that_of_the_folder(self):
        measured = check_prose.measure("a.md", "One two. " * 9 + "One two three four.\n")
        self.assertEqual(measured.values()["p90"], 2)


class Check(unittest.TestCase):
    bad = {
        "src/a": check_prose.measure(
            "src/a/a.md", lines("Nobody waits.", "Others wait.", "It wakes.")
        )
    }
    good = {"src/a": check_prose.measure("src/a/a.md", "The owner waits.\n")}

    def test_a_folder_above_its_budget_is_found(self):
        self.assertEqual(len(list(check_prose.check(self.bad))), 1)
        self.assertEqual(list(check_prose.check(self.good)), [])

    def test_folders_are_two_levels_deep(self):
        for name, folder in (
            ("a.md", "."),
            ("src/core/worker/a.cpp", "src/core"),
            ("src/a.cpp", "src"),
            ("include/sennit/actor/a.hpp", "include/sennit/actor"),
        ):
            self.assertEqual(check_prose.folder_of(name), folder)


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "docs").mkdir()
        (self.root / "docs/a.md").write_text(lines("Nobody waits", "for whoever asks."))
        (self.root / "b.md").write_text("The owner waits.\n")

    def run_it(self, *arguments):
        out, argv = io.StringIO(), sys.argv
        sys.argv = ["check_prose.py", "--root", str(self.root), *map(str, arguments)]
        try:
            with contextlib.redirect_stdout(out):
                check_prose.main()
        finally:
            sys.argv = argv
        return out.getvalue()

    def test_the_reports_name_folders_files_and_lines(self):
        self.assertRegex(self.run_it("--report"), r"docs +5 +200\.0")
        self.assertIn("docs/a.md:1: Nobody waits", self.run_it("--worst", "3"))
        self.assertIn("docs/a.md:2: who: ", self.run_it("--hits"))

    def test_paths_choose_the_files(self):
        self.assertNotIn("docs", self.run_it("--report", self.root / "b.md"))
        self.assertIn("nothing to object to", self.run_it(self.root / "b.md"))


if __name__ == "__main__":
    unittest.main()
