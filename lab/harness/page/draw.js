// Draws rows with ECharts, as SVG, and many samples on a canvas.
"use strict";

const PALETTE = [
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#8c564b",
    "#7f7f7f",
    "#9467bd",
    "#bcbd22",
    "#17becf",
    "#e377c2",
    "#1f9e4a",
    "#a0522d",
    "#4b0082",
    "#b22222",
];
const SYMBOLS = ["circle", "rect", "triangle", "diamond", "pin", "arrow"];

function colours() {
    const style = getComputedStyle(document.documentElement);
    return {
        text: style.getPropertyValue("--text").trim(),
        line: style.getPropertyValue("--line").trim(),
        back: style.getPropertyValue("--back").trim(),
    };
}

// A runtime keeps its colour and symbol in every chart and under every filter.
function lookOf(name, names) {
    const index = Math.max(0, names.indexOf(name));
    return {
        color: PALETTE[index % PALETTE.length],
        symbol: SYMBOLS[Math.floor(index / PALETTE.length) % SYMBOLS.length],
    };
}

function frame(title, colour) {
    const words = { color: colour.text };
    return {
        title: { text: title, left: 0, textStyle: { ...words, fontSize: 14 } },
        backgroundColor: colour.back,
        animation: false,
        textStyle: words,
        tooltip: { trigger: "item", confine: true },
        aria: { enabled: true },
    };
}

function axis(kind, name, colour) {
    return {
        type: kind,
        name,
        nameLocation: "middle",
        nameGap: 28,
        axisLabel: { color: colour.text },
        nameTextStyle: { color: colour.text },
        axisLine: { lineStyle: { color: colour.line } },
        splitLine: { lineStyle: { color: colour.line } },
        scale: kind === "value",
    };
}

function intervals(points, horizontal) {
    // points: [position, low, high]; without low and high nothing is drawn
    return {
        type: "custom",
        silent: true,
        z: 5,
        tooltip: { show: false },
        encode: horizontal ? { x: [1, 2], y: 0 } : { x: 0, y: [1, 2] },
        data: points.filter(([, low]) => low !== undefined),
        renderItem: (_, api) => {
            const at = (index) =>
                horizontal
                    ? api.coord([api.value(index), api.value(0)])
                    : api.coord([api.value(0), api.value(index)]);
            const [low, high] = [at(1), at(2)],
                [across, along] = horizontal ? [0, 4] : [4, 0],
                style = { stroke: colours().text, lineWidth: 1.2 };
            const line = (a, b) => ({
                type: "line",
                shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] },
                style,
            });
            const cap = (p) => line([p[0] - across, p[1] - along], [p[0] + across, p[1] + along]);
            return { type: "group", children: [line(low, high), cap(low), cap(high)] };
        },
    };
}

const BIG = 5000,
    PAINTED = 500; // samples: above BIG, ECharts draws plain dots; above PAINTED, SVG is slow
const samplesIn = (rows) => rows.reduce((sum, row) => sum + row.samples.length, 0);

// The height of a chart of these rows, and the function that draws it.
function sizeOf(shape, rows) {
    return {
        height: shape === bars ? 70 + 24 * rows.length : 420,
        renderer: shape === scatter && samplesIn(rows) > PAINTED ? "canvas" : "svg",
    };
}

// The start of the bars on a logarithmic axis: the power of ten below all bars. The default of
// ECharts is 1.
function startOfBars(rows, view) {
    const least = Math.min(
        ...rows
            .map((row) => (view.spread ? row.low : undefined) ?? row[view.field])
            .filter((value) => value > 0),
    );
    return Number.isFinite(least) ? { startValue: 10 ** Math.floor(Math.log10(least)) } : {};
}

// rows: the rows of one job. `value` is the field. With `spread` it has low and high; with
// `ordered` the first row belongs at the top.
function bars(title, rows, view, names, log) {
    const colour = colours(),
        sorted = view.ordered
            ? [...rows].reverse()
            : [...rows].sort((a, b) => b[view.field] - a[view.field]);
    const label = (row) => row.label,
        kind = log ? "log" : "value";
    return {
        ...frame(title, colour),
        grid: { left: 8, right: 60, top: 30, bottom: 40, containLabel: true },
        xAxis: {
            ...axis(kind, view.unit, colour),
            scale: false,
            ...(log ? startOfBars(sorted, view) : {}),
        },
        yAxis: { ...axis("category", "", colour), data: sorted.map(label) },
        series: [
            {
                type: "bar",
                data: sorted.map((row) => ({
                    value: row[view.field],
                    itemStyle: { color: lookOf(row.runtime, names).color },
                })),
                label: {
                    show: true,
                    position: "right",
                    color: colour.text,
                    formatter: (one) => digits(one.value),
                },
            },
            ...(view.spread
                ? [
                      intervals(
                          sorted.map((row, index) => [index, row.low, row.high]),
                          true,
                      ),
                  ]
                : []),
        ],
    };
}

function lines(title, rows, view, names, log) {
    const colour = colours(),
        groups = Map.groupBy(rows, (row) => row.line),
        series = [];
    for (const [name, group] of groups) {
        const sorted = [...group].sort((a, b) => a.threads - b.threads),
            look = lookOf(group[0].runtime, names);
        series.push({
            type: "line",
            name,
            data: sorted.map((row) => [row.threads, row[view.field]]),
            symbol: look.symbol,
            symbolSize: 8,
            itemStyle: { color: look.color },
            lineStyle: { color: look.color, width: group[0].ours ? 3 : 1.5 },
        });
        if (view.spread)
            series.push(
                intervals(
                    sorted.map((row) => [row.threads, row.low, row.high]),
                    false,
                ),
            );
    }
    return {
        ...frame(title, colour),
        grid: { left: 60, right: 20, top: 90, bottom: 45 },
        legend: { type: "scroll", top: 26, textStyle: { color: colour.text } },
        xAxis: { ...axis("value", "threads", colour), minInterval: 1 },
        yAxis: { ...axis(log ? "log" : "value", view.unit, colour), nameGap: 45 },
        series,
    };
}

function scatter(title, rows, view, names, log) {
    const colour = colours(),
        many = samplesIn(rows) > BIG;
    const series = rows.map((row) => ({
        type: "scatter",
        name: row.label,
        large: many,
        largeThreshold: 1000,
        symbolSize: many ? 3 : 7,
        itemStyle: { color: lookOf(row.runtime, names).color },
        data: row.samples.map((sample) =>
            many
                ? [sample[BLOCK] + 1, sample[SECONDS]]
                : {
                      value: [sample[BLOCK] + 1, sample[SECONDS]],
                      symbol: sample[OUTLIER] ? "emptyTriangle" : lookOf(row.runtime, names).symbol,
                      symbolSize: sample[OUTLIER] ? 11 : 7,
                  },
        ),
    }));
    if (many) {
        // dots of a large series are all alike, so those far off are drawn over them
        for (const row of rows.filter((row) => row.outliers))
            series.push({
                type: "scatter",
                name: row.label,
                symbol: "triangle",
                symbolSize: 11,
                z: 5,
                itemStyle: {
                    color: "transparent",
                    borderColor: lookOf(row.runtime, names).color,
                    borderWidth: 2,
                },
                data: row.samples
                    .filter((sample) => sample[OUTLIER])
                    .map((sample) => [sample[BLOCK] + 1, sample[SECONDS]]),
            });
    }
    const noisy = [...new Set(rows.flatMap((row) => row.noisy))];
    if (series.length)
        series[0].markArea = {
            silent: true,
            itemStyle: { color: "rgba(128,128,128,.2)" },
            data: noisy.map((number) => [{ xAxis: number + 0.5 }, { xAxis: number + 1.5 }]),
        };
    return {
        ...frame(title, colour),
        grid: { left: 60, right: 20, top: 90, bottom: 45 },
        legend: { type: "scroll", top: 26, textStyle: { color: colour.text } },
        xAxis: { ...axis("value", "block (grey: noisy)", colour), minInterval: 1 },
        yAxis: { ...axis(log ? "log" : "value", view.unit, colour), nameGap: 45 },
        series,
    };
}
