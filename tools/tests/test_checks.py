# SPDX-License-Identifier: Apache-2.0
"""Shows that each check objects to what it is there for, and to nothing else."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import check_errors  # noqa: E402
import check_headers  # noqa: E402
import check_layers  # noqa: E402
import check_orders  # noqa: E402
import check_text  # noqa: E402
import check_version  # noqa: E402
import policy  # noqa: E402


class Tree(unittest.TestCase):
    """A test with a small source tree of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Comments(unittest.TestCase):
    def test_comments_become_blanks_and_lines_stay(self):
        self.assertEqual(policy.without_comments("a // b\n/* c\n d */ e"), "a     \n    \n      e")

    def test_literals_that_look_like_comments_stay(self):
        for literal in ('"// no"', "'\"' + 1", 'R"(// no)"', '"a\\"// no"'):
            self.assertEqual(policy.without_comments(literal), literal)


class Errors(Tree):
    def findings(self, code, page="### SNT-105\n\n> a fiber destroyed itself; …\n\nIts cause.\n"):
        self.write("src/fiber.cpp", code)
        self.write("docs/errors.md", page)
        return check_errors.check(self.root)[0]

    def test_messages_with_an_entry_are_accepted(self):
        for code in ('SENNIT_CHECK(f(")"), "[SNT-105] a fiber destroyed itself; keep it");\n',
                     'throw error("sennit: [SNT-105] a fiber destroyed "\n  "itself; keep it");\n',
                     'reject("[SNT-105] " + name);\n',
                     'report({"sennit: ", text}); snprintf(text, size, "[SNT-105] a fiber destroyed itself %s", it);\n',
                     'add(text, "sennit: runtime%s %p, "); // "sennit: nothing"\nreject("[SNT-105] a fiber");\n'):
            with self.subTest(code):
                self.assertEqual(self.findings(code), [])

    def test_messages_without_an_id_are_found(self):
        for code in ('SENNIT_CHECK(ok, "a fiber destroyed itself");', 'base::fail("a fiber", __FILE__, 1);',
                     'throw error("sennit: a fiber destroyed itself");', 'tell_once("a fiber");', 'reject(\n"no " + it);'):
            with self.subTest(code):
                found = self.findings('SENNIT_CHECK(ok, "[SNT-105] a fiber destroyed itself");\n' + code)
                self.assertEqual(["without an id" in one for one in found], [True])

    def test_static_assertions_need_no_id(self):
        code = 'SENNIT_CHECK(ok, "[SNT-105] a fiber");\nstatic_assert(is<M>(), "sennit: a message is sent by value");\n'
        self.assertEqual(self.findings(code), [])

    def test_ids_of_one_side_only_are_found(self):
        self.assertEqual(len(self.findings('reject("[SNT-106] one more");\nreject("[SNT-105] a fiber");\n')), 1)
        self.assertEqual(len(self.findings("int none;\n")), 1)

    def test_an_entry_quotes_its_message_and_stands_once(self):
        self.assertIn("quotes another message", self.findings('reject("[SNT-105] a nursery");\n')[0])
        page = "### SNT-105\n\n> a fiber\n\n" * 2
        self.assertIn("second entry", self.findings('reject("[SNT-105] a fiber");\n', page)[0])


class Layers(Tree):
    def findings(self):
        return check_layers.check(self.root)[0]

    def setUp(self):
        super().setUp()
        for name in ("base/check", "sys/stack", "sched/waiter", "fork_join", "mutex", "detail/fork_join_record",
                     "channel/array"):
            self.write(f"include/sennit/{name}.hpp", "#pragma once\n")

    def test_includes_that_go_down_are_accepted(self):
        self.write("src/sys/stack.cpp", "#include <sys/mman.h>\n#include <sennit/base/check.hpp>\nasm volatile(\"\");\n")
        self.write("src/sched/worker.cpp", "#include <sennit/sys/stack.hpp>\n#include <vector>\n")
        self.write("include/sennit/fork_join.hpp",
                   '#include <sennit/detail/fork_join_record.hpp>\n#include "sched/waiter.hpp"\n#include <sennit/mutex.hpp>\n')
        self.assertEqual(self.findings(), [])

    def test_includes_that_go_up_are_found(self):
        for path, header in (("include/sennit/base/a.hpp", "sennit/sys/stack.hpp"),
                             ("src/sys/a.cpp", "sennit/sched/waiter.hpp"),
                             ("src/sched/a.cpp", "sennit/fork_join.hpp"),
                             ("include/sennit/a.hpp", "sennit/sys/stack.hpp")):
            with self.subTest(path):
                self.write(path, f"#include <{header}>\n")
                self.assertIn(path, "\n".join(self.findings()))
                (self.root / path).unlink()

    def test_relative_includes_are_followed(self):
        self.write("include/sennit/base/a.hpp", '#include "../sys/stack.hpp"\n')
        self.assertEqual(len(self.findings()), 1)

    def test_the_inside_of_another_face_is_found(self):
        self.write("include/sennit/mutex.hpp",
                   "#include <sennit/detail/fork_join_record.hpp>\n#include <sennit/channel/array.hpp>\n")
        self.assertEqual(len(self.findings()), 2)

    def test_the_system_is_for_sys_alone(self):
        for code in ("#include <sys/mman.h>", "#include <linux/futex.h>", "#include <pthread.h>", "#include <unistd.h>",
                     "asm volatile(\"nop\");"):
            with self.subTest(code):
                self.write("src/sched/a.cpp", code + "\n")
                self.assertEqual(len(self.findings()), 1)

    def test_a_header_that_does_not_exist_is_found(self):
        self.write("src/sched/a.cpp", "#include <sennit/sched/gone.hpp>\n#include \"sys/gone.hpp\"\n")
        self.assertEqual([finding.split()[-3:] for finding in self.findings()], [["does", "not", "exist"]] * 2)

    def test_a_commented_include_is_none(self):
        self.write("include/sennit/base/a.hpp", "// #include <sennit/sys/stack.hpp>\n")
        self.assertEqual(self.findings(), [])


class Orders(Tree):
    def findings(self, text, path="src/sched/a.cpp"):
        return list(check_orders.check_text(path, text, is_base=False))

    def test_a_weak_order_without_a_reason_is_found(self):
        for use in ("load_acq()", "store_rel(1)", "cas_acq_rel(a, b)", "fetch_sub_acq_rel(1)", "exchange_acq(1)"):
            self.assertEqual(len(self.findings(f"x.{use};")), 1, use)
            self.assertEqual(len(self.findings(f"// Takes the next one.\nx.{use};")), 1, use)

    def test_a_reason_nearby_is_accepted(self):
        self.assertEqual(self.findings("x.load_acq();  // pairs with store_rel in publish()"), [])
        self.assertEqual(self.findings("x.load_rlx();  // own thread wrote it"), [])
        self.assertEqual(self.findings("// Only a counter.\n\n\n\nx.load_rlx();"), [])

    def test_a_reason_too_far_away_is_not(self):
        self.assertEqual(len(self.findings("// Only a counter.\n\n\n\n\nx.load_rlx();")), 1)

    def test_a_reason_in_code_is_not(self):
        self.assertEqual(len(self.findings("owner.load_rlx();")), 1)

    def test_sequentially_consistent_operations_need_none(self):
        self.assertEqual(self.findings("x.load(); x.cas(a, b); x.fetch_add(1);"), [])

    def test_going_around_the_shim_is_found_outside_base(self):
        for code in ("std::atomic<int> a;", "std::atomic_thread_fence(o);", "#include <atomic>", "__atomic_load_n(p, 0);"):
            self.assertEqual(len(self.findings(code)), 1, code)
        self.write("include/sennit/base/atomic.hpp", "#include <atomic>\nstd::atomic<int> a;\n")
        self.assertEqual(check_orders.check(self.root)[0], [])


class Headers(Tree):
    def findings(self, name, text):
        self.write(name, text)
        return check_headers.check(self.root, "g++")[0]

    good = "// SPDX-License-Identifier: Apache-2.0\n// A thing.\n#pragma once\n"

    def test_a_good_header_is_accepted(self):
        self.assertEqual(self.findings("include/sennit/a.hpp", self.good + "inline int a;\n"), [])

    def test_each_missing_part_is_found(self):
        for part in self.good.splitlines():
            self.assertNotEqual(self.findings("include/sennit/a.hpp", self.good.replace(part + "\n", "")), [], part)

    def test_a_header_that_needs_another_one_is_found(self):
        self.assertEqual(len(self.findings("include/sennit/a.hpp", self.good + "inline std::vector<int> a;\n")), 1)

    def test_a_header_that_a_source_includes_first_is_left_to_the_build(self):
        self.write("src/a.cpp", "// SPDX-License-Identifier: Apache-2.0\n#include <sennit/a.hpp>\n")
        self.assertEqual(self.findings("include/sennit/a.hpp", self.good + "inline std::vector<int> a;\n"), [])
        self.write("src/a.cpp", "// SPDX-License-Identifier: Apache-2.0\n#include <vector>\n#include <sennit/a.hpp>\n")
        self.assertEqual(len(self.findings("include/sennit/a.hpp", self.good + "inline std::vector<int> a;\n")), 1)


class Version(unittest.TestCase):
    def test_every_place_must_name_the_version_of_the_project(self):
        header = "".join(f"\n#define SENNIT_VERSION_{part}\n" for part in ("MAJOR 1", "MINOR 2", "PATCH 3", 'STRING "1.2.3"'))
        self.assertEqual(list(check_version.check_header(header, ("1", "2", "3"))), [])
        self.assertEqual(len(list(check_version.check_header(header, ("1", "2", "4")))), 2)
        page = "find_package(sennit 1.2 REQUIRED)\nfind_package(other 3.4)\n"
        self.assertEqual(list(check_version.check_page("page", page, ("1", "2", "9"))), [])
        self.assertEqual(len(list(check_version.check_page("page", page, ("1", "3", "0")))), 1)


class Text(unittest.TestCase):
    def test_what_must_not_be_there_is_found(self):
        for line in ("cd /wor" + "k/main", "see /roo" + "t/.cache/x", "// TO" + "DO: later", "https://pyp" + "i.org/simple",
                     "<<<<" + "<<< HEAD"):
            self.assertEqual(len(list(check_text.check_text("a", line))), 1, line)

    def test_ordinary_text_is_not(self):
        for line in ("steals work/tasks", "${dir}/wor" + "k/x", "the root/leaf of a tree", "https://cmake.org", "/usr/share/x"):
            self.assertEqual(list(check_text.check_text("a", line)), [], line)


if __name__ == "__main__":
    unittest.main()
