// The panels of the contours, laid out for the width of the page, with equal scales or filled.
"use strict";
(() => {
  const plot = document.getElementById("contour-plot"), equal = document.getElementById("contour-equal");
  const { aspect, shape, names } = plot.layout.meta;
  const count = plot.layout.annotations.length;
  equal.checked = plot.layout.meta.equal;
  const arrange = () => {
    const columns = Math.min(count, Math.max(1, Math.min(3, Math.floor(plot.clientWidth / 260))));
    const rows = Math.ceil(count / columns);
    const margin = { l: 64, r: 16, t: 36, b: 56 }, gap = 44, above = 56;
    const width = (plot.clientWidth - margin.l - margin.r - gap * (columns - 1)) / columns;
    const tall = Math.max(60, Math.min(1.6 * width, width * (equal.checked ? shape : 0.8)));
    const inside = { width: columns * width + (columns - 1) * gap, height: rows * tall + (rows - 1) * above };
    const change = { height: inside.height + margin.t + margin.b, margin };
    for (let j = 0; j < count; j += 1) {
      const [x, y] = ["xaxis", "yaxis"].map((axis) => axis + (j ? j + 1 : ""));
      const left = (j % columns) * (width + gap) / inside.width, top = 1 - Math.floor(j / columns) * (tall + above) / inside.height;
      change[`${x}.domain`] = [left, Math.min(1, left + width / inside.width)];
      change[`${y}.domain`] = [Math.max(0, top - tall / inside.height), top];
      change[`${y}.scaleanchor`] = equal.checked ? x.replace("axis", "") : null;
      change[`${y}.scaleratio`] = aspect;
      change[`${x}.title.text`] = j + columns >= count ? names[0] : "";
      change[`${y}.title.text`] = j % columns === 0 ? names[1] : "";
      change[`annotations[${j}].x`] = left + width / inside.width / 2;
      change[`annotations[${j}].y`] = top;
    }
    Plotly.relayout(plot, change);
  };
  equal.addEventListener("change", arrange);
  let before = plot.clientWidth;
  window.addEventListener("resize", () => { if (plot.clientWidth !== before) { before = plot.clientWidth; arrange(); } });
  arrange();
})();
