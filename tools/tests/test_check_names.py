# SPDX-License-Identifier: Apache-2.0
"""Shows which uses of an old name check_names.py reports. The tests take the old names from its
tables, so that their own text has none.
"""

import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import check_names  # noqa: E402

COINED = next(iter(check_names.COINED))


class Names(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        patch = unittest.mock.patch.object(check_names, "KEPT", {})
        patch.start()
        self.addCleanup(patch.stop)

    def findings(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        found = check_names.check(self.root)[0]
        path.unlink()
        return found

    def test_coined_name_is_found_in_every_text(self):
        new = check_names.COINED[COINED]
        for name, text in (
            ("src/core/a.cpp", f"int {COINED};\n"),
            ("src/core/a.cpp", f"// A {COINED}.\n"),
            ("docs/guide/a.md", f"The `{COINED}`.\n"),
            ("lab/a.py", f"{COINED} = 1\n"),
        ):
            with self.subTest(name):
                self.assertEqual(self.findings(name, text), [f"{name}:1: {COINED} is now {new}"])

    def test_coined_name_of_file_is_found(self):
        self.assertEqual(len(self.findings(f"src/core/{COINED}.hpp", "")), 1)

    def test_longer_identifier_is_accepted(self):
        self.assertEqual(self.findings("src/core/a.cpp", f"int {COINED}_of_another;\n"), [])

    def test_ordinary_word_is_found_in_code_of_engine_only(self):
        self.assertEqual(len(self.findings("src/core/a.cpp", "int door;\n")), 1)
        self.assertEqual(self.findings("src/core/a.cpp", '// A door.\nauto a = "door";\n'), [])
        self.assertEqual(self.findings("tests/unit/a.cpp", "int door;\n"), [])

    def test_homonym_is_found_in_its_old_place_only(self):
        self.assertEqual(len(self.findings("src/core/worker/a.cpp", "void step();\n")), 1)
        self.assertEqual(self.findings("src/coroutine/a.cpp", "void step();\n"), [])

    def test_name_of_standard_library_is_accepted(self):
        self.assertEqual(self.findings("src/core/a.cpp", "std::movable auto a = 1;\n"), [])

    def test_decision_record_is_not_checked(self):
        self.assertEqual(self.findings(f"{check_names.RECORDS}/a.md", COINED), [])

    def test_kept_name_needs_a_record_and_a_use(self):
        kept = {COINED: ("0046-names.md", ("src/core",))}
        with unittest.mock.patch.object(check_names, "KEPT", kept):
            text = f"int {COINED};\n"
            self.assertIn("there is no record", "\n".join(self.findings("src/core/a.cpp", text)))
            record = self.root / check_names.RECORDS / "0046-names.md"
            record.parent.mkdir(parents=True)
            record.write_text("")
            self.assertEqual(self.findings("src/core/a.cpp", text), [])
            self.assertIn("any more", "\n".join(self.findings("src/core/a.cpp", "")))
            self.assertEqual(len(self.findings("src/obs/a.cpp", text)), 2)

    def test_no_new_name_is_an_old_name(self):
        tables = (check_names.COINED, check_names.ENGINE)
        old = {name for table in tables for name in table}
        new = {name for table in tables for value in table.values() for name in value.split(", ")}
        self.assertEqual(old & new, set())


if __name__ == "__main__":
    unittest.main()
