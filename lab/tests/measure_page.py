# SPDX-License-Identifier: Apache-2.0
"""Measures the size of RESULTS.html with 50,000 samples, and the time that Chromium takes to open
it: `python3 lab/tests/measure_page.py`.

The script has the requirements of the tests of the page in a browser. The time runs from the
address to the first frame in which charts and tables are drawn. It is the median of several tabs,
each of which is new. The status is 1 if the page is too large or too slow.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from example_results import example_of_everything
from harness import charts
from harness.page import write_page
from playwright.sync_api import sync_playwright

MOST_BYTES, MOST_SECONDS = 3_000_000, 1.0
TABS = 7
DRAWN = """(document.querySelectorAll('#charts svg path').length > 5
        || document.querySelector('#charts canvas'))
    && document.querySelectorAll('#table tbody tr').length > 3 && performance.now()"""


def opened(browser, address):
    """The seconds until the page is drawn, in a tab without a cache."""
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(address)
    milliseconds = tab.wait_for_function(DRAWN, polling="raf").json_value()
    context.close()
    return milliseconds / 1000


def main():
    results = example_of_everything()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = Path(folder, "RESULTS.html")
        write_page([results], page)
        size = page.stat().st_size
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--allow-file-access-from-files"],
        )
        times = {
            view: [opened(browser, page.as_uri() + view) for _ in range(TABS)]
            for view in ("", "#view=time", "#view=samples")
        }
        browser.close()
    print(
        f"{sum(len(cell['samples']) for cell in results['cells'])} samples in "
        f"{len(results['cells'])} cells, {size / 1e6:.2f} MB; the limit is {MOST_BYTES / 1e6:g} MB"
    )
    for view, seconds in times.items():
        print(
            f"open {view.removeprefix('#view=') or 'ranking'}: {median(seconds):.2f} s "
            f"({min(seconds):.2f} to {max(seconds):.2f}); the limit is {MOST_SECONDS:g} s"
        )
    return size > MOST_BYTES or median(times[""]) > MOST_SECONDS


if __name__ == "__main__":
    if not charts.echarts():
        sys.exit("ECharts is not installed; ./sennit bench does it")
    sys.exit(main())
