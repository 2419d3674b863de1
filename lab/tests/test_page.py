# SPDX-License-Identifier: Apache-2.0
"""Tests of RESULTS.html: the content of the file and, in a real Chromium, filters, links, exports,
keys and phones. The page makes no request.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_case import ROOT, call
from example_results import example, example_of_everything
from harness import charts
from harness.document import save
from harness.page import _compact, by_commit, page, write_page

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None
CHROMIUM = shutil.which("chromium")
WANTED = os.environ.get("SENNIT_BROWSER_TESTS") == "1"
FLAGS = ["--no-sandbox", "--allow-file-access-from-files"]
# The lengths of the bars, from the bottom.
BARS = """() => [...document.querySelectorAll('#charts svg path')]
    .filter(path => /^#(?!000)/.test(path.getAttribute('fill'))
        && path.getAttribute('d').endsWith('Z'))
    .map(path => path.getBoundingClientRect().width)"""


class File(unittest.TestCase):
    def test_page_holds_all_data_and_makes_no_request(self):
        text = page([example()], "/* library */ '</script>'")
        self.assertNotRegex(text, r"/\*\{")
        self.assertNotRegex(text, r"(src|href)=[\"']?(https?:)?//")
        self.assertEqual(len(re.findall("</script>", text)), 9)
        data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', text).group(1))
        self.assertEqual(data[0]["cells"][0]["columns"][3:], [[], [0] * 6, []])
        self.assertEqual(data[0]["cells"][1]["columns"][5], [5])

    def test_page_without_samples_holds_their_summaries(self):
        text = page([example()], None, with_samples=False)
        data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', text).group(1))
        cells = [cell for cell in data[0]["cells"] if "summary" in cell]
        self.assertEqual(len(cells), sum(bool(cell["samples"]) for cell in example()["cells"]))
        self.assertFalse(any("columns" in cell for cell in data[0]["cells"]))
        self.assertEqual(cells[0]["summary"]["count"], 6)

    def test_runs_of_one_commit_become_one_document(self):
        runs = [example(), example(blocks=7), example(cpu="Another CPU")]
        runs[1]["machine"]["date"] = "2026-12-01T00:00:00+00:00"
        first, other = by_commit(runs)
        self.assertEqual(first["machine"]["date"], runs[0]["machine"]["date"])
        self.assertEqual(len(first["cells"]), 2 * len(runs[0]["cells"]))
        self.assertEqual(other["cells"], runs[2]["cells"])

    def test_fifty_thousand_samples_stay_under_four_megabytes(self):
        for threads in ((1, 2), (1, 2, 4, 8)):
            big = example_of_everything(threads)
            self.assertGreaterEqual(sum(len(cell["samples"]) for cell in big["cells"]), 50_000)
            self.assertLess(len(page([big], "x" * 1_130_000).encode()), 4_000_000)

    def test_page_command_merges_files(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [str(Path(folder, name)) for name in ("a.json", "b.json")]
            for path, cpu in zip(paths, ("One", "Two")):
                save(example(cpu=cpu), Path(path))
            with mock.patch("harness.charts.echarts", lambda: None):
                status, out, err = call("bench", "page", *paths, "--out", f"{folder}/both.html")
            self.assertEqual((status, out, err), (0, [f"written: {folder}/both.html"], []))
            text = Path(folder, "both.html").read_text()
            self.assertIn('"cpu":"One"', text)
            self.assertIn('"cpu":"Two"', text)
            for arguments, message in (
                ((), "required"),
                ((f"{folder}/c.json",), "No such file"),
                ((paths[0], "--out", folder), "is a folder"),
            ):
                status, out, err = call("bench", "page", *arguments)
                self.assertEqual((status, out, len(err)), (2, [], 1))
                self.assertIn(message, err[0])


@unittest.skipUnless(shutil.which("node"), "node is not on the PATH")
class Whiskers(unittest.TestCase):
    def drawn(self, blocks, interval):
        """Returns (low and high of a row, number of whiskers drawn) for a cell that states this
        interval.
        """
        cell = example(blocks)["cells"][0] | {"interval": interval}
        script = "".join(
            (ROOT / "lab" / "harness" / "page" / name).read_text()
            for name in ("data.js", "draw.js")
        )
        script += (
            f"const row = rowsOf({{cells: [{json.dumps(cell)}]}}, 'machine')[0];"
            "console.log(JSON.stringify([row.low ?? null, row.high ?? null, "
            "intervals([[0, row.low, row.high]], true).data.length]));"
        )
        done = subprocess.run(["node", "-e", script], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_fewer_than_six_samples_have_no_whiskers_even_in_older_file(self):
        self.assertEqual(self.drawn(6, [1.0, 2.0]), [1.0, 2.0, 1])
        for blocks, interval in ((5, [1.0, 2.0]), (5, None)):
            self.assertEqual(self.drawn(blocks, interval), [None, None, 0])


@unittest.skipUnless(shutil.which("node"), "node is not on the PATH")
class Data(unittest.TestCase):
    def said(self, script, data):
        """Runs the script after data.js and `data`, and returns the JSON that it prints."""
        text = (
            (ROOT / "lab" / "harness" / "page" / "data.js").read_text()
            + f"const data = {json.dumps(data)};"
            + script
        )
        done = subprocess.run(["node", "-"], input=text, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_broken_file_changes_nothing(self):
        good, broken = example(), [{"format": "sennit-lab-results", "version": 1}]
        for change in (
            lambda one: one.pop("machine"),
            lambda one: one.update(blocks=3),
            lambda one: one["cells"][0].update(median="fast"),
            lambda one: one["cells"][0].update(samples=[{}]),
            lambda one: one["cells"][0].update(samples=[]),
            lambda one: one["cells"].append(None),
            lambda one: one["cells"][0].update(title=None),
        ):
            broken.append(example(cpu="Another CPU"))
            change(broken[-1])
        script = """
            const all = { files: [], rows: [], names: [] }, admitted = [];
            admit(all, data[0]);
            const before = JSON.stringify(all);
            for (const results of data.slice(1))
                try { admit(all, results); admitted.push(results); } catch (error) {}
            console.log(JSON.stringify([admitted.length, before === JSON.stringify(all)]));"""
        self.assertEqual(self.said(script, [good, *broken]), [0, True])

    def test_repeated_run_counts_once(self):
        script = """
            const all = { files: [], rows: [], names: [] }, said = [];
            for (const results of data)
                try { admit(all, results); } catch (error) { said.push(error.message); }
            console.log(JSON.stringify([all.files.length, said]));"""
        self.assertEqual(
            self.said(script, [example(), example(blocks=7), example(cpu="Another CPU")]),
            [2, ["its run is shown already"]],
        )

    def test_every_sample_is_exported_as_one_line(self):
        results = example()
        script = """
            const table = tableOfSamples(rowsOf(data, "here"));
            console.log(JSON.stringify([table.head, table.lines]));"""
        head, lines = self.said(script, results)
        self.assertEqual(
            [line[head.index("Seconds")] for line in lines],
            [one["seconds"] for cell in results["cells"] for one in cell["samples"]],
        )
        self.assertEqual({len(line) for line in lines}, {len(head)})

    def test_columns_of_page_equal_those_of_file(self):
        results = example()
        results["cells"][2]["samples"].pop(3)  # the cell no longer has a sample of each block
        script = """
            const [file, page] = data.map(results => {
                const all = { files: [], rows: [], names: [] };
                admit(all, results);
                return all.rows;
            });
            const columns = row => [row.job, row.status, row.low, row.seconds, row.high, row.memory,
                row.outliers, row.count, row.throughput, row.toBest, row.toSerial, row.speedup,
                row.reason ?? null];
            console.log(JSON.stringify([file, page].map(
                rows => [tableOfSamples(rows).lines, rows.map(columns)])));"""
        file, page = self.said(script, [results, _compact(results)])
        without_samples = self.said(script, [results, _compact(results, with_samples=False)])[1]
        self.assertEqual(without_samples, [[], page[1]])
        for wanted, got in zip(file[0] + file[1], page[0] + page[1], strict=True):
            for one, other in zip(wanted, got, strict=True):
                if isinstance(one, float):
                    self.assertLess(abs(one - other), 1e-4 * abs(one))
                else:
                    self.assertEqual(one, other)

    def test_plain_bars_begin_at_zero_or_at_power_of_ten(self):
        plain = (ROOT / "lab" / "harness" / "page" / "plain.js").read_text()
        script = plain + """
            console.log(JSON.stringify([partsOf([1, 4], false), partsOf([0.2, 1, 10], true),
                partsOf([1, 10], true)]));"""
        linear, log, from_one = self.said(script, None)
        self.assertEqual(linear, [0.25, 1])
        self.assertAlmostEqual(log[1], 0.5)
        self.assertEqual((log[2], from_one), (1, [0.5, 1]))

    def test_ranking_compares_runtimes_at_equal_number_of_threads_only(self):
        results = example()
        results["cells"] = [
            cell
            for cell in results["cells"]
            if cell["threads"] < 4 or (cell["runtime"], cell["workload"]) == ("go", "fib")
        ]
        script = """
            const all = { files: [], rows: [], names: [] };
            admit(all, data);
            console.log(JSON.stringify(ranking(all.rows.filter(row => row.seconds !== null))
                .map(row => [row.threads, row.runtime, row.results, row.mean])));"""
        ranked = self.said(script, results)
        # Go alone has a result with four threads, so no ranking has four threads.
        self.assertEqual([row[0] for row in ranked], [2] * 4 + [1] * 4)
        for first in (0, 4):
            self.assertEqual(ranked[first][1:3], ["Sennit", 2])
            means = [row[3] for row in ranked[first : first + 4]]
            self.assertEqual(means, sorted(means))

    def test_chart_of_many_samples_marks_outliers(self):
        results = example(blocks=1000, jobs=(("fib", "39"),))
        draw = (ROOT / "lab" / "harness" / "page" / "draw.js").read_text()
        script = (
            draw
            + """
            globalThis.document = {};
            globalThis.getComputedStyle = () => ({ getPropertyValue: () => "" });
            const all = { files: [], rows: [], names: [] };
            admit(all, data);
            const rows = all.rows.filter(row => row.seconds !== null);
            const { series } = scatter("fib", rows, VIEW, all.names, false);
            const marked = series.filter(one => one.symbol === "triangle").flatMap(one => one.data);
            console.log(JSON.stringify([samplesIn(rows) > BIG, marked.length,
                rows.reduce((sum, row) => sum + row.outliers, 0)]));"""
        )
        many, marked, outliers = self.said(script.replace("VIEW", '{ unit: "seconds" }'), results)
        self.assertTrue(many and outliers)
        self.assertEqual(marked, outliers)

    def test_picture_of_many_charts_is_scaled_down(self):
        script = (
            "console.log(JSON.stringify([scaleOfPicture(1000, 2000), "
            "scaleOfPicture(1000, 160000)]));"
        )
        self.assertEqual(self.said(script, None), [2, 0.1])


class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name, "page")

    def test_file_without_pinned_checksum_is_not_used(self):
        def npm(command, place):
            (place / charts.FILE).parent.mkdir(parents=True)
            (place / charts.FILE).write_text("something else")

        with (
            mock.patch("harness.charts._run", npm),
            mock.patch("shutil.which", lambda name: name),
            mock.patch("sys.stderr"),
        ):
            self.assertEqual(
                charts.install(self.place),
                "the file that npm installed does not have the pinned checksum",
            )
        self.assertIsNone(charts.echarts(self.place))

    def test_failed_install_gives_reason(self):
        with (
            mock.patch(
                "harness.charts._npm", lambda place: ["sh", "-c", "echo no network >&2; exit 1"]
            ),
            mock.patch("sys.stderr"),
        ):
            self.assertEqual(charts.install(self.place), "no network")


@unittest.skipUnless(WANTED, "a browser takes a minute; SENNIT_BROWSER_TESTS=1 asks for it")
@unittest.skipUnless(sync_playwright, "the Python package playwright is not installed")
@unittest.skipUnless(CHROMIUM, "no chromium is on the PATH")
@unittest.skipUnless(charts.echarts(), "ECharts is not installed; ./sennit bench does it")
class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = Path(cls.temporary.name)
        cls.file = cls.folder / "RESULTS.html"
        write_page([example()], cls.file)
        driver = sync_playwright().start()
        cls.addClassCleanup(driver.stop)
        cls.chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        cls.addClassCleanup(cls.chromium.close)

    def open(self, address="", file=None, **options):
        """Opens the page, or that of another file, in a new tab. When the test ends, it checks that
        the page has printed no message and made no request.
        """
        context = self.chromium.new_context(accept_downloads=True, **options)
        tab = context.new_page()
        said, asked = [], []
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on(
            "request",
            lambda request: (
                asked.append(request.url)
                if not re.match("file:|data:|blob:", request.url)
                else None
            ),
        )
        tab.goto((file or self.file).as_uri() + address)
        self.addCleanup(context.close)
        self.addCleanup(lambda: self.assertEqual((said, asked), ([], [])))
        return tab

    def rows(self, tab):
        return tab.locator("#table tbody tr").count()

    def test_every_view_draws_charts(self):
        tab = self.open()
        for name in (
            "Ranking",
            "Time",
            "Speed-up",
            "Efficiency",
            "To the best",
            "To the floor",
            "Memory",
            "Throughput",
            "Samples",
        ):
            with self.subTest(name):
                tab.get_by_role("link", name=name, exact=True).click()
                tab.wait_for_function(
                    "name => document.querySelector('[aria-current]').textContent === name",
                    arg=name,
                )
                tab.wait_for_function("document.querySelectorAll('#charts svg path').length > 5")
                self.assertGreater(self.rows(tab), 3)

    def test_filter_changes_table_and_address_keeps_it(self):
        tab = self.open("#view=time")
        whole = self.rows(tab)
        tab.get_by_label("Go", exact=True).uncheck()
        tab.wait_for_function(
            "before => document.querySelectorAll('#table tbody tr').length === before - 6",
            arg=whole,
        )
        tab.get_by_label("4", exact=True).uncheck()
        tab.wait_for_function(
            "before => document.querySelectorAll('#table tbody tr').length < before - 6", arg=whole
        )
        again = self.open("#" + tab.url.split("#")[1])
        self.assertEqual(self.rows(again), self.rows(tab))
        self.assertFalse(again.get_by_label("Go", exact=True).is_checked())
        tab.go_back()
        tab.wait_for_function(
            "before => document.querySelectorAll('#table tbody tr').length === before - 6",
            arg=whole,
        )

    def test_filter_by_model_selects_workloads(self):
        jobs = (("fib", "39"), ("thread-ring", "1000"))
        strange = example(cpu="Another CPU")
        for cell in strange["cells"]:
            cell["workload"] = "of-later"
        path = self.folder / "models.html"
        write_page([example(jobs=jobs), strange], path)
        tab = self.open("#view=time", path)
        self.assertEqual(
            tab.locator("fieldset", has=tab.locator("legend", has_text="Model"))
            .locator("label")
            .all_inner_texts(),
            [" actors", " forks", " other"],
        )
        for model in ("forks", "other"):
            tab.get_by_label(model, exact=True).uncheck()
        tab.wait_for_function(
            "!location.hash.includes('forks') && "
            "document.querySelectorAll('#table tbody tr').length === 13"
        )
        self.assertEqual(
            set(tab.locator("#table tbody tr td:nth-child(2)").all_inner_texts()),
            {"thread-ring(1000)"},
        )

    def test_longer_time_is_longer_bar_on_logarithmic_axis(self):
        tab = self.open("#view=time&log=1&threads=1&threads=2&workload=fib")
        tab.wait_for_selector("#charts svg")
        lengths = tab.evaluate(BARS)
        times = tab.evaluate(
            "() => all.rows.filter(row => row.workload === 'fib' && row.threads < 4 && "
            "row.seconds !== null).map(row => row.seconds)"
        )
        self.assertLess(min(times), 1)
        self.assertEqual(len(lengths), len(times))
        # The shortest time comes first, and the longest time stands at the bottom.
        self.assertEqual(lengths, sorted(lengths, reverse=True))
        self.assertGreater(lengths[-1], 20)

    def test_chart_of_ranking_has_order_of_table(self):
        results = example()
        results["cells"] = [
            cell
            for cell in results["cells"]
            if (cell["runtime"], cell["workload"]) != ("sennit", "skynet")
        ]
        path = self.folder / "ranking.html"
        write_page([results], path)
        tab = self.open(file=path)
        tab.wait_for_selector("#charts svg")
        self.assertTrue(tab.get_by_label("logarithmic").is_checked())
        table = [
            f"{name}, {threads}"
            for name, threads in zip(
                *(
                    tab.locator(f"#table tbody tr td:nth-child({column})").all_inner_texts()
                    for column in (1, 2)
                )
            )
        ]
        names = tab.evaluate("all.plots.map(plot => plot.option().yAxis.data.reverse())")
        self.assertEqual([len({name.split(", ")[1] for name in plot}) for plot in names], [1] * 3)
        self.assertEqual([name for plot in names for name in plot], table)
        tab.get_by_label("logarithmic").uncheck()
        tab.wait_for_function(
            "location.hash.includes('log=0') && "
            "all.plots[0].chart?.getOption().xAxis[0].type === 'value'"
        )

    def test_page_explains_empty_selection(self):
        self.assertIn(
            "Nothing is chosen",
            self.open("#view=time&runtime=Nobody").locator("#explanation").inner_text(),
        )

    def test_keyboard_sorts_table(self):
        tab = self.open("#view=time")
        tab.get_by_role("button", name="Median s").focus()
        tab.keyboard.press("Enter")
        tab.wait_for_selector("th[aria-sort=ascending]")
        times = [
            float(text) for text in tab.locator("#table tbody tr td:nth-child(4)").all_inner_texts()
        ]
        self.assertEqual(times, sorted(times))

    def test_filter_keeps_focus(self):
        tab = self.open("#view=time")
        tab.get_by_label("Go", exact=True).focus()
        tab.keyboard.press("Space")
        tab.wait_for_function(
            "document.activeElement.dataset.key === 'runtime=Go' && !document.activeElement.checked"
        )

    def test_pressed_control_keeps_focus(self):
        tab = self.open("#view=time")
        for key, then in (
            ("view=memory", "[aria-current][data-key='view=memory']"),
            ("sort=seconds", "[aria-sort=ascending] [data-key='sort=seconds']"),
            ("all=threads", "[data-key='all=threads']"),
        ):
            with self.subTest(key):
                tab.locator(f"[data-key='{key}']").focus()
                tab.keyboard.press("Enter")
                tab.wait_for_selector(then)
                tab.wait_for_function("key => document.activeElement.dataset.key === key", arg=key)

    def test_page_reports_picture_that_browser_cannot_draw(self):
        tab = self.open("#view=time")
        tab.evaluate("() => { HTMLCanvasElement.prototype.toBlob = done => done(null); }")
        tab.get_by_role("button", name="PNG", exact=True).click()
        tab.wait_for_function(
            "document.getElementById('message').textContent.includes('too large for one PNG')"
        )

    def test_every_button_exports_its_format(self):
        tab = self.open("#view=samples")
        for button, begin in (("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("CSV", b"Runtime,Job")):
            with self.subTest(button), tab.expect_download() as download:
                tab.get_by_role("button", name=button, exact=True).click()
            path = self.folder / download.value.suggested_filename
            download.value.save_as(path)
            self.assertTrue(path.read_bytes().startswith(begin))
            self.assertGreater(path.stat().st_size, 500)
        lines = (self.folder / "samples.csv").read_text().splitlines()
        self.assertEqual(len(lines) - 1, sum(len(cell["samples"]) for cell in example()["cells"]))

    def test_page_adds_other_machines_and_refuses_bad_files(self):
        save(example(cpu="Another CPU"), self.folder / "other.json")
        (self.folder / "old.json").write_text(
            json.dumps({"format": "sennit-lab-results", "version": 0})
        )
        (self.folder / "broken.json").write_text("{")
        tab = self.open("#view=time")
        before = self.rows(tab)
        tab.locator("#add").set_input_files(
            [self.folder / name for name in ("other.json", "old.json", "broken.json")]
        )
        tab.wait_for_function(
            "before => document.querySelectorAll('#table tbody tr').length === 2 * before",
            arg=before,
        )
        said = tab.locator("#message").inner_text()
        for part in (
            "other.json added",
            "old.json: it has version 0 of the results; this page reads version 1",
            "broken.json: it is not JSON",
        ):
            self.assertIn(part, said)
        self.assertTrue(tab.get_by_label("Another CPU, 4 CPUs").is_checked())

    def test_distant_charts_are_drawn_late_but_exported(self):
        path = self.folder / "many.html"
        write_page([example(jobs=[("fib", str(size)) for size in range(20, 40)])], path)
        tab = self.open("#view=time", path)
        tab.wait_for_selector(".chart svg")
        self.assertEqual(tab.locator(".chart").count(), 20)
        self.assertLess(tab.locator(".chart svg").count(), 8)
        with tab.expect_download() as download:
            tab.get_by_role("button", name="SVG", exact=True).click()
        self.assertEqual(Path(download.value.path()).read_text().count("<svg y="), 20)
        tab.locator(".chart").last.scroll_into_view_if_needed()
        tab.locator(".chart").last.locator("svg").wait_for()

    def test_long_table_grows_and_is_exported_whole(self):
        path = self.folder / "long.html"
        write_page([example(jobs=[("fib", str(size)) for size in range(20, 60)])], path)
        tab = self.open("#view=time", path)
        tab.wait_for_selector(".chart svg")
        self.assertEqual(self.rows(tab), 200)
        with tab.expect_download() as download:
            tab.get_by_role("button", name="CSV", exact=True).click()
        self.assertEqual(len(Path(download.value.path()).read_text().splitlines()), 1 + 40 * 13)
        tab.locator("#table tbody tr").last.scroll_into_view_if_needed()
        tab.wait_for_function("document.querySelectorAll('#table tbody tr').length >= 400")
        tab.evaluate("document.querySelector('#table > button').click()")
        tab.wait_for_function("document.querySelectorAll('#table tbody tr').length === 520")

    def test_sorting_keeps_charts(self):
        tab = self.open("#view=time")
        tab.evaluate("document.querySelector('.chart').dataset.kept = 'yes'")
        tab.get_by_role("button", name="Median s").click()
        tab.wait_for_selector("th[aria-sort=ascending]")
        self.assertEqual(tab.locator("[data-kept]").count(), 1)

    def test_button_switches_between_light_and_dark(self):
        back = "getComputedStyle(document.body).backgroundColor"
        light, dark = (self.open(color_scheme=scheme) for scheme in ("light", "dark"))
        self.assertNotEqual(light.evaluate(back), dark.evaluate(back))
        light.get_by_role("button", name="Dark or light").click()
        light.wait_for_function("document.documentElement.dataset.theme === 'dark'")
        self.assertEqual(light.evaluate(back), dark.evaluate(back))

    def test_heads_are_aligned_with_their_columns(self):
        tab = self.open("#view=time")
        tab.wait_for_selector("#table td")
        align = (
            "index => ['th', 'td'].map(name => "
            "getComputedStyle(document.querySelectorAll(`#table ${name}`)[index]).textAlign)"
        )
        self.assertEqual(
            [tab.evaluate(align, index) for index in (0, 1, 2)],
            [["left", "left"], ["left", "left"], ["right", "right"]],
        )

    def test_page_fits_phone(self):
        tab = self.open("#view=time", viewport={"width": 360, "height": 740}, has_touch=True)
        self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), 360)

    def test_reasons_are_shown_as_text(self):
        tab = self.open()
        self.assertIn(
            "not found below citor_ROOT <b>", tab.locator("#missing li").first.text_content()
        )

    def test_page_without_charts_shows_tables(self):
        path = self.folder / "plain.html"
        path.write_text(page([example()], None), encoding="utf-8")
        tab = self.open(file=path)
        self.assertGreater(self.rows(tab), 3)
        self.assertTrue(tab.get_by_role("button", name="PNG").is_disabled())


if __name__ == "__main__":
    unittest.main()
