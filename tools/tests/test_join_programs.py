# SPDX-License-Identifier: Apache-2.0
"""Shows that a joined program runs by its name, and that its lines keep their numbers."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import join_programs  # noqa: E402

FIRST = """#line 7 "page.md"
#include <cstdio>

int twice(int n) { return 2 * n; }
int main() {
    std::printf("%d\\n", twice(3));
}   // the program ends }
"""
SECOND = '#include <cstdio>\nint twice = 5;\nint main() { std::printf("%d\\n", twice); }\n'


class Joined(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def join(self, size=12, **programs):
        paths = []
        for name, text in programs.items():
            paths.append(self.root / f"{name}.cpp")
            paths[-1].write_text(text)
        return join_programs.join(paths, self.root / "joined", size)

    def test_each_program_runs_by_its_name(self):
        for size in (1, 12):
            sources = self.join(size, first=FIRST, second=SECOND)
            self.assertEqual(len(sources), 2 if size > 1 else 3)
            program = self.root / "programs"
            command = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
            subprocess.run([*command, *sources, "-o", program], check=True)
            for name, output in (("first", "6\n"), ("second", "5\n")):
                done = subprocess.run([program, name], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (0, output))
            wrong = subprocess.run([program, "third"], capture_output=True, text=True)
            self.assertEqual(wrong.returncode, 2)
            self.assertIn("no program has the name third", wrong.stderr)

    def test_lines_keep_their_numbers(self):
        text = join_programs.joined("first", FIRST)[1]
        self.assertEqual(text.count("\n"), FIRST.count("\n") + 2)
        self.assertIn('\n#line 7 "page.md"\n\n\nint twice', text)

    def test_a_definition_that_reaches_the_next_program_is_refused(self):
        for line in ("#define twice 3", "namespace std {}", "int main() {}"):
            with self.assertRaises(ValueError, msg=line):
                self.join(bad=f"{line}\n{FIRST}")

    def test_stale_batches_are_removed_and_equal_ones_kept(self):
        first = self.join(1, first=FIRST, second=SECOND)
        before = first[1].stat().st_mtime_ns
        self.assertEqual(self.join(1, first=FIRST), first[:2])
        self.assertEqual(first[1].stat().st_mtime_ns, before)
        self.assertFalse(first[2].exists())


if __name__ == "__main__":
    unittest.main()
