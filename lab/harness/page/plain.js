// Draws rows as bars of HTML, for a page without ECharts.
"use strict";

// The part of the whole width that the bar of each value takes. On a logarithmic axis the bars
// begin at the power of ten below all values, as in draw.js.
function partsOf(values, log) {
    const most = Math.max(...values);
    if (!log) return values.map((value) => value / most);
    const start = Math.ceil(Math.log10(Math.min(...values))) - 1;
    const whole = Math.log10(most) - start;
    return values.map((value) => (Math.log10(value) - start) / whole);
}

// The number behind a bar, with its interval, or with the number of samples if they are too few for
// one.
function textOf(row, view) {
    const value = digits(row[view.field]);
    if (!view.spread) return value;
    if (row.low === undefined) return `${value} (n=${row.count})`;
    return `${value} (${digits(row.low)} to ${digits(row.high)})`;
}

// rows: the rows of one job, as for `bars` of draw.js.
function plainBars(title, rows, view, names, log) {
    const sorted = view.ordered ? rows : [...rows].sort((a, b) => a[view.field] - b[view.field]);
    const parts = partsOf(
        sorted.map((row) => row[view.field]),
        log,
    );
    const lines = sorted.map((row, index) => {
        const bar = element("i");
        bar.style.width = `${100 * parts[index]}%`;
        bar.style.background = lookOf(row.runtime, names).color;
        return element(
            "div",
            { className: row.ours ? "ours" : "" },
            element("span", { textContent: row.label }),
            element("span", {}, bar),
            element("span", { textContent: textOf(row, view) }),
        );
    });
    const caption = `${title}: ${view.unit}${log ? ", logarithmic" : ""}`;
    return element(
        "figure",
        { className: "plain" },
        element("figcaption", { textContent: caption }),
        ...lines,
    );
}
