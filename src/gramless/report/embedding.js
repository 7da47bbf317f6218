// The embedding in two and in three dimensions: which components are shown, and what colours them, is chosen above it.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("embedding-data").textContent);
  const font = { family: 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif', color: "#1d2733" };
  // Plotly reads a few tags in texts; those of the data are no tags.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const brief = (value) => (Number.isInteger(value) ? String(value) : Number(value).toPrecision(4));

  const hover = data.rows.map((row, i) => {
    const lines = [`row ${row}`];
    if (data.classes) lines.push(`${plain(data.classes.title)}: <b>${plain(data.classes.names[data.classes.codes[i]])}</b>`);
    data.scores.slice(0, 3).forEach((scores, j) => lines.push(`component ${j + 1}: ${brief(scores[i])}`));
    data.columns.slice(0, 6).forEach((column) => lines.push(`${plain(column.name)}: ${brief(column.values[i])}`));
    return lines.join("<br>");
  });

  const everything = data.rows.map((_, i) => i);
  const groups = (colour) => {
    if (colour === "class")
      return data.classes.names.map((name, code) => ({
        name: plain(name),
        members: everything.filter((i) => data.classes.codes[i] === code),
        marker: (symbols) => ({
          color: data.palette[code % data.palette.length],
          symbol: symbols[code % symbols.length],
        }),
      }));
    const column = data.columns[Number(colour)];
    const shade = column === undefined ? { color: "#0072B2" } : {
      color: column.values,
      colorscale: "Cividis",
      showscale: true,
      colorbar: { title: { text: plain(column.name) }, thickness: 12, len: 0.7 },
    };
    return [{ name: "rows", members: everything, marker: () => shade }];
  };

  const flat = ["circle", "square", "diamond", "triangle-up", "x", "triangle-down", "star", "cross"];
  const solid = ["circle", "square", "diamond", "cross", "circle-open", "square-open", "diamond-open"];
  const take = (values, members) => members.map((i) => values[i]);
  const size = Math.max(4, Math.min(8, 240 / Math.sqrt(data.rows.length)));

  const traces = (kind, axes, colour) => groups(colour).map((group) => {
    const trace = {
      type: kind,
      mode: "markers",
      name: group.name,
      x: take(data.scores[axes[0]], group.members),
      y: take(data.scores[axes[1]], group.members),
      text: take(hover, group.members),
      hovertemplate: "%{text}<extra></extra>",
      showlegend: colour === "class",
      marker: { opacity: 0.8, ...group.marker(kind === "scatter" ? flat : solid), line: { width: 0 } },
    };
    if (kind === "scatter") trace.marker.size = size;
    else { trace.z = take(data.scores[axes[2]], group.members); trace.marker.size = 0.48 * size; }
    return trace;
  });

  const title = (j) => ({ title: { text: data.titles[j] }, zerolinecolor: "#d9dee4", gridcolor: "#eef1f4" });
  const legend = { itemsizing: "constant", title: { text: data.classes ? plain(data.classes.title) : "" } };
  const picker = (id) => document.getElementById(id);
  const draw = () => {
    const colour = picker("colour").value;
    const across = Number(picker("across").value), up = Number(picker("up").value);
    Plotly.react("embedding-2d", traces("scatter", [across, up], colour), {
      font, legend, height: 560, margin: { l: 64, r: 16, t: 36, b: 56 }, hoverlabel: { align: "left" },
      xaxis: title(across), yaxis: title(up), plot_bgcolor: "#fff",
    }, data.config);
    if (data.scores.length < 3) return;
    Plotly.react("embedding-3d", traces("scatter3d", [0, 1, 2], colour), {
      font, legend, height: 620, margin: { l: 0, r: 0, t: 36, b: 8 }, hoverlabel: { align: "left" },
      scene: { xaxis: title(0), yaxis: title(1), zaxis: title(2), aspectmode: "data",
        camera: { eye: { x: 1.35, y: 1.35, z: 0.8 }, center: { x: 0, y: 0, z: -0.14 } } },
    }, data.config);
  };

  const option = (select, value, text) => {
    const made = document.createElement("option");
    made.value = value;
    made.textContent = text;
    select.append(made);
  };
  if (data.classes) option(picker("colour"), "class", data.classes.title);
  else option(picker("colour"), "none", "nothing");
  data.columns.forEach((column, j) => option(picker("colour"), String(j), column.name));
  for (const id of ["across", "up"]) data.titles.forEach((text, j) => option(picker(id), String(j), text));
  picker("up").value = "1";
  for (const id of ["colour", "across", "up"]) picker(id).addEventListener("change", draw);
  draw();
})();
