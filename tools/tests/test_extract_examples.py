# SPDX-License-Identifier: Apache-2.0
"""Shows which blocks of a page become programs and expected outputs."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import extract_examples  # noqa: E402

RUN = extract_examples.MARK


class Programs(unittest.TestCase):
    def programs(self, text):
        return list(extract_examples.programs(text))

    def test_only_marked_blocks_are_programs(self):
        self.assertEqual(
            self.programs(f"```cpp\nno\n```\n{RUN}\n\n```cpp\nyes\n```\n```cpp\nno\n```\n"),
            [(7, "yes\n")],
        )

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
            page.write_text(f"{RUN}\n```cpp\nint main() {{}}\n```\n")
            (first,) = extract_examples.extract([page], out)
            self.assertIn(f'#line 3 "{page}"\nint main() {{}}\n', first.read_text())
            before = first.stat().st_mtime_ns
            (out / "stale_1.cpp").write_text("")
            self.assertEqual(extract_examples.extract([page], out), [first])
            self.assertEqual(first.stat().st_mtime_ns, before)
            self.assertEqual([path.name for path in out.iterdir()], ["guide_1.cpp"])

    def test_output_block_belongs_to_the_program_before_it(self):
        prints = f"{extract_examples.PRINTS}\n```text\n7\n```\n"
        program = f"{RUN}\n```cpp\nint a;\n```\n"
        self.assertEqual(
            [found[2] for found in extract_examples.examples(program + prints + program)],
            ["7\n", None],
        )
        for text in (prints, program + prints + prints, program + extract_examples.PRINTS):
            with self.assertRaises(ValueError, msg=text):
                list(extract_examples.examples(text))
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
