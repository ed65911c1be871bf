// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/report_page.hpp -- the page of a report: its layout and the program that draws the weights.
//
// Layer: viz. The program reads the data of the page as JSON, writes words as text only, and asks no network.
// Tests: tests/viz/report.test.cpp, tests/viz/report_browser.mjs
#pragma once

namespace dimwise::detail {

inline constexpr const char* report_style = R"(
*{box-sizing:border-box}body.dw{margin:0;background:var(--paper);color:var(--ink);font-size:14px;line-height:1.5}
main{max-width:1080px;margin:0 auto;padding:12px 20px 60px}h1{font-size:22px;margin:18px 0 4px}h2{font-size:16px;
margin:32px 0 8px}
h3{font-size:14px;margin:0 0 6px}p{margin:4px 0 10px;color:var(--soft)}svg.dw{font-size:12px}
.controls{display:flex;flex-wrap:wrap;gap:8px 16px;margin:8px 0}label{color:var(--soft)}
select,button{font:inherit;color:var(--ink);background:var(--box);border:1px solid var(--line);border-radius:6px;
padding:3px 8px}
button{cursor:pointer}:focus-visible{outline:3px solid var(--heat);outline-offset:1px}
.views{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:24px}
.scroll{max-height:560px;overflow:auto;border:1px solid var(--line);border-radius:8px;padding:8px}
.head{position:relative;display:flex;justify-content:space-between}
.head svg{position:absolute;inset:0;width:100%;height:100%;pointer-events:none}
.tokens{display:flex;flex-direction:column;width:34%;margin:0;padding:0;list-style:none;position:relative}
.tokens>*{height:24px;line-height:24px;padding:0 6px;border:0;background:none;text-align:left;white-space:pre;
overflow:hidden;
text-overflow:ellipsis;border-radius:4px}.queries>*{text-align:right}
.queries>[aria-pressed=true]{background:var(--box);font-weight:700}
canvas{display:block;max-width:100%;image-rendering:pixelated;border:1px solid var(--line);border-radius:4px}
.one{stroke:var(--heat)}.two{stroke:var(--cold)}
.model{display:grid;grid-template-columns:repeat(auto-fill,minmax(110px,1fr));gap:8px}
.model button{display:block;padding:6px;text-align:left;font-size:12px}
.model button[aria-pressed=true]{border-color:var(--heat);border-width:2px}
.model canvas{width:100%;margin-top:4px}
table{border-collapse:collapse}td,th{padding:1px 10px 1px 0;text-align:left;font-weight:400;white-space:pre}
td.bar{width:130px}td.bar i{display:block;height:10px;border-radius:2px;background:var(--heat)}
td.bar i+i{background:var(--cold);margin-top:2px}
pre{overflow:auto;background:var(--box);border:1px solid var(--line);border-radius:8px;padding:10px;
font:12px/1.45 inherit;font-family:inherit}
summary{cursor:pointer;padding:2px 0}details{border-top:1px solid var(--line);padding:4px 0}.wide{overflow-x:auto}
.wide svg.dw{max-width:none!important}
.masks{display:flex;flex-wrap:wrap;gap:24px}.note{min-height:1.5em}
@media print{.controls{display:none}.scroll{max-height:none;overflow:visible}}
)";

// What of the page has no data; the program fills it and hides what stays empty.
inline constexpr const char* report_body = R"(
<section id="weights" aria-labelledby="weights-title"><h2 id="weights-title">Weights</h2>
<p>Choose a layer and a head. Point at a word on the left, or reach it by Tab and the arrow keys, to see what it
looks at.</p>
<div class="controls"><label>layer <select id="layer"></select></label><label>head <select id="head"></select></label>
<label>compare with <select id="other"></select></label></div>
<div class="views"><div><h3 id="head-title">Head view</h3><div class="scroll"><div class="head">
<svg aria-hidden="true" id="lines"></svg><div class="tokens queries" id="queries" role="group"
aria-label="queries"></div>
<div class="tokens" id="keys" aria-hidden="true"></div></div></div></div>
<div><h3>All queries and keys</h3><canvas id="matrix" role="img"></canvas><p class="note" id="cell"></p>
<h3 id="row-title"></h3><div aria-live="polite"><table id="row"></table></div></div></div>
<h2>Model view</h2><p>Every head of every layer. A square is the stronger the larger the weight; rows are queries.</p>
<div class="model" id="model"></div></section>
<section id="masks" aria-labelledby="masks-title"><h2 id="masks-title">Masks, as the kernels see them</h2>
<p>Full: visible. Empty: hidden.</p><div class="masks" id="mask-list"></div></section>
<section id="steps" aria-labelledby="steps-title"><h2 id="steps-title">The tensor at each step</h2><div
id="step-list"></div></section>
)";

inline constexpr const char* report_program = R"js(
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const make = (tag, text, parent) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.append(e);
  return e;
};
const number = v => typeof v === "string" ? v : (Math.abs(v) < 0.00005 ? "0" : String(+v.toPrecision(3)));
const finite = v => typeof v === "number";
const colour = name => getComputedStyle(document.body).getPropertyValue(name).trim();
let layer = 0, head = 0, other = -1, query = 20;  // where it is seen at once

// A value for each pixel, and pixels as squares of one size.
function paint(canvas, values, rows, columns, size) {
  const scale = Math.max(1, Math.floor(size / Math.max(rows, columns, 1)));
  canvas.width = Math.max(1, columns * scale);
  canvas.height = Math.max(1, rows * scale);
  const c = canvas.getContext("2d"), heat = colour("--heat"), cold = colour("--cold"), odd = colour("--k5");
  c.fillStyle = colour("--box");
  c.fillRect(0, 0, canvas.width, canvas.height);
  let most = 0;
  for (const v of values) if (finite(v)) most = Math.max(most, Math.abs(v));
  for (let i = 0; i < values.length; ++i) {
    const v = values[i];
    if (v === 0) continue;
    c.globalAlpha = finite(v) ? Math.abs(v) / most : 1;
    c.fillStyle = finite(v) ? (v < 0 ? cold : heat) : odd;
    c.fillRect(i % columns * scale, Math.floor(i / columns) * scale, scale, scale);
  }
  return scale;
}
const now = () => data.weights[layer];
const map = (w, h) => w.values.slice(h * w.rows * w.columns, (h + 1) * w.rows * w.columns);
const row = h => { const w = now(), at = (h * w.rows + query) * w.columns; return w.values.slice(at, at + w.columns); };
const rowWord = (w, i) => w.rowWords[i] ?? String(i), columnWord = (w, j) => w.columnWords[j] ?? String(j);
const share = (v, most) => finite(v) && most > 0 ? Math.max(0, v / most) : 0;

function options(select, words, chosen) {
  select.replaceChildren(...words.map(([value, text]) => {
    const o = make("option", text);
    o.value = value;
    return o;
  }));
  select.value = chosen;
}
function showRow() {
  const w = now(), one = row(head), two = other < 0 ? null : row(other);
  const finites = one.concat(two ?? []).filter(finite), most = Math.max(1e-30, ...finites);
  [...$("queries").children].forEach((b, i) => {
    b.setAttribute("aria-pressed", i === query);
    b.tabIndex = i === query ? 0 : -1;
  });
  const height = 24, lines = [], box = $("lines").getBoundingClientRect(), x0 = box.width * 0.34, x1 = box.width * 0.66;
  const draw = (values, kind, shift) => values.forEach((v, j) => {
    const s = share(v, most);
    if (s < 0.02) return;
    const l = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [k, value] of [["x1", x0 + 2], ["x2", x1 - 2], ["y1", (query + 0.5) * height + shift], ["y2",
    (j + 0.5) * height + shift],
         ["class", kind], ["stroke-opacity", s.toFixed(3)], ["stroke-width",
    (1 + 3 * s).toFixed(2)]]) l.setAttribute(k, value);
    lines.push(l);
  });
  draw(one, "one", two ? -3 : 0);
  if (two) draw(two, "two", 3);
  $("lines").replaceChildren(...lines);
  [...$("keys").children].forEach((k, j) => {
    const s = Math.round(Math.max(share(one[j], most), two ? share(two[j], most) : 0) * 70);
    k.style.background = `color-mix(in srgb, var(--heat) ${s}%, transparent)`;
  });
  $("row-title").textContent = `${rowWord(w, query)} (${w.rowName} ${query}) looks at`;
  const best = [...one.keys()].sort((a, b) => share(Math.max(one[b], two ? two[b] : 0), 1) - share(Math.max(one[a],
    two ? two[a] : 0), 1));
  const seen = best.filter(j => !finite(one[j]) || one[j] > 0 || (two && two[j] > 0));
  $("row").replaceChildren(...seen.slice(0, 8).map(j => {
    const r = make("tr");
    make("th", columnWord(w, j), r).scope = "row";
    make("td", `${w.columnName} ${j}`, r);
    make("td", number(one[j]) + (two ? ` / ${number(two[j])}` : ""), r);
    const bar = make("td", undefined, r);
    bar.className = "bar";
    for (const v of two ? [one[j], two[j]] : [one[j]]) make("i", undefined,
    bar).style.width = `${100 * share(v, most)}%`;
    return r;
  }));
}
function showHead() {
  const w = now();
  options($("head"), w.places.map((p, i) => [i, p]), head);
  options($("other"), [[-1, "none"], ...w.places.map((p, i) => [i, p])], other);
  query = Math.max(0, Math.min(query, w.rows - 1));
  $("queries").replaceChildren(...Array.from({length: w.rows}, (_, i) => {
    const b = make("button", rowWord(w, i));
    b.type = "button";
    b.title = `${w.rowName} ${i}`;
    b.onfocus = b.onclick = b.onmouseenter = () => { query = i; showRow(); };
    return b;
  }));
  $("keys").replaceChildren(...Array.from({length: w.columns}, (_, j) => make("span", columnWord(w, j))));
  const values = map(w, head), canvas = $("matrix"), size = paint(canvas, values, w.rows, w.columns, 420);
  canvas.setAttribute("aria-label", `weights of ${w.name}, ${w.places[head]}: ${w.rows} rows, ${w.columns} columns`);
  $("cell").textContent = "";
  canvas.onmousemove = e => {
    const r = canvas.getBoundingClientRect(), k = canvas.width / r.width / size;
    const j = Math.floor((e.clientX - r.left) * k), i = Math.floor((e.clientY - r.top) * k);
    if (i < 0 || j < 0 || i >= w.rows || j >= w.columns) return;
    $("cell").textContent = `${rowWord(w, i)} → ${columnWord(w, j)}: ${number(values[i * w.columns + j])}`;
    if (i !== query) { query = i; showRow(); }
  };
  [...$("model").children].forEach(b => b.setAttribute("aria-pressed",
    +b.dataset.layer === layer && +b.dataset.head === head));
  showRow();
}
function showModel() {
  $("model").replaceChildren(...data.weights.flatMap((w, l) => w.places.map((p, h) => {
    const b = make("button", `${w.name}, ${p}`);
    b.type = "button";
    b.dataset.layer = l;
    b.dataset.head = h;
    paint(make("canvas", undefined, b), map(w, h), w.rows, w.columns, 100);
    b.onclick = () => { layer = l; head = h; other = -1; $("layer").value = l; showHead(); };
    return b;
  })));
}
function showMasks() {
  $("mask-list").replaceChildren(...data.masks.map(m => {
    const f = make("figure"), c = make("canvas", undefined, f);
    f.style.margin = 0;
    paint(c, m.values.slice(0, m.rows * m.columns), m.rows, m.columns, 240);
    c.setAttribute("role", "img");
    const shown = m.values.filter(v => v).length;
    c.setAttribute("aria-label", `${m.name}: ${shown} of ${m.values.length} visible`);
    make("figcaption",
    `${m.name}: ${shown} of ${m.values.length} visible; rows ${m.rowName}, columns ${m.columnName}`, f);
    return f;
  }));
}
for (const s of data.steps) {
  const d = make("details", undefined, $("step-list"));
  make("summary", `${s.number}. ${s.words}`, d);
  make("p", s.result, d);
  make("pre", s.table, d).tabIndex = 0;
}
for (const id of ["weights", "masks", "steps"]) $(id).hidden = data[id].length === 0;
if (data.weights.length) {
  options($("layer"), data.weights.map((w, i) => [i, w.name]), 0);
  $("layer").onchange = e => { layer = +e.target.value; head = 0; other = -1; showHead(); };
  $("head").onchange = e => { head = +e.target.value; showHead(); };
  $("other").onchange = e => { other = +e.target.value; showRow(); };
  $("queries").onkeydown = e => {
    const to = {ArrowDown: query + 1, ArrowUp: query - 1, Home: 0, End: now().rows - 1}[e.key];
    if (to === undefined || to < 0 || to >= now().rows) return;
    e.preventDefault();
    $("queries").children[to].focus();
  };
}
const all = () => { if (data.weights.length) { showModel(); showHead(); } showMasks(); };
all();
matchMedia("(prefers-color-scheme: dark)").onchange = all;
addEventListener("resize", () => { if (data.weights.length) showRow(); });
})();
)js";

}  // namespace dimwise::detail
