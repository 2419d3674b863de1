// Results as rows. This file does not touch the page.
"use strict";

const FORMAT = "sennit-lab-results",
    VERSION = 1;
const FEWEST = 6; // samples that an interval takes; older files have intervals of fewer
const SECONDS = 0,
    CPU = 1,
    RSS = 2,
    BLOCK = 3,
    POSITION = 4,
    OUTLIER = 5; // columns of a sample

function median(values) {
    const sorted = [...values].sort((a, b) => a - b),
        middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function checkResults(results) {
    if (!results || results.format !== FORMAT) throw new Error("it is no results file of this lab");
    if (results.version !== VERSION)
        throw new Error(
            `it has version ${results.version} of the results; this page reads version ${VERSION}`,
        );
    const { machine, blocks, cells } = results;
    if (!machine || typeof machine !== "object" || !Array.isArray(blocks) || !Array.isArray(cells))
        throw new Error("it is broken");
}

function checkRow(row) {
    const numbers = ["threads", "seconds", "low", "high", "cpu", "memory", "throughput"].map(
        (field) => row[field] ?? 0,
    );
    if (
        typeof row.runtime !== "string" ||
        ![...numbers, ...row.samples.flat()].every(Number.isFinite)
    )
        throw new Error("it is broken");
}

function nameOfRun(results) {
    // equal in all files of one run
    const { cpu, cores, date, seed } = results.machine;
    return JSON.stringify([cpu, cores, date, seed]);
}

// Adds results to { files, rows, names, models }, or throws and leaves those as they were.
function admit(all, results) {
    checkResults(results);
    if (all.files.some((file) => nameOfRun(file.results) === nameOfRun(results)))
        throw new Error("its run is shown already");
    const machine = machineName(results, new Set(all.files.map((file) => file.machine)));
    const noisy = results.blocks.flatMap((block, number) => (block.noisy ? [number] : []));
    const rows = rowsOf(results, machine, all.models).map((row) => ({
        ...row,
        noisy,
    }));
    rows.forEach(checkRow);
    all.files.push({ machine, results });
    all.rows.push(...rows);
    relate(all.rows);
    all.names = [...new Set(all.rows.map((row) => row.runtime))].sort();
}

// The samples of a cell as lists. RESULTS.json has an object for each sample; the data of this page
// have columns, as page.py writes them.
function samplesOf(cell) {
    if (!cell.columns)
        return (cell.samples ?? []).map((one) => [
            one.seconds,
            one.cpu_seconds,
            one.peak_rss_kib,
            one.block,
            one.position,
            one.outlier ? 1 : 0,
        ]);
    const [seconds, cpu, rss, blocks, positions, outliers] = cell.columns,
        far = new Set(outliers);
    return seconds.map((value, place) => [
        value,
        cpu[place],
        rss[place],
        blocks.length ? blocks[place] : place,
        positions[place],
        far.has(place) ? 1 : 0,
    ]);
}

// As page.py writes it for a page without samples.
function summaryOf(samples) {
    return {
        count: samples.length,
        cpu: median(samples.map((sample) => sample[CPU])),
        rss: samples.reduce((most, sample) => Math.max(most, sample[RSS]), 0),
        outliers: samples.filter((sample) => sample[OUTLIER]).length,
    };
}

function machineName(results, taken) {
    const about = results.machine,
        base = `${about.cpu}, ${about.cores} CPUs`;
    const name = taken.has(base) ? `${base}, ${about.date}` : base;
    let unique = name;
    for (let number = 2; taken.has(unique); ++number) unique = `${name} (${number})`;
    return unique;
}

// models: family of workloads -> their names. Files of another version of the lab may have
// workloads of an unknown family.
function rowsOf(results, machine, models = {}) {
    const modelOf = new Map(
        Object.entries(models).flatMap(([model, workloads]) =>
            workloads.map((workload) => [workload, model]),
        ),
    );
    return results.cells.map((cell) => {
        const samples = samplesOf(cell);
        const row = {
            machine,
            runtime: cell.title,
            name: cell.runtime,
            workload: cell.workload,
            model: modelOf.get(cell.workload) ?? "other",
            job: `${cell.workload}(${cell.size})`,
            threads: cell.threads,
            ours: cell.ours,
            serial: cell.runtime === "serial",
            status: cell.status,
            reason: cell.reason,
            samples,
            count: samples.length,
            seconds: cell.median,
        };
        if (cell.median === null) return row;
        const { count, cpu, rss, outliers } = cell.summary ?? summaryOf(samples);
        if (cell.interval && count >= FEWEST) [row.low, row.high] = cell.interval;
        const tasks = cell.tasks ?? cell.samples[0].tasks;
        Object.assign(row, { count, cpu, outliers });
        row.memory = rss / 1024;
        row.throughput = tasks / cell.median;
        return row;
    });
}

// Adds the comparisons between rows of one machine.
function relate(rows) {
    const best = new Map(),
        runtimes = new Map(),
        alone = new Map(),
        serial = new Map();
    const key = (row, ...more) => [row.machine, row.job, ...more].join("\n");
    for (const row of rows.filter((row) => row.seconds !== null)) {
        if (row.serial) serial.set(key(row), row.seconds);
        else {
            best.set(
                key(row, row.threads),
                Math.min(row.seconds, best.get(key(row, row.threads)) ?? Infinity),
            );
            const beside = runtimes.get(key(row, row.threads)) ?? new Set();
            runtimes.set(key(row, row.threads), beside.add(row.runtime));
        }
        if (row.threads === 1) alone.set(key(row, row.runtime), row.seconds);
    }
    for (const row of rows.filter((row) => row.seconds !== null)) {
        row.toBest = row.serial ? undefined : row.seconds / best.get(key(row, row.threads));
        row.hasRival = (runtimes.get(key(row, row.threads))?.size ?? 0) > 1;
        if (serial.has(key(row))) row.toSerial = row.seconds / serial.get(key(row));
        if (alone.has(key(row, row.runtime))) {
            row.speedup = alone.get(key(row, row.runtime)) / row.seconds;
            row.efficiency = row.speedup / row.threads;
        }
    }
}

// The geometric mean of the ratios to the best. Only runtimes at the same number of threads are
// compared: each number has a ranking of its own, in which a job counts if two runtimes have it.
function ranking(rows) {
    const groups = new Map();
    for (const row of rows.filter((row) => row.toBest !== undefined && row.hasRival)) {
        const name = [row.machine, row.threads, row.runtime].join("\n");
        if (!groups.has(name))
            groups.set(name, {
                machine: row.machine,
                runtime: row.runtime,
                threads: row.threads,
                ours: row.ours,
                logs: [],
            });
        groups.get(name).logs.push(Math.log(row.toBest));
    }
    const ranked = [...groups.values()].map((group) => ({
        ...group,
        results: group.logs.length,
        mean: Math.exp(group.logs.reduce((a, b) => a + b, 0) / group.logs.length),
    }));
    return ranked.sort(
        (a, b) => b.threads - a.threads || b.results - a.results || a.mean - b.mean,
    );
}

// The texts of the notes that hold for some of the rows, with the workloads of these rows.
function notesOf(rows, notes) {
    return notes.flatMap((note) => {
        const held = rows.filter(
            (row) =>
                note.runtimes.includes(row.name) &&
                note.workloads.includes(row.workload) &&
                (!note.threads || note.threads === row.threads),
        );
        const workloads = [...new Set(held.map((row) => row.workload))].join(", ");
        return held.length ? [note.text.replace("{workloads}", workloads)] : [];
    });
}

const FIELDS = {
    machine: "Machine",
    model: "Model",
    workload: "Workload",
    job: "Size",
    threads: "Threads",
    runtime: "Runtime",
};

function chosen(rows, state) {
    return rows.filter((row) =>
        Object.keys(FIELDS).every((field) => !state[field] || state[field].has(String(row[field]))),
    );
}

function digits(value) {
    if (value === undefined || value === null) return "";
    if (value === 0) return "0";
    const size = Math.floor(Math.log10(Math.abs(value)));
    return size > 5 ? value.toExponential(3) : value.toFixed(Math.max(0, 3 - size));
}

// Every sample of the rows, a line each, as the charts of samples show them.
function tableOfSamples(rows) {
    const head = [
        "Runtime",
        "Job",
        "Threads",
        "Block",
        "Position",
        "Seconds",
        "CPU s",
        "KiB",
        "Outlier",
        "Machine",
    ];
    return {
        head,
        lines: rows.flatMap((row) =>
            row.samples.map((sample) => [
                row.runtime,
                row.job,
                row.threads,
                sample[BLOCK] + 1,
                sample[POSITION],
                sample[SECONDS],
                sample[CPU],
                sample[RSS],
                sample[OUTLIER],
                row.machine,
            ]),
        ),
    };
}

function scaleOfPicture(width, height) {
    // each side within the limit of every browser
    return Math.min(2, 16000 / Math.max(width, height));
}

function csvOf(head, lines) {
    const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    return (
        [head, ...lines]
            .map((line) => line.map((value) => quoted(String(value ?? ""))).join(","))
            .join("\r\n") + "\r\n"
    );
}
