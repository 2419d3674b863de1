# SPDX-License-Identifier: Apache-2.0
"""Shows that each check reports the violations of its rule, and nothing else."""

import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import check_headers  # noqa: E402
import check_layers  # noqa: E402
import check_orders  # noqa: E402
import check_text  # noqa: E402
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


class Layers(Tree):
    def findings(self):
        return check_layers.check(self.root)[0]

    def setUp(self):
        super().setUp()
        patch = unittest.mock.patch.object(check_layers, "EXCEPTIONS", {})
        patch.start()
        self.addCleanup(patch.stop)
        for name in (
            "detail/base/check",
            "detail/sys/spin_lock",
            "detail/sys/worker_tls",
            "detail/core/waiter",
            "detail/core/fiber_block",
            "scheduling",
            "fork_join",
            "mutex",
            "channel",
            "future/detail/state",
            "channel/array",
        ):
            self.write(f"include/sennit/{name}.hpp", "#pragma once\n")
        for name in (
            "core/worker/worker",
            "core/policy/tuning",
            "core/queues/run_queue",
            "core/wait/inline",
            "actors/runtime/mailbox",
            "blocking/pool",
            "obs/trace",
            "sync/list",
            "sys/stack",
        ):
            self.write(f"src/{name}.hpp", "#pragma once\n")

    def test_includes_that_go_down_are_accepted(self):
        self.write(
            "src/sys/stack.cpp",
            '#include <sys/mman.h>\n#include <sennit/detail/base/check.hpp>\nasm volatile("");\n',
        )
        self.write(
            "src/core/worker/a.cpp",
            '#include "sys/stack.hpp"\n#include "core/policy/tuning.hpp"\n#include <vector>\n',
        )
        self.write(
            "src/actors/runtime/a.cpp",
            '#include "core/worker/worker.hpp"\n#include "actors/runtime/mailbox.hpp"\n',
        )
        self.write(
            "src/obs/a.cpp",
            '#include "actors/runtime/mailbox.hpp"\n#include "core/worker/worker.hpp"\n',
        )
        self.write(
            "src/sync/a.cpp",
            '#include "sync/list.hpp"\n#include "sennit/detail/sys/spin_lock.hpp"\n'
            '#include "sennit/detail/core/fiber_block.hpp"\n#include <sennit/channel.hpp>\n',
        )
        self.write("src/actors/group.cpp", '#include "actors/runtime/mailbox.hpp"\n')
        self.write(
            "include/sennit/fork_join.hpp",
            "#include <sennit/detail/core/waiter.hpp>\n#include <sennit/mutex.hpp>\n"
            "#include <sennit/scheduling.hpp>\n",
        )
        self.assertEqual(self.findings(), [])

    def test_includes_that_go_up_are_found(self):
        for path, header in (
            ("include/sennit/detail/base/a.hpp", "sennit/detail/sys/spin_lock.hpp"),
            ("src/sys/a.cpp", "sennit/detail/core/waiter.hpp"),
            ("src/core/worker/a.cpp", "actors/runtime/mailbox.hpp"),
            ("src/core/worker/a.cpp", "sennit/detail/core/fiber_block.hpp"),
            ("src/core/worker/a.cpp", "sennit/fork_join.hpp"),
            ("src/blocking/a.cpp", "obs/trace.hpp"),
            ("src/obs/a.cpp", "sennit/mutex.hpp"),
        ):
            with self.subTest(path):
                self.write(path, f"#include <{header}>\n")
                self.assertIn("must not include", "\n".join(self.findings()))
                (self.root / path).unlink()

    def test_folder_of_core_includes_only_folders_in_table(self):
        self.write("src/core/policy/a.hpp", '#include "core/queues/run_queue.hpp"\n')
        self.write(
            "src/core/queues/a.hpp",
            '#include "core/wait/inline.hpp"\n#include "core/policy/tuning.hpp"\n',
        )
        self.write(
            "src/core/unheard_of/a.hpp",
            '#include "core/policy/tuning.hpp"\n#include "sennit/detail/core/waiter.hpp"\n',
        )
        self.assertEqual(
            [finding.split(":")[0] for finding in self.findings()],
            ["src/core/policy/a.hpp", "src/core/queues/a.hpp", "src/core/unheard_of/a.hpp"],
        )

    def test_runnables_of_one_kind_do_not_include_another_kind(self):
        self.write("src/fibers/runtime/a.cpp", '#include "actors/runtime/mailbox.hpp"\n')
        self.write("src/actors/runtime/a.cpp", '#include "blocking/pool.hpp"\n')
        self.assertEqual(len(self.findings()), 2)

    def test_model_includes_nothing_below_core_interface(self):
        for header in (
            "core/worker/worker.hpp",
            "actors/runtime/mailbox.hpp",
            "obs/trace.hpp",
            "sys/stack.hpp",
            "sennit/detail/sys/worker_tls.hpp",
        ):
            with self.subTest(header):
                self.write("src/sync/a.cpp", f'#include "{header}"\n')
                self.assertIn("a model, must not include", "\n".join(self.findings()))

    def test_needed_exception_is_accepted_and_unused_exception_is_found(self):
        self.write("src/sync/a.cpp", '#include "core/worker/worker.hpp"\n')
        allowed = {"src/sync/a.cpp": {"src/core/worker/worker.hpp"}}
        with unittest.mock.patch.object(check_layers, "EXCEPTIONS", allowed):
            self.assertEqual(self.findings(), [])
            self.write("src/sync/a.cpp", '#include "sync/list.hpp"\n')
            self.assertIn("needs no exception", "\n".join(self.findings()))

    def test_printed_table_holds_needed_exceptions(self):
        self.write("src/sync/a.cpp", '#include "core/worker/worker.hpp"\n')
        made = {}
        exec(check_layers.table(self.root), made)
        self.assertEqual(made["EXCEPTIONS"], {"src/sync/a.cpp": {"src/core/worker/worker.hpp"}})

    def test_relative_includes_are_followed(self):
        self.write("include/sennit/detail/base/a.hpp", '#include "../sys/spin_lock.hpp"\n')
        self.assertEqual(len(self.findings()), 1)

    def test_private_header_of_another_model_is_found(self):
        self.write(
            "include/sennit/mutex.hpp",
            "#include <sennit/future/detail/state.hpp>\n#include <sennit/channel/array.hpp>\n",
        )
        self.write(
            "src/future/a.cpp",
            '#include "sync/list.hpp"\n#include <sennit/future/detail/state.hpp>\n',
        )
        self.assertEqual(len(self.findings()), 3)

    def test_public_header_includes_no_private_header(self):
        self.write("include/sennit/mutex.hpp", '#include "sync/list.hpp"\n')
        self.assertEqual(len(self.findings()), 1)

    def test_only_sys_uses_system_headers_and_assembly(self):
        for code in (
            "#include <sys/mman.h>",
            "#include <linux/futex.h>",
            "#include <pthread.h>",
            "#include <unistd.h>",
            'asm volatile("nop");',
        ):
            with self.subTest(code):
                self.write("src/core/idle/a.cpp", code + "\n")
                self.assertEqual(len(self.findings()), 1)

    def test_missing_header_is_found(self):
        self.write(
            "src/core/idle/a.cpp",
            '#include <sennit/detail/core/gone.hpp>\n#include "sys/gone.hpp"\n',
        )
        self.assertEqual(
            [finding.split()[-3:] for finding in self.findings()], [["does", "not", "exist"]] * 2
        )

    def test_include_in_comment_does_not_count(self):
        self.write(
            "include/sennit/detail/base/a.hpp", "// #include <sennit/detail/sys/stack.hpp>\n"
        )
        self.assertEqual(self.findings(), [])


class Orders(Tree):
    def findings(self, text, path="src/core/a.cpp"):
        return list(check_orders.check_text(path, text, is_base=False))

    def test_weak_order_without_reason_is_found(self):
        for use in (
            "load_acq()",
            "store_rel(1)",
            "cas_acq_rel(a, b)",
            "fetch_sub_acq_rel(1)",
            "exchange_acq(1)",
        ):
            self.assertEqual(len(self.findings(f"x.{use};")), 1, use)
            self.assertEqual(len(self.findings(f"// Takes the next one.\nx.{use};")), 1, use)

    def test_nearby_reason_is_accepted(self):
        self.assertEqual(self.findings("x.load_acq();  // pairs with store_rel in publish()"), [])
        self.assertEqual(self.findings("x.load_rlx();  // own thread wrote it"), [])
        self.assertEqual(self.findings("// Only a counter.\n\n\n\nx.load_rlx();"), [])

    def test_reason_at_end_of_statement_is_accepted(self):
        self.assertEqual(self.findings("return x.load_rlx() +\n       1; // a counter"), [])
        self.assertEqual(len(self.findings("x.load_rlx();\ny = 1; // a counter")), 1)

    def test_distant_reason_is_not_accepted(self):
        self.assertEqual(len(self.findings("// Only a counter.\n\n\n\n\nx.load_rlx();")), 1)

    def test_reason_in_code_is_not_accepted(self):
        self.assertEqual(len(self.findings("owner.load_rlx();")), 1)

    def test_sequentially_consistent_operations_need_no_reason(self):
        self.assertEqual(self.findings("x.load(); x.cas(a, b); x.fetch_add(1);"), [])

    def test_std_atomic_outside_base_is_found(self):
        for code in (
            "std::atomic<int> a;",
            "std::atomic_thread_fence(o);",
            "#include <atomic>",
            "__atomic_load_n(p, 0);",
        ):
            self.assertEqual(len(self.findings(code)), 1, code)
        self.write(
            "include/sennit/detail/base/atomic.hpp", "#include <atomic>\nstd::atomic<int> a;\n"
        )
        self.assertEqual(check_orders.check(self.root)[0], [])


class Headers(Tree):
    def findings(self, name, text):
        self.write(name, text)
        return check_headers.check(self.root, "g++")[0]

    licence = "// SPDX-License-Identifier: Apache-2.0\n"
    good = licence + "// A thing.\n#pragma once\n"

    def test_correct_header_is_accepted(self):
        self.assertEqual(self.findings("include/sennit/a.hpp", self.good + "inline int a;\n"), [])

    def test_each_missing_part_of_head_is_found(self):
        for part in self.good.splitlines():
            self.assertNotEqual(
                self.findings("include/sennit/a.hpp", self.good.replace(part + "\n", "")), [], part
            )

    def test_header_with_missing_include_is_found(self):
        self.assertEqual(
            len(self.findings("include/sennit/a.hpp", self.good + "inline missing::type a;\n")),
            1,
        )

    def test_header_that_source_includes_first_is_compiled_with_that_source(self):
        self.write("src/a.cpp", self.licence + "#include <sennit/a.hpp>\n")
        (finding,) = self.findings(
            "include/sennit/a.hpp", self.good + "inline missing::type a;\n"
        )
        self.assertRegex(finding, r"^src/a[.]cpp: does not compile alone")

    def test_source_that_forgets_header_is_found(self):
        self.write("src/a.cpp", self.licence + "#include <sennit/a.hpp>\n")
        self.write("src/b.cpp", self.licence + "int twice() { return 2 * a; }\n")
        (finding,) = self.findings("include/sennit/a.hpp", self.good + "inline int a;\n")
        self.assertRegex(finding, r"^src/b[.]cpp: does not compile alone")

    def test_source_with_warning_is_found(self):
        code = "int f(int a);\nint f(int a) { { int a = 1; return a; } }\n"
        (finding,) = self.findings("src/a.cpp", self.licence + code)
        self.assertIn("-Werror=shadow", finding)

    def test_forgotten_standard_header_is_found_though_another_file_includes_it(self):
        self.write("src/a.cpp", self.licence + "#include <vector>\n")
        bad = self.licence + "#include <string>\nstd::vector<int> b;\n"
        self.assertEqual(
            self.findings("src/b.cpp", bad),
            ["src/b.cpp:3: uses std::vector, but no #include reaches <vector>"],
        )
        self.write("include/sennit/b.hpp", self.good + "#include <vector>\n")
        good = self.licence + "#include <sennit/b.hpp>\nstd::vector<int> b;\n"
        self.assertEqual(self.findings("src/b.cpp", good), [])

    def test_header_that_another_one_includes_first_is_compiled_with_that_one(self):
        bad = self.good + "inline count a;\n"
        self.write("include/sennit/b.hpp", self.good + "#include <sennit/a.hpp>\n")
        (finding,) = self.findings("include/sennit/a.hpp", bad)
        self.assertIn("include/sennit/b.hpp", finding)
        self.assertIn("count", finding)
        self.write("include/sennit/c.hpp", self.good + "using count = int;\n")
        self.write(
            "include/sennit/b.hpp",
            self.good + "#include <sennit/c.hpp>\n#include <sennit/a.hpp>\n",
        )
        (finding,) = self.findings("include/sennit/a.hpp", bad)
        self.assertIn("include/sennit/a.hpp", finding)

    def test_headers_in_a_circle_are_compiled(self):
        self.write("include/sennit/b.hpp", self.good + "#include <sennit/a.hpp>\n")
        bad = self.good + "#include <sennit/b.hpp>\ninline missing::type a;\n"
        self.assertEqual(len(self.findings("include/sennit/a.hpp", bad)), 1)


class Text(unittest.TestCase):
    def test_forbidden_text_is_found(self):
        for line in (
            "cd /wor" + "k/main",
            "see /roo" + "t/.cache/x",
            "// TO" + "DO: later",
            "https://pyp" + "i.org/simple",
            "<<<<" + "<<< HEAD",
        ):
            self.assertEqual(len(list(check_text.check_text("a", line))), 1, line)

    def test_ordinary_text_is_accepted(self):
        for line in (
            "steals work/tasks",
            "${dir}/wor" + "k/x",
            "the root/leaf of a tree",
            "https://cmake.org",
            "/usr/share/x",
        ):
            self.assertEqual(list(check_text.check_text("a", line)), [], line)


if __name__ == "__main__":
    unittest.main()
