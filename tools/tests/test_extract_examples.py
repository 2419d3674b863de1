# SPDX-License-Identifier: Apache-2.0
"""Shows which blocks of a page become programs and expected outputs."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import extract_examples  # noqa: E402

RUN, CONTINUES = extract_examples.MARK, extract_examples.CONTINUES
HEADER = extract_examples.HEADER


class Programs(unittest.TestCase):
    def programs(self, text):
        return [example.parts for example in extract_examples.examples(text)]

    def test_only_marked_blocks_are_programs(self):
        self.assertEqual(
            self.programs(
                f"```cpp\nno\n```\n{RUN}\n\n```cpp\n{HEADER}\n```\n```cpp\nno\n```\n"
            ),
            [[(7, f"{HEADER}\n")]],
        )

    def test_a_program_may_have_several_parts(self):
        page = f"{RUN}\n```cpp\n{HEADER}\n```\nText.\n{CONTINUES}\n```cpp\nint b;\n```\n"
        self.assertEqual(self.programs(page), [[(3, f"{HEADER}\n"), (8, "int b;\n")]])
        (example,) = extract_examples.examples(page)
        self.assertEqual(
            example.source("a.md"), f'#line 3 "a.md"\n{HEADER}\n#line 8 "a.md"\nint b;\n'
        )

    def test_a_part_has_at_most_25_lines_and_a_program_its_header(self):
        rest = "int a;\n" * 24
        self.programs(f"{RUN}\n```cpp\n{HEADER}\n{rest}```\n")
        for text in (
            f"{RUN}\n```cpp\n{HEADER}\n{rest}int b;\n```\n",
            f"{RUN}\n```cpp\n{HEADER}\n```\n{CONTINUES}\n```cpp\nint b;\nint c;\n{rest}```\n",
            f"{RUN}\n```cpp\nint a;\n```\n",
            f"{CONTINUES}\n```cpp\nint a;\n```\n",
        ):
            with self.assertRaises(ValueError, msg=text):
                self.programs(text)

    def test_mark_without_block_is_an_error(self):
        for text in (
            RUN,
            f"{RUN}\ntext\n",
            f"{RUN}\n```sh\nls\n```\n",
            f"{RUN}\n{RUN}\n",
            f"{RUN}\n```cpp\nint a;\n",
        ):
            with self.assertRaises(ValueError, msg=text):
                self.programs(text)

    def test_unchanged_programs_are_kept_and_stale_programs_are_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            page, out = pathlib.Path(folder) / "Guide.md", pathlib.Path(folder) / "out"
            page.write_text(f"{RUN}\n```cpp\n{HEADER}\n```\n")
            (first,) = extract_examples.extract([page], out)
            self.assertIn(f'#line 3 "{page}"\n{HEADER}\n', first.read_text())
            before = first.stat().st_mtime_ns
            (out / "stale_1.cpp").write_text("")
            self.assertEqual(extract_examples.extract([page], out), [first])
            self.assertEqual(first.stat().st_mtime_ns, before)
            self.assertEqual([path.name for path in out.iterdir()], ["guide_1.cpp"])

    def test_output_block_belongs_to_the_program_before_it(self):
        prints = f"{extract_examples.PRINTS}\n```text\n7\n```\n"
        program = f"{RUN}\n```cpp\n{HEADER}\n```\n"
        self.assertEqual(
            [found.output for found in extract_examples.examples(program + prints + program)],
            ["7\n", None],
        )
        for text in (prints, program + prints + prints, program + extract_examples.PRINTS):
            with self.assertRaises(ValueError, msg=text):
                extract_examples.examples(text)
        with tempfile.TemporaryDirectory() as folder:
            page, out = pathlib.Path(folder) / "page.md", pathlib.Path(folder) / "out"
            page.write_text(program + prints)
            extract_examples.extract([page], out)
            self.assertEqual((out / "page_1.txt").read_text(), "7\n")
            page.write_text(program)
            extract_examples.extract([page], out)
            self.assertFalse((out / "page_1.txt").exists())


if __name__ == "__main__":
    unittest.main()
