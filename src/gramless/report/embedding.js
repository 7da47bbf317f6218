// The embedding in two and in three dimensions: which components are shown, and what colours them, is chosen above it.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("embedding-data").textContent);
  const font = { family: 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif', color: "#1d2733" };
  // Plotly reads a few tags in texts; those in the data must be escaped.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const brief = (value) => value === null ? "missing" : Number.isInteger(value) ? String(value) : Number(value).toPrecision(4);
  const scale = (colors) => colors.map((color, j) => [j / (colors.length - 1), color]);
  const picker = (id) => document.getElementById(id);
  const plane = picker("embedding-2d");
  const narrow = () => plane.clientWidth < 600;

  const describe = (row, i) => {
    const lines = [`row ${row}`];
    if (data.classes) lines.push(`${plain(data.classes.title)}: <b>${plain(data.classes.names[data.classes.codes[i]])}</b>`);
    data.scores.slice(0, 3).forEach((scores, j) => lines.push(`component ${j + 1}: ${brief(scores[i])}`));
    data.columns.slice(0, 6).forEach((column) => lines.push(`${plain(column.name)}: ${brief(column.values[i])}`));
    return lines.join("<br>");
  };
  const hover = data.rows.map(describe);
  const size = Math.max(4, Math.min(8, 240 / Math.sqrt(data.rows.length)));

  // What is drawn: places `at`, a class code or a value for each (null: missing), texts, and for cells sizes.
  const colours = (colour) => colour === "class" ? data.classes.codes : data.columns[Number(colour)]?.values;
  const marksOfRows = (axes, colour, rows) => ({
    at: axes.map((axis) => rows.map((i) => data.scores[axis][i])),
    values: colours(colour) && rows.map((i) => colours(colour)[i]),
    texts: rows.map((i) => hover[i]),
  });

  // Rows in square cells of `side` pixels: their number; with labels their most frequent class, or their mean.
  const side = 7;
  const marksOfCells = (axes, colour, rows, [[left, right], [low, high]]) => {
    const [x, y] = axes.map((axis) => data.scores[axis]);
    const across = Math.max(10, Math.floor((plane.clientWidth - 100) / side)), up = Math.floor(420 / side);
    const cells = new Map();
    const values = colours(colour);
    for (const i of rows) {
      const place = [Math.floor((x[i] - left) / (right - left) * across), Math.floor((y[i] - low) / (high - low) * up)];
      const key = place[1] * (across + 1) + place[0];
      if (!cells.has(key)) cells.set(key, { place, count: 0, found: [] });
      const cell = cells.get(key);
      cell.count += 1;
      if (values && values[i] !== null) cell.found.push(values[i]);
    }
    const all = [...cells.values()], most = Math.log1p(all.reduce((top, cell) => Math.max(top, cell.count), 1));
    const told = all.map((cell) => describeCell(cell, colour));
    return {
      at: [
        all.map((cell) => left + (cell.place[0] + 0.5) * (right - left) / across),
        all.map((cell) => low + (cell.place[1] + 0.5) * (high - low) / up),
      ],
      values: told.map(([value]) => value),
      texts: told.map(([, text]) => text),
      sizes: all.map((cell) => side * (values ? 0.4 + 0.6 * Math.log1p(cell.count) / most : 1)),
      counts: !values,
    };
  };
  const describeCell = ({ count, found }, colour) => {
    const rows = `${count.toLocaleString("en")} row${count > 1 ? "s" : ""}`;
    if (colour === "none") return [Math.log10(count), rows];
    if (colour !== "class") {
      const mean = found.length ? found.reduce((sum, value) => sum + value, 0) / found.length : null;
      return [mean, `${rows}<br>mean of ${plain(data.columns[Number(colour)].name)}: ${brief(mean)}`];
    }
    const votes = new Map();
    for (const code of found) votes.set(code, (votes.get(code) ?? 0) + 1);
    const [code, most] = [...votes].reduce((best, one) => (one[1] > best[1] ? one : best));
    return [code, `${rows}<br>${Math.round(100 * most / count)} % <b>${plain(data.classes.names[code])}</b>`];
  };

  const bar = (title) => ({
    title: { text: plain(title), side: narrow() ? "top" : "right" }, thickness: 12,
    ...(narrow() ? { orientation: "h", y: -0.3, yanchor: "top", len: 0.9 } : { len: 0.7 }),
  });
  const countBar = (most) => {
    const ticks = [1, 2, 5].flatMap((j) => [0, 1, 2, 3, 4, 5, 6].map((power) => j * 10 ** power)).filter((count) => count <= most);
    return { ...bar("rows"), tickvals: ticks.map(Math.log10), ticktext: ticks.map(String) };
  };
  // Marks in groups, which the legend names: classes, or those with and without a value.
  const groups = (marks, colour) => {
    const members = (test) => marks.texts.map((_, i) => i).filter(test);
    if (colour === "class")
      return data.classes.names.map((name, code) => ({
        name: plain(name), named: true, members: members((i) => marks.values[i] === code), below: data.classes.grey[code],
        marker: { color: data.classes.colors[code], symbol: data.classes.markers[code] },
      }));
    if (!marks.values) return [{ name: "rows", members: members(() => true), marker: { color: "#0072B2" } }];
    const present = members((i) => marks.values[i] !== null), missing = members((i) => marks.values[i] === null);
    const color = present.map((i) => marks.values[i]);
    const most = color.reduce((top, value) => Math.max(top, value), -Infinity);
    const shade = { color, showscale: present.length > 0, colorscale: scale(marks.counts ? data.density : data.scale) };
    shade.colorbar = marks.counts ? countBar(10 ** most) : bar((marks.sizes ? "mean of " : "") + data.columns[Number(colour)].name);
    return [
      { name: "rows", members: present, marker: shade },
      { name: "missing", named: missing.length > 0, members: missing, below: true, marker: { color: data.missing } },
    ];
  };

  const traces = (kind, marks, colour) => groups(marks, colour).map((group) => {
    const take = (values) => group.members.map((i) => values[i]);
    const [x, y, z] = marks.at.map(take);
    const trace = {
      type: kind, mode: "markers", name: group.name, x, y, ...(z ? { z } : {}),
      text: take(marks.texts), hovertemplate: "%{text}<extra></extra>", showlegend: group.named === true,
      zorder: group.below ? -1 : 0,
      marker: { opacity: 0.8, ...group.marker, size: kind === "scatter" ? size : 0.48 * size, line: { width: 0 } },
    };
    if (kind === "scatter3d") delete trace.zorder;
    if (marks.sizes) Object.assign(trace.marker, { size: take(marks.sizes), symbol: "square", opacity: 1 });
    return trace;
  });

  const ends = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const planeTraces = (axes, colour, box) => {
    const [x, y] = axes.map((axis) => data.scores[axis]);
    const within = (value, [low, high]) => value >= Math.min(low, high) && value <= Math.max(low, high);
    const rows = data.rows.map((_, i) => i);
    const seen = box ? rows.filter((i) => within(x[i], box[0]) && within(y[i], box[1])) : rows;
    if (seen.length <= data.dense) return traces("scatter", marksOfRows(axes, colour, seen), colour);
    return traces("scatter", marksOfCells(axes, colour, seen, box ?? [ends(x), ends(y)]), colour);
  };

  const title = (j) => ({ title: { text: data.titles[j] }, zerolinecolor: "#d9dee4", gridcolor: "#eef1f4" });
  const legend = () => ({
    itemsizing: "constant", title: { text: data.classes ? plain(data.classes.title) : "" },
    ...(narrow() ? { orientation: "h", y: -0.18, yanchor: "top" } : {}),
  });
  const choice = () => ({
    colour: picker("colour").value, axes: [Number(picker("across").value), Number(picker("up").value)], equal: picker("equal").checked,
  });
  let box = null; // the ranges that a reader zoomed into
  const drawPlane = () => {
    const { colour, axes, equal } = choice();
    const uirevision = `${axes} ${equal}`; // Plotly keeps these ranges while axes are the same
    Plotly.react(plane, planeTraces(axes, colour, box), {
      font, legend: { ...legend(), uirevision: colour }, height: 560, margin: { l: 64, r: 16, t: 36, b: 56 }, hoverlabel: { align: "left" },
      xaxis: { ...title(axes[0]), uirevision },
      yaxis: { ...title(axes[1]), uirevision, ...(equal ? { scaleanchor: "x" } : {}) },
      plot_bgcolor: "#fff",
    }, data.config);
  };
  const draw = () => {
    drawPlane();
    if (data.scores.length < 3) return;
    const { colour } = choice();
    const marks = marksOfRows([0, 1, 2], colour, data.rows.map((_, i) => i));
    Plotly.react("embedding-3d", traces("scatter3d", marks, colour), {
      font, legend: legend(), height: 620, margin: { l: 0, r: 0, t: 36, b: 8 }, hoverlabel: { align: "left" },
      scene: { xaxis: title(0), yaxis: title(1), zaxis: title(2), aspectmode: "data",
        camera: { eye: narrow() ? { x: 2, y: 2, z: 1.2 } : { x: 1.35, y: 1.35, z: 0.8 }, center: { x: 0, y: 0, z: -0.14 } } },
    }, data.config);
  };

  const option = (select, value, text) => {
    const made = document.createElement("option");
    made.value = value;
    made.textContent = text;
    select.append(made);
  };
  if (data.classes) option(picker("colour"), "class", data.classes.title);
  option(picker("colour"), "none", data.rows.length > data.dense ? "density" : "none");
  data.columns.forEach((column, j) => option(picker("colour"), String(j), column.name));
  if (data.continuous) picker("colour").value = "0";
  for (const id of ["across", "up"]) data.titles.forEach((text, j) => option(picker(id), String(j), text));
  picker("up").value = "1";
  picker("colour").addEventListener("change", draw);
  for (const id of ["across", "up", "equal"]) picker(id).addEventListener("change", () => { box = null; draw(); });
  draw();
  let before = narrow();
  window.addEventListener("resize", () => { if (narrow() !== before) { before = narrow(); draw(); } });
  if (data.rows.length > data.dense)
    plane.on("plotly_relayout", () => {
      const { xaxis, yaxis } = plane.layout;
      box = xaxis.autorange ? null : [xaxis.range, yaxis.range];
      drawPlane();
    });
})();
