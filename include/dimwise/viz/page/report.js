R"js(
"use strict";
(() => {
const $ = id => document.getElementById(id);
const page = JSON.parse($("data").textContent), live = page.live;
let data = page;  // with what a run adds
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

// A pixel for each value, shown as squares.
const pen = document.createElement("canvas").getContext("2d");
function rgb(name) {
  pen.fillStyle = colour(name);
  const n = parseInt(pen.fillStyle.slice(1), 16);
  return [n >> 16, n >> 8 & 255, n & 255];
}
function paint(canvas, values, rows, columns, size) {
  canvas.width = Math.max(1, columns);
  canvas.height = Math.max(1, rows);
  canvas.style.imageRendering = columns > 100 ? "auto" : "pixelated";  // smaller squares would be left out
  if (size) canvas.style.width = `${columns * Math.min(48, Math.max(1, Math.floor(size / Math.max(rows, columns))))}px`;
  const box = rgb("--box"), heat = rgb("--heat"), cold = rgb("--cold"), odd = rgb("--k5");
  const c = canvas.getContext("2d"), pixels = c.createImageData(canvas.width, canvas.height);
  let most = 1e-30;
  for (const v of values) if (finite(v)) most = Math.max(most, Math.abs(v));
  for (let i = 0; i < rows * columns; ++i) {
    const v = values[i], full = finite(v) ? (v < 0 ? cold : heat) : odd, s = finite(v) ? Math.abs(v) / most : 1;
    for (let k = 0; k < 3; ++k) pixels.data[4 * i + k] = box[k] + s * (full[k] - box[k]);
    pixels.data[4 * i + 3] = 255;
  }
  c.putImageData(pixels, 0, 0);
}
const now = () => data.weights[layer];
const map = (w, h) => w.values.slice(h * w.rows * w.columns, (h + 1) * w.rows * w.columns);
const row = h => { const w = now(), at = (h * w.rows + query) * w.columns; return w.values.slice(at, at + w.columns); };
const rowWord = (w, i) => w.rowWords[i] ?? String(i), columnWord = (w, j) => w.columnWords[j] ?? String(j);
const chance = (p, i, j) => p.values[i * p.columns + j];
const likely = (p, i, count) =>
  Array.from({length: p.columns}, (_, j) => j).sort((a, b) => chance(p, i, b) - chance(p, i, a)).slice(0, count);
const isRight = (p, i) => i + 1 < p.rowWords.length && columnWord(p, likely(p, i, 1)[0]) === p.rowWords[i + 1];
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
  $("expects").textContent = data.predictions.filter(p => query < p.rows).map(p => `${p.name}: ` +
    likely(p, query, 3).map(j => `${columnWord(p, j)} ${number(chance(p, query, j))}`).join(", ")).join("; ");
}
// The query comes into sight in its own box; the page stays where it is.
function toQuery() {
  const box = $("queries").closest(".scroll"), at = query * 24;
  if (at < box.scrollTop || at + 40 > box.scrollTop + box.clientHeight) box.scrollTop = at - box.clientHeight / 2;
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
    b.onfocus = b.onclick = () => { query = i; showRow(); };
    // A list that scrolls below a mouse at rest is not pointed at.
    b.onmousemove = e => { if (query !== i && (e.movementX || e.movementY)) b.onclick(); };
    return b;
  }));
  $("keys").replaceChildren(...Array.from({length: w.columns}, (_, j) => make("span", columnWord(w, j))));
  const values = map(w, head), canvas = $("matrix");
  paint(canvas, values, w.rows, w.columns, 420);
  canvas.setAttribute("aria-label", `weights of ${w.name}, ${w.places[head]}: ${w.rows} rows, ${w.columns} columns`);
  $("cell").textContent = `rows ${w.rowName}, columns ${w.columnName}`;
  canvas.onmousemove = e => {
    const r = canvas.getBoundingClientRect(), k = w.columns / r.width;
    const j = Math.floor((e.clientX - r.left) * k), i = Math.floor((e.clientY - r.top) * k);
    if (i < 0 || j < 0 || i >= w.rows || j >= w.columns) return;
    $("cell").textContent = `${rowWord(w, i)} → ${columnWord(w, j)}: ${number(values[i * w.columns + j])}`;
    if (i !== query) { query = i; showRow(); toQuery(); }
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
    paint(make("canvas", undefined, b), map(w, h), w.rows, w.columns);
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
function showSteps() {
  const open = new Set([...$("step-list").children].filter(d => d.open).map(d => d.dataset.step));
  $("step-list").replaceChildren(...data.steps.map(s => {
    const d = make("details");
    d.dataset.step = s.number;
    d.open = open.has(d.dataset.step);
    make("summary", `${s.number}. ${s.words}`, d);
    make("p", s.result, d);
    make("pre", s.table, d).tabIndex = 0;
    return d;
  }));
}
function showNext() {
  $("next").replaceChildren(...data.predictions.map(p => {
    const list = make("ol");
    list.className = p.rows > 64 ? "next scroll" : "next";
    list.setAttribute("aria-label", p.name);
    if (p.rows > 64) list.tabIndex = 0;
    for (let i = 0; i < p.rows; ++i) {
      const j = likely(p, i, 1)[0], v = chance(p, i, j);
      const e = make("li", `${rowWord(p, i)} → ${columnWord(p, j)} ${finite(v) ? v.toFixed(2) : v}`, list);
      if (isRight(p, i)) e.append(" ✓");
      make("i", undefined, e).style.width = `${100 * share(v, 1)}%`;
    }
    return list;
  }));
}
function all() {
  for (const id of ["weights", "masks", "steps", "predictions"]) $(id).hidden = data[id].length === 0;
  showNext();
  if (data.weights.length) {
    layer = Math.min(layer, data.weights.length - 1);
    head = Math.min(head, now().places.length - 1);
    other = Math.min(other, now().places.length - 1);
    options($("layer"), data.weights.map((w, i) => [i, w.name]), layer);
    showModel();
    showHead();
  }
  showMasks();
  showSteps();
}
function show(run) {
  data = {};
  for (const list of ["weights", "masks", "steps", "predictions"]) data[list] = page[list].concat(run[list]);
  all();
}

// A run that is stored, until the page's program runs; then what a reader sets.
let ask;
const switches = (live ? live.heads : []).map(name => {
  const l = make("label", undefined, $("switches")), box = make("input", undefined, l);
  box.type = "checkbox";
  l.append(` ${name}`);
  return box;
});
const inWords = r => [r.text, `mask ${r.mask}${r.mask === "window" ? ` of ${r.width}` : ""}`,
  ...r.off.map(i => `without ${live.heads[i]}`)].join("; ");
function say(run) {
  const n = run.weights.length ? run.weights[0].rows : 0, p = run.predictions[0];
  const right = p ? [...Array(p.rows).keys()].filter(i => isRight(p, i)).length : 0;
  $("said").className = "note";
  $("said").textContent = `${n} ${live.label}` + (p ? `; what comes next is right ${right} times of ${n - 1}` : "");
}
function choose() {
  const r = live.runs[$("run").value];
  if (!r) return;
  $("text").value = r.text;
  $("mask").value = r.mask;
  $("width").value = r.width;
  switches.forEach((box, i) => { box.checked = !r.off.includes(i); });
  $("window").hidden = r.mask !== "window";
  show(r);
  say(r);
}
let lasted = 0, waiting;  // where a run takes long, typing goes before
function compute(e) {
  $("window").hidden = $("mask").value !== "window";
  $("run").value = -1;
  $("looks").removeAttribute("aria-live");  // the status says enough
  clearTimeout(waiting);
  $("live").setAttribute("aria-busy", true);
  if (lasted > 50) waiting = setTimeout(answer, 250, e); else answer(e);
}
function answer(e) {
  const began = performance.now();
  let run;
  try {
    const heads = switches.map(box => +box.checked).join("");
    run = ask([$("mask").value, $("width").value, heads, $("text").value].join("\n"));
  } catch (problem) {
    run = {error: `the program failed: ${problem}`};
    start();
  }
  for (const id of ["text", "mask", "width"]) $(id).removeAttribute("aria-invalid");
  if (run.error) {
    e.target.setAttribute("aria-invalid", true);
    $("said").className = "note wrong";
    $("said").textContent = `Not computed: ${run.error}. The page shows what it showed before.`;
  } else {
    show(run);
    say(run);
  }
  $("live").removeAttribute("aria-busy");
  lasted = performance.now() - began;
}
async function start() {
  const none = new Proxy({}, {get: (_, name) => () => { throw Error(name); }});  // of a system it needs nothing
  const bytes = Uint8Array.from(atob($("program").textContent), c => c.charCodeAt(0));
  const {exports: e} = (await WebAssembly.instantiate(bytes, {env: none, wasi_snapshot_preview1: none})).instance;
  e._initialize();
  ask = request => {
    const sent = new TextEncoder().encode(request), room = e.room(sent.length);
    new Uint8Array(e.memory.buffer, room, sent.length).set(sent);
    const answer = e.answer(), memory = new Uint8Array(e.memory.buffer);
    return JSON.parse(new TextDecoder().decode(memory.subarray(answer, memory.indexOf(0, answer))));
  };
}
$("live").hidden = !live;
if (live) {
  const storedOnly = why => { $("how").textContent = `${why}, so the page shows stored runs: choose one.`; };
  $("label").textContent = live.label;
  $("hint").textContent = live.hint;
  options($("run"), live.runs.map((r, i) => [i, inWords(r)]), 0);
  $("run").onchange = choose;
  $("live").oninput = e => { if (e.target !== $("run")) compute(e); };
  if ($("program").textContent) {
    start().then(() => {
      $("how").textContent = "The model is in this page and computes as you type, without a network.";
      document.querySelectorAll(".settings").forEach(e => { e.hidden = false; });
      $("run").prepend(new Option("as set below", -1));
    }, problem => storedOnly(`The model does not run in this browser (${problem})`));
  } else {
    storedOnly("This page was made without its program, which emscripten compiles");
  }
}
{
  $("layer").onchange = e => { layer = +e.target.value; head = 0; other = -1; showHead(); };
  $("head").onchange = e => { head = +e.target.value; showHead(); };
  $("other").onchange = e => { other = +e.target.value; showRow(); };
  $("queries").onkeydown = e => {
    const to = {ArrowDown: query + 1, ArrowUp: query - 1, Home: 0, End: now().rows - 1}[e.key];
    if (to === undefined || to < 0 || to >= now().rows) return;
    e.preventDefault();
    $("looks").setAttribute("aria-live", "polite");
    $("queries").children[to].focus();
  };
}
if (live) choose(); else all();
matchMedia("(prefers-color-scheme: dark)").onchange = all;
addEventListener("resize", () => { if (data.weights.length) showRow(); });
})();
)js"
