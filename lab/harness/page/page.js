// The page: state in the address, filters, tabs, tables, exports, and files that are added.
"use strict";

const VIEWS = {
    ranking: {
        title: "Ranking",
        ordered: true,
        log: true,
        unit: "geometric mean of time ÷ best",
        explanation:
            "A ranking for each number of threads: the geometric mean, over the jobs that are " +
            "shown, of a runtime's time divided by the best one's at that number of threads. A " +
            "job counts if at least two runtimes have it at that number. Runtimes with most " +
            "results come first.",
    },
    time: {
        title: "Time",
        field: "seconds",
        unit: "seconds",
        spread: true,
        explanation:
            `Median seconds, with the 95 % interval, which takes ${FEWEST} samples. ` +
            "Medians of fewer have none: a difference between them may be chance.",
    },
    speedup: {
        title: "Speed-up",
        field: "speedup",
        unit: "own time with 1 thread ÷ time",
        explanation: "The runtime's own time with one thread divided by its time.",
    },
    efficiency: {
        title: "Efficiency",
        field: "efficiency",
        unit: "speed-up ÷ threads",
        explanation: "Speed-up divided by the number of threads.",
    },
    best: {
        title: "To the best",
        field: "toBest",
        unit: "time ÷ best",
        explanation: "Time divided by that of the best runtime at the same number of threads.",
    },
    serial: {
        title: "To the floor",
        field: "toSerial",
        unit: "time ÷ plain function",
        explanation: "Time divided by that of the plain serial function.",
    },
    memory: {
        title: "Memory",
        field: "memory",
        unit: "MiB",
        explanation: "The process's most resident memory, warm-up included.",
    },
    throughput: {
        title: "Throughput",
        field: "throughput",
        unit: "tasks a second",
        explanation: "Tasks, or operations, a second.",
    },
    samples: {
        title: "Samples",
        field: "seconds",
        unit: "seconds",
        explanation:
            "Every sample behind the medians, in the order of the blocks. Triangles are far from " +
            "their median; nothing is left out.",
    },
};
const COLUMNS = {
    runtime: "Runtime",
    job: "Job",
    threads: "Threads",
    seconds: "Median s",
    low: "Low s",
    high: "High s",
    cpu: "CPU s",
    speedup: "Speed-up",
    efficiency: "Efficiency",
    toBest: "÷ best",
    toSerial: "÷ plain",
    memory: "MiB",
    throughput: "Tasks/s",
    count: "Samples",
    outliers: "Outliers",
    machine: "Machine",
};
const RANKS = {
    runtime: "Runtime",
    threads: "Threads",
    mean: "Mean ÷ best",
    results: "Jobs",
    machine: "Machine",
};
const COUNTS = new Set(["threads", "count", "outliers", "results"]);
const TEXTS = new Set(["runtime", "job", "machine"]);
const all = {
    files: [],
    rows: [],
    names: [],
    addRows: null,
    plots: [],
    shown: null,
    models: {},
    notes: [],
};
let state = {};
const HAS_ECHARTS = typeof echarts !== "undefined";
const $ = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
}

function readState() {
    const given = new URLSearchParams(location.hash.slice(1)),
        view = given.get("view");
    state = {
        view: VIEWS[view] && isOffered([view]) ? view : "ranking",
        log: given.get("log"),
        sort: given.get("sort"),
        down: given.get("down") === "1",
        theme: given.get("theme"),
    };
    for (const field of Object.keys(FIELDS))
        if (given.has(field))
            state[field] = new Set(given.getAll(field).filter((value) => value !== ""));
}

function isLog() {
    // from the address, else the default of the view
    return state.log ? state.log === "1" : Boolean(VIEWS[state.view].log);
}

function writeState(changes) {
    Object.assign(state, changes);
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) {
        if (value instanceof Set)
            value.size ? value.forEach((one) => given.append(name, one)) : given.append(name, "");
        else if (value) given.set(name, value === true ? "1" : value);
    }
    location.hash = given.toString(); // the page follows from it
}

function showTheme() {
    const dark = state.theme
        ? state.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
}

// A page without ECharts draws no single samples, and may have none.
function isOffered([name]) {
    return HAS_ECHARTS || name !== "samples";
}

function showTabs() {
    $("views").replaceChildren(
        ...Object.entries(VIEWS).filter(isOffered).map(([name, view]) => {
            const link = element("a", {
                href: "#",
                textContent: view.title,
                onclick: (event) => {
                    event.preventDefault();
                    writeState({ view: name, sort: null, down: false });
                },
            });
            link.dataset.key = `view=${name}`;
            if (name === state.view) link.setAttribute("aria-current", "page");
            return link;
        }),
    );
}

function showFilters() {
    const groups = [];
    for (const [field, title] of Object.entries(FIELDS)) {
        const values = [...new Set(all.rows.map((row) => String(row[field])))].sort((a, b) =>
            a.localeCompare(b, "en", { numeric: true }),
        );
        const box = element("fieldset", {}, element("legend", { textContent: title }));
        const button = element("button", {
            type: "button",
            className: "all",
            textContent: state[field] ? "all" : "none",
            onclick: () => writeState({ [field]: state[field] ? null : new Set() }),
        });
        button.dataset.key = `all=${field}`;
        box.append(button);
        for (const value of values) {
            const input = element("input", {
                type: "checkbox",
                checked: !state[field] || state[field].has(value),
                onchange: () => {
                    const now = new Set(state[field] ?? values);
                    input.checked ? now.add(value) : now.delete(value);
                    writeState({ [field]: values.every((value) => now.has(value)) ? null : now });
                },
            });
            input.dataset.key = `${field}=${value}`;
            box.append(element("label", {}, input, ` ${value}`));
        }
        groups.push(box);
    }
    const log = element("input", {
        type: "checkbox",
        checked: isLog(),
        onchange: () =>
            writeState({
                log:
                    log.checked === Boolean(VIEWS[state.view].log) ? null : log.checked ? "1" : "0",
            }),
    });
    log.dataset.key = "log";
    $("filters").replaceChildren(element("label", {}, log, " logarithmic"), ...groups);
}

// Rows are added as the end of the table comes near: a browser needs a second for a thousand rows.
const ROWS = 200;
const end = new IntersectionObserver(
    (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) all.addRows(ROWS);
    },
    { rootMargin: "600px" },
);

function showRows(rows, lineOf) {
    const body = element("tbody"),
        more = element("button", {
            textContent: `all ${rows.length} rows`,
            onclick: () => all.addRows(rows.length),
        });
    all.addRows = (count) => {
        const from = body.rows.length;
        body.append(...rows.slice(from, from + count).map(lineOf));
        more.hidden = body.rows.length === rows.length;
        end.disconnect();
        if (!more.hidden) end.observe(more); // anew, since it tells only of changes
    };
    all.addRows(ROWS);
    return [body, more];
}

function showTable(rows, columns) {
    const names = Object.keys(columns),
        sort = columns[state.sort] ? state.sort : null;
    const sorted = sort
        ? [...rows].sort(
              (a, b) =>
                  (typeof a[sort] === "string"
                      ? a[sort].localeCompare(b[sort])
                      : (a[sort] ?? Infinity) - (b[sort] ?? Infinity)) * (state.down ? -1 : 1),
          )
        : rows;
    all.shown = () => ({
        head: names.map((name) => columns[name]),
        lines: sorted.map((row) => names.map((name) => row[name])),
    });
    const head = element(
        "tr",
        {},
        ...names.map((name) => {
            const button = element("button", {
                textContent: columns[name],
                onclick: () => writeState({ sort: name, down: sort === name && !state.down }),
            });
            button.dataset.key = `sort=${name}`;
            const cell = element(
                "th",
                { scope: "col", className: TEXTS.has(name) ? "text" : "" },
                button,
            );
            if (sort === name) cell.ariaSort = state.down ? "descending" : "ascending";
            return cell;
        }),
    );
    const [body, more] = showRows(sorted, (row) =>
        element(
            "tr",
            { className: row.ours ? "ours" : "" },
            ...names.map((name) =>
                element(
                    "td",
                    typeof row[name] === "string"
                        ? { className: "text", textContent: row[name] }
                        : { textContent: COUNTS.has(name) ? (row[name] ?? "") : digits(row[name]) },
                ),
            ),
        ),
    );
    $("table").replaceChildren(element("table", {}, element("thead", {}, head), body), more);
}

function labelled(rows) {
    const machines = new Set(rows.map((row) => row.machine)).size > 1;
    return rows.map((row) => ({
        ...row,
        line: machines ? `${row.runtime} (${row.machine})` : row.runtime,
        label: row.serial
            ? row.runtime
            : `${row.runtime}, ${row.threads}` + (machines ? ` (${row.machine})` : ""),
    }));
}

// A plot: its height, its painter, `option`, which makes the options of ECharts, and `plain`, which
// makes bars of HTML instead.
function plotOf(shape, title, group, view) {
    const given = [title, group, view, all.names, isLog()];
    return {
        ...sizeOf(shape, group),
        option: () => shape(...given),
        plain: () => plainBars(...given),
    };
}

function plotsOf(rows, view) {
    if (state.view === "ranking") {
        const ranked = Map.groupBy(ranking(rows), (row) => row.threads);
        return [...ranked].map(([threads, group]) =>
            plotOf(
                bars,
                `${view.title}, ${threads} ${threads === 1 ? "thread" : "threads"}`,
                labelled(group),
                { ...view, field: "mean" },
            ),
        );
    }
    const shape =
        state.view === "samples"
            ? scatter
            : new Set(rows.map((row) => row.threads)).size > 2
              ? lines
              : bars;
    return [
        ...Map.groupBy(
            rows.filter((row) => row[view.field] !== undefined && row[view.field] !== null),
            (row) => row.job,
        ),
    ].map(([job, group]) => plotOf(shape, job, labelled(group), view));
}

function draw(plot) {
    if (!HAS_ECHARTS) {
        plot.box.style.height = "auto";
        plot.box.replaceChildren(plot.plain());
        return;
    }
    plot.chart?.dispose();
    plot.chart = echarts.init(plot.box, null, { renderer: plot.renderer });
    plot.chart.setOption(plot.option());
}

// Each chart is drawn when it comes near the visible part: a page has one for each job.
const near = new IntersectionObserver(
    (entries) => {
        for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
            near.unobserve(target);
            draw(all.plots.find((plot) => plot.box === target));
        }
    },
    { rootMargin: "300px" },
);

function showCharts(rows, view) {
    const drawn = JSON.stringify([
        state.view,
        isLog(),
        all.files.length,
        ...Object.keys(FIELDS).map((field) => (state[field] ? [...state[field]] : null)),
    ]);
    const theme = document.documentElement.dataset.theme;
    if (drawn === all.drawn) {
        if (theme !== all.theme) all.plots.filter((plot) => plot.chart).forEach(draw);
    } else {
        near.disconnect();
        all.plots.forEach((plot) => plot.chart?.dispose());
        all.plots = plotsOf(rows, view).map((plot) => ({
            ...plot,
            box: element("div", { className: "chart", style: `height:${plot.height}px` }),
        }));
        $("charts").replaceChildren(...all.plots.map((plot) => plot.box));
        all.plots.forEach((plot) => near.observe(plot.box));
    }
    Object.assign(all, { drawn, theme });
}

function showRest(rows) {
    const missing = rows
        .filter((row) => row.reason && row.status !== "not offered")
        .map((row) => `${row.runtime}, ${row.threads}: ${row.job}: ${row.status}: ${row.reason}`);
    $("missing").hidden = !missing.length;
    $("missing")
        .querySelector("ul")
        .replaceChildren(
            ...[...new Set(missing)].map((text) => element("li", { textContent: text })),
        );
    $("machines")
        .querySelector("div")
        .replaceChildren(
            ...all.files.map(({ machine, results }) =>
                element(
                    "div",
                    {},
                    element("h2", { textContent: machine }),
                    element(
                        "ul",
                        {},
                        ...Object.entries({
                            ...results.machine,
                            state: results.state,
                            blocks: results.blocks.length,
                        })
                            .filter(([, value]) => value !== null)
                            .map(([name, value]) =>
                                element("li", { textContent: `${name}: ${value}` }),
                            ),
                    ),
                ),
            ),
        );
    $("about").textContent =
        `${all.files.length} ${all.files.length === 1 ? "file" : "files"}, ` +
        `${all.rows.filter((row) => row.seconds !== null).length} results, ` +
        `${all.rows.reduce((sum, row) => sum + row.count, 0)} samples`;
}

function showSeeds() {
    const tables = JSON.parse($("seed-data").textContent);
    $("seeds").hidden = !tables.length;
    $("seeds")
        .querySelector("div")
        .replaceChildren(
            ...tables.map((table) =>
                element(
                    "div",
                    {},
                    element("h2", { textContent: table.title }),
                    element("p", { textContent: table.source }),
                    element("p", { textContent: table.note }),
                    element(
                        "table",
                        {},
                        ...[table.head, ...table.rows].map((row, index) =>
                            element(
                                "tr",
                                {},
                                ...row.map((text) =>
                                    element(index ? "td" : "th", {
                                        className: text.length > 50 ? "text long" : "text",
                                        textContent: text,
                                    }),
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        );
}

function show() {
    readState();
    const view = VIEWS[state.view],
        rows = chosen(all.rows, state),
        good = rows.filter((row) => row.seconds !== null);
    const focus = document.activeElement?.dataset?.key;
    showTheme();
    showTabs();
    showFilters();
    $("explanation").textContent = good.length
        ? view.explanation
        : "Nothing is chosen, or nothing of it has a result.";
    $("notes").replaceChildren(
        ...notesOf(good, all.notes).map((text) => element("p", { textContent: text })),
    );
    showCharts(good, view);
    state.view === "ranking" ? showTable(ranking(good), RANKS) : showTable(good, COLUMNS);
    if (state.view === "samples") all.shown = () => tableOfSamples(good);
    showRest(rows);
    if (focus)
        [...document.querySelectorAll("[data-key]")]
            .find((one) => one.dataset.key === focus)
            ?.focus(); // its element is a new one
    for (const id of ["png", "svg"]) $(id).disabled = !all.plots.length;
}

function download(name, blob) {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function chartsAsSvg() {
    // all charts in one column; a chart on a canvas, or not drawn yet, is drawn anew
    const width = Math.max(...all.plots.map((plot) => plot.box.clientWidth));
    let top = 0,
        inside = "";
    for (const { box, chart, height, option, renderer } of all.plots) {
        const anew = !chart || renderer === "canvas";
        const drawn = anew
            ? echarts.init(element("div"), null, {
                  renderer: "svg",
                  width: box.clientWidth,
                  height,
              })
            : chart;
        if (anew) drawn.setOption(chart?.getOption() ?? option());
        inside += drawn.renderToSVGString().replace("<svg ", `<svg y="${top}" `);
        if (anew) drawn.dispose();
        top += height;
    }
    return {
        text:
            `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}">` +
            `${inside}</svg>`,
        width,
        height: top,
    };
}

function downloadPng() {
    const { text, width, height } = chartsAsSvg(),
        image = new Image(),
        scale = scaleOfPicture(width, height);
    const canvas = element("canvas", {
        width: Math.floor(scale * width),
        height: Math.floor(scale * height),
    });
    const fail = () => {
        $("message").textContent =
            "the charts are too large for one PNG; choose fewer, or take SVG";
    };
    image.onload = () => {
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob((blob) => (blob ? download(`${state.view}.png`, blob) : fail()));
    };
    image.onerror = fail;
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}

async function addFiles(files) {
    const said = [];
    for (const file of files) {
        try {
            admit(all, JSON.parse(await file.text()));
            said.push(`${file.name} added`);
        } catch (error) {
            said.push(
                `${file.name}: ${error instanceof SyntaxError ? "it is not JSON" : error.message}`,
            );
        }
    }
    $("message").textContent = said.join("; ");
    show();
}

function start() {
    all.models = JSON.parse($("models").textContent);
    all.notes = JSON.parse($("notes-data").textContent);
    const said = JSON.parse($("data").textContent).map((results, number) => {
        try {
            return void admit(all, results);
        } catch (error) {
            return `file ${number + 1}: ${error.message}`;
        }
    });
    $("message").textContent = said.filter((text) => text).join("; ");
    $("png").hidden = $("svg").hidden = !HAS_ECHARTS;
    $("png").onclick = downloadPng;
    $("svg").onclick = () =>
        download(`${state.view}.svg`, new Blob([chartsAsSvg().text], { type: "image/svg+xml" }));
    $("csv").onclick = () => {
        const { head, lines } = all.shown();
        download(`${state.view}.csv`, new Blob([csvOf(head, lines)], { type: "text/csv" }));
    };
    $("theme").onclick = () =>
        writeState({ theme: document.documentElement.dataset.theme === "dark" ? "light" : "dark" });
    $("add").onchange = (event) => addFiles(event.target.files);
    addEventListener("dragover", (event) => {
        event.preventDefault();
        document.body.classList.add("dropping");
    });
    addEventListener("dragleave", () => document.body.classList.remove("dropping"));
    addEventListener("drop", (event) => {
        event.preventDefault();
        document.body.classList.remove("dropping");
        addFiles(event.dataTransfer.files);
    });
    addEventListener("hashchange", show);
    addEventListener("resize", () => all.plots.forEach((plot) => plot.chart?.resize()));
    addEventListener("beforeprint", () => {
        all.plots.filter((plot) => !plot.chart).forEach(draw);
        all.addRows(Infinity);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
    showSeeds();
    show();
}

start();
