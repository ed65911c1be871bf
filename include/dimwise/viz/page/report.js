R"js(
"use strict";
(() => {
const $ = id => document.getElementById(id);
const page = JSON.parse($("data").textContent), live = page.live;
const lists = ["weights", "masks", "steps", "predictions"];
const make = (tag, text, parent) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.append(e);
  return e;
};
const number = v => typeof v === "string" ? v : (Math.abs(v) < 0.00005 ? "0" : String(+v.toPrecision(3)));
const finite = v => typeof v === "number";
const order = v => finite(v) ? v : (v === "∞" ? Infinity : -Infinity);
const percent = v => `${Math.round(100 * v)} %`;
const short = (s, most) => [...s].length > most ? `${[...s].slice(0, most - 1).join("")}…` : s;
// How many values are not finite, by kind: "1 NaN, 2 -∞ of 64 values"; empty if all are finite.
function special(values) {
  const kinds = ["NaN", "∞", "-∞"].map(kind => [values.filter(v => v === kind).length, kind]).filter(([n]) => n);
  return kinds.length ? `${kinds.map(k => k.join(" ")).join(", ")} of ${values.length} values` : "";
}
const colour = name => getComputedStyle(document.body).getPropertyValue(name).trim();

// Results: of the page alone, or together with one of `runs`. A is shown; B, if there is one, is compared with it.
const merged = run => run && {...run, ...Object.fromEntries(lists.map(l => [l, page[l].concat(run[l])]))};
const inWords = r => [short(r.text, 24), `mask ${r.mask}${r.mask === "window" ? ` of ${r.width}` : ""}`,
  ...r.off.map(i => `without ${live.heads[i]}`)].join("; ");
const runs = (live ? live.runs : []).map(r => ({...r, name: inWords(r)})).concat(page.results ?? []);
let data = page, rival;
let layer = -1, head = 0, other = -1, query = 20;  // 20 is in sight

const now = () => data.weights[layer];
// The map beside that of the layer and the head: of the other result, or of the other head.
function beside() {
  if (other >= 0) return {w: now(), head: other};
  const w = rival && (rival.weights.find(w => w.name === now().name) ?? rival.weights[layer]);
  return w && head < w.places.length ? {w, head} : undefined;
}
const alike = (v, w) => v.rows === w.rows && v.columns === w.columns;
const map = (w, h) => w.values.slice(h * w.rows * w.columns, (h + 1) * w.rows * w.columns);
const row = ({w, head}) => query < w.rows ? map(w, head).slice(query * w.columns, (query + 1) * w.columns) : [];
const minus = (a, b) => finite(a) && finite(b) ? a - b : "NaN";
const rowWord = (w, i) => w.rowWords[i] ?? String(i), columnWord = (w, j) => w.columnWords[j] ?? String(j);
const chance = (p, i, j) => p.values[i * p.columns + j];
const likely = (p, i, count) => Array.from({length: p.columns}, (_, j) => j)
  .sort((a, b) => order(chance(p, i, b)) - order(chance(p, i, a)) || a - b).slice(0, count);
const isRight = (p, i) => i + 1 < p.rowWords.length && columnWord(p, likely(p, i, 1)[0]) === p.rowWords[i + 1];
const share = (v, most) => finite(v) && most > 0 ? Math.min(1, Math.max(0, v / most)) : 0;

// The value at the end of a scale: 1 for the page, or the largest weight if that is more; or the largest of `values`.
const largest = values => values.reduce((most, v) => finite(v) ? Math.max(most, Math.abs(v)) : most, 0);
const known = new WeakMap();
const once = (w, what, of) => {
  const all = known.get(w) ?? {};
  known.set(w, all);
  return all[what] ??= of(w);
};
const relative = () => $("scale").value === "relative";
const limit = values => relative() ? largest(values) || 1 :
  Math.max(1, ...data.weights.concat(rival ? rival.weights : []).map(w => once(w, "top", w => largest(w.values))));

// For each head the mean entropy of its rows, relative to equal weights on the keys that a head of the layer sees; NaN
// if the rows are not probabilities.
const spread = w => once(w, "spread", () => {
  const heads = w.places.map(() => [0, 0]), at = (h, i, j) => w.values[(h * w.rows + i) * w.columns + j];
  for (let i = 0; i < w.rows; ++i) {
    let seen = 0;
    for (let j = 0; j < w.columns; ++j) seen += heads.some((_, h) => at(h, i, j) !== 0);
    if (seen > 1) heads.forEach((sum, h) => {
      let all = 0, entropy = 0, fair = true;
      for (let j = 0; j < w.columns; ++j) {
        const p = at(h, i, j);
        if (!(finite(p) && p >= 0)) fair = false;
        else if (p > 0) { all += p; entropy -= p * Math.log(p); }
      }
      if (fair && Math.abs(all - 1) < 0.01) { sum[0] += entropy / Math.log(seen); ++sum[1]; }
    });
  }
  return heads.map(([sum, rows]) => sum / rows);
});
const mean = list => list.reduce((sum, v) => sum + v, 0) / list.length;
const spreadOf = w => mean(spread(w).filter(v => !isNaN(v)));
const least = list => list.reduce((best, v, i) => v < list[best] || isNaN(list[best]) && !isNaN(v) ? i : best, 0);

function options(select, words, chosen) {
  select.replaceChildren(...words.map(([value, text]) => new Option(text, value)));
  select.value = chosen;
}

// A pixel for each value, shown as squares of `side` pixels; × for NaN, + and − for infinities.
const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
function rgb(name) {
  pen.fillStyle = colour(name);
  const n = parseInt(pen.fillStyle.slice(1), 16);
  return [n >> 16, n >> 8 & 255, n & 255];
}
function paint(canvas, values, rows, columns, most, side = 1) {
  const box = rgb("--box"), heat = rgb("--heat"), cold = rgb("--cold"), odd = rgb("--k5");
  pen.canvas.width = Math.max(1, columns);
  pen.canvas.height = Math.max(1, rows);
  canvas.width = pen.canvas.width * side;
  canvas.height = pen.canvas.height * side;
  canvas.style.imageRendering = columns > 100 ? "auto" : "pixelated";  // smaller squares would be left out
  const c = canvas.getContext("2d"), pixels = pen.createImageData(pen.canvas.width, pen.canvas.height);
  for (let i = 0; i < rows * columns; ++i) {
    const v = values[i], full = finite(v) ? (v < 0 ? cold : heat) : odd;
    const s = finite(v) ? Math.min(1, Math.abs(v) / most) : (side > 5 ? 0 : 1);
    for (let k = 0; k < 3; ++k) pixels.data[4 * i + k] = box[k] + s * (full[k] - box[k]);
    pixels.data[4 * i + 3] = 255;
  }
  pen.putImageData(pixels, 0, 0);
  c.imageSmoothingEnabled = false;
  c.drawImage(pen.canvas, 0, 0, canvas.width, canvas.height);
  if (side < 6) return;
  Object.assign(c, {font: `bold ${side}px monospace`, textAlign: "center", textBaseline: "middle"});
  c.fillStyle = colour("--k5");
  values.forEach((v, i) => {
    if (!finite(v)) c.fillText({"NaN": "×", "∞": "+", "-∞": "−"}[v], (i % columns + 0.5) * side,
      (Math.floor(i / columns) + 0.5) * side);
  });
}
// Some of the words along an axis, as many as have room; each has the room of those that are left out behind it.
function ticks(parent, kind, count, side, word) {
  const all = make("div", undefined, parent), every = Math.ceil(12 / side);
  const words = Array.from({length: count}, (_, i) => word(i));
  all.className = words.some(w => w.length > 2) ? kind : `${kind} letters`;
  for (let i = 0; i < count; i += every) {
    const tick = make("span", words[i], all);
    tick.style.flex = `${Math.min(every, count - i)} 0 0`;
    tick.style.lineHeight = `${Math.max(side, 12)}px`;
  }
}
// A map with its title, axes in words, and scale. Pointing at a value calls pointed(row, column).
function figure(w, values, title, most, pointed) {
  const f = make("figure"), wide = $("pictures").clientWidth || 530, odd = special(values);
  const room = Math.min(420, (rival || other >= 0) && wide > 900 ? wide / 3 - 134 : wide - 110);
  const side = Math.min(48, Math.max(1, Math.floor(room / Math.max(1, w.rows, w.columns))));
  make("figcaption", title, f);
  const grid = make("div", undefined, f), canvas = make("canvas");
  grid.className = "map";
  make("span", `keys: ${w.columnName} →`, grid).className = "x";
  ticks(grid, "columns", w.columns, side, j => columnWord(w, j));
  make("span", `queries: ${w.rowName} →`, grid).className = "y";
  ticks(grid, "rows", w.rows, side, i => rowWord(w, i));
  grid.append(canvas);
  paint(canvas, values, w.rows, w.columns, most, side);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title}: ${w.rows} rows, ${w.columns} columns${odd && `; ${odd}`}`);
  canvas.onmousemove = e => {
    const r = canvas.getBoundingClientRect();
    const j = Math.floor((e.clientX - r.left) * w.columns / r.width);
    const i = Math.floor((e.clientY - r.top) * w.rows / r.height);
    if (i >= 0 && j >= 0 && i < w.rows && j < w.columns) pointed(i, j);
  };
  const below = values.some(v => v < 0), scale = make("p", undefined, f);
  scale.className = "scale";
  make("span", below ? `−${number(most)}` : "0", scale);
  make("i", undefined, scale).className = below ? "both" : "";
  make("span", number(most), scale);
  if (odd) make("span", `× + − mark NaN, ∞, -∞: ${odd}`, scale).className = "odd";
  return f;
}

function showRow() {
  const w = now(), second = beside(), one = row({w, head}), two = second && row(second);
  const most = limit(one.concat(two ?? []));
  [...$("queries").children].forEach((b, i) => {
    b.setAttribute("aria-pressed", i === query);
    b.tabIndex = i === query ? 0 : -1;
  });
  const height = 24, lines = [], box = $("lines").getBoundingClientRect(), x0 = box.width * 0.34, x1 = box.width * 0.66;
  const draw = (values, kind, shift) => values.forEach((v, j) => {
    const s = share(v, most);
    if (s < 0.02) return;
    const l = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const parts = {x1: x0 + 2, x2: x1 - 2, y1: (query + 0.5) * height + shift, y2: (j + 0.5) * height + shift,
      class: kind, "stroke-opacity": s.toFixed(3), "stroke-width": (1 + 3 * s).toFixed(2)};
    for (const [k, value] of Object.entries(parts)) l.setAttribute(k, value);
    lines.push(l);
  });
  draw(one, "one", two ? -3 : 0);
  if (two) draw(two, "two", 3);
  $("lines").replaceChildren(...lines);
  [...$("keys").children].forEach((k, j) => {
    const s = Math.round(Math.max(share(one[j], most), two ? share(two[j], most) : 0) * 45);
    k.style.background = `color-mix(in srgb, var(--heat) ${s}%, transparent)`;
  });
  $("row-title").textContent = `${rowWord(w, query)} (${w.rowName} ${query}) attends to`;
  const table = make("thead"), body = make("tbody"), names = make("tr", undefined, table);
  const columns = ["key", "position", ...two ? ["A", "B", "A − B"] : ["weight"], `bars: 0 to ${number(most)}`];
  for (const name of columns) make("th", name, names).scope = "col";
  const size = j => Math.max(order(one[j]), two ? order(two[j] ?? 0) : -Infinity);
  const best = [...one.keys()].sort((a, b) => size(b) - size(a) || a - b);
  const seen = best.filter(j => [one[j], two?.[j] ?? 0].some(v => number(v) !== "0"));
  body.append(...seen.slice(0, 8).map(j => {
    const r = make("tr");
    make("th", columnWord(w, j), r).scope = "row";
    make("td", `${w.columnName} ${j}`, r);
    for (const v of two ? [one[j], two[j] ?? "–", minus(one[j], two[j])] : [one[j]]) make("td", number(v), r);
    const bar = make("td", undefined, r);
    bar.className = "bar";
    for (const v of two ? [one[j], two[j]] : [one[j]]) {
      make("i", undefined, bar).style.width = percent(share(v, most)).replace(" ", "");
    }
    return r;
  }));
  $("row").replaceChildren(table, body);
  $("expects").textContent = data.predictions.filter(p => query < p.rows).map(p => `${p.name}: ` +
    likely(p, query, 3).map(j => `${columnWord(p, j)} ${number(chance(p, query, j))}`).join(", ")).join("; ");
}
// The query comes into sight in its own box; the page stays where it is.
function toQuery() {
  const box = $("queries").closest(".scroll"), at = query * 24;
  if (at < box.scrollTop || at + 40 > box.scrollTop + box.clientHeight) box.scrollTop = at - box.clientHeight / 2;
}
function showMaps() {
  const w = now(), second = beside(), values = map(w, head);
  $("pictures").className = rival || other >= 0 ? "compared" : "";
  const name = `weights of ${w.name}, ${w.places[head]}`;
  const said = (v, all) => (i, j) => {
    $("cell").textContent = `${rowWord(v, i)} → ${columnWord(v, j)}: ${number(all[i * v.columns + j])}`;
    if (i !== query && i < w.rows) { query = i; showRow(); toQuery(); }
  };
  const most = limit(second ? values.concat(map(second.w, second.head)) : values);
  const figures = [figure(w, values, second ? `A: ${name}` : name, most, said(w, values))];
  $("pair").textContent = "";
  if (second) {
    const others = map(second.w, second.head), where = `${second.w.name}, ${second.w.places[second.head]}`;
    const [a, b] = other < 0 ? [data.name, rival.name].map(n => short(n ?? "this page", 60)) :
      [w.places[head], w.places[other]];
    figures.push(figure(second.w, others, `B: weights of ${where}`, most, said(second.w, others)));
    const words = `A, solid: ${a}. B, dashed and striped: ${b}.`;
    if (alike(w, second.w)) {
      const difference = values.map((v, i) => minus(v, others[i]));
      figures.push(figure(w, difference, "A − B", limit(difference), said(w, difference)));
      $("pair").textContent = `${words} The largest difference is ${number(largest(difference))}.`;
    } else {
      const extents = v => `${v.rows} × ${v.columns}`;
      $("pair").textContent = `${words} No difference: A has ${extents(w)} weights and B ${extents(second.w)}.`;
    }
  } else if (rival) {
    $("pair").textContent = "The other result has no such head.";
  }
  figures[0].querySelector("canvas").id = "matrix";
  $("maps").replaceChildren(...figures);
}
function showHead() {
  const w = now();
  options($("head"), w.places.map((p, i) => [i, p]), head);
  options($("other"), [[-1, "none"], ...w.places.map((p, i) => [i, p])], other);
  query = Math.max(0, Math.min(query, w.rows - 1));
  $("row-name").textContent = `queries: ${w.rowName}`;
  $("column-name").textContent = `keys: ${w.columnName}`;
  $("queries").replaceChildren(...Array.from({length: w.rows}, (_, i) => {
    const b = make("button", rowWord(w, i));
    b.type = "button";
    b.title = `${w.rowName} ${i}`;
    b.onfocus = b.onclick = () => { query = i; showRow(); };
    // A list that scrolls below a mouse at rest is not pointed at.
    b.onmousemove = e => { if (query !== i && (e.movementX || e.movementY)) b.onclick(); };
    return b;
  }));
  const second = beside(), both = (a, b) => b === undefined || a === b ? a : `${a} | ${b}`;
  $("keys").replaceChildren(...Array.from({length: w.columns}, (_, j) =>
    make("span", both(columnWord(w, j), second && j < second.w.columns ? columnWord(second.w, j) : undefined))));
  $("cell").textContent = `rows ${w.rowName}, columns ${w.columnName}`;
  [...$("model").children].forEach(b => b.setAttribute("aria-pressed",
    +b.dataset.layer === layer && +b.dataset.head === head));
  showMaps();
  showRow();
}
function showModel() {
  const said = w => isNaN(spreadOf(w)) ? "" : `${w.name} ${percent(spreadOf(w))}`;
  const all = data.weights.map(said).filter(s => s);
  $("opened").textContent = all.length ? "The page opens on the layer, and in it on the head, with the most " +
    "concentrated weights: the lowest mean entropy of the rows, relative to equal weights on all visible keys. " +
    `Means of the layers: ${all.join(", ")}.` : "";
  $("model").replaceChildren(...data.weights.flatMap((w, l) => w.places.map((p, h) => {
    const values = map(w, h), b = make("button", `${w.name}, ${p}`);
    b.type = "button";
    b.dataset.layer = l;
    b.dataset.head = h;
    const facts = [isNaN(spread(w)[h]) ? "" : `entropy ${percent(spread(w)[h])}`, special(values)].filter(s => s);
    make("small", facts.join("; "), b);
    paint(make("canvas", undefined, b), values, w.rows, w.columns, limit(values));
    b.onclick = () => { layer = l; head = h; other = -1; $("layer").value = l; showHead(); };
    return b;
  })));
}
function showMasks() {
  const all = data.masks.map(m => [m, rival ? "A: " : ""]).concat(rival ? rival.masks.map(m => [m, "B: "]) : []);
  $("mask-list").replaceChildren(...all.map(([m, which]) => {
    const f = make("figure"), c = make("canvas", undefined, f), most = Math.max(1, m.rows, m.columns);
    paint(c, m.values.slice(0, m.rows * m.columns), m.rows, m.columns, 1, Math.max(1, Math.floor(240 / most)));
    c.setAttribute("role", "img");
    const words = `${which}${m.name}: ${m.values.filter(v => v).length} of ${m.values.length} visible`;
    c.setAttribute("aria-label", words);
    make("figcaption", `${words}; rows ${m.rowName}, columns ${m.columnName}`, f);
    return f;
  }));
}
function showSteps() {
  const open = new Set([...$("step-list").children].filter(d => d.open).map(d => d.dataset.step));
  $("step-list").replaceChildren(...data.steps.map((s, i) => {
    const d = make("details"), second = rival?.steps[i];
    d.dataset.step = s.number;
    d.open = open.has(d.dataset.step);
    make("summary", `${s.number}. ${s.words}`, d);
    for (const [which, of] of second ? [["A: ", s], ["B: ", second]] : [["", s]]) {
      make("p", which + of.result, d);
      make("pre", of.table, d).tabIndex = 0;
    }
    return d;
  }));
}
// The expected tokens of A, or of A and B side by side; those of B with what their probability is more than in A.
function nextList(p, title, compared) {
  const box = make("div"), list = make("ol");
  list.className = p.rows > 64 ? "next scroll" : "next";
  list.setAttribute("aria-label", title);
  if (p.rows > 64) list.tabIndex = 0;
  for (let i = 0; i < p.rows; ++i) {
    const j = likely(p, i, 1)[0], v = chance(p, i, j), fixed = u => finite(u) ? u.toFixed(2) : u;
    const e = make("li", `${rowWord(p, i)} → ${columnWord(p, j)} ${fixed(v)}`, list);
    if (isRight(p, i)) e.append(" ✓");
    if (compared && i < compared.rows && p.columns === compared.columns) {
      const more = minus(v, chance(compared, i, j));
      e.append(` (${more < 0 ? "−" : "+"}${fixed(finite(more) ? Math.abs(more) : more)})`);
    }
    make("i", undefined, e).style.width = `${100 * share(v, 1)}%`;
  }
  const odd = special(p.values);
  make("h3", odd ? `${title}: ${odd}` : title, box);
  box.append(list);
  return box;
}
function showNext() {
  $("next").className = rival ? "views" : "";
  $("next").replaceChildren(...data.predictions.flatMap((p, i) => {
    const second = rival?.predictions[i];
    return second ? [nextList(p, `A: ${p.name}`), nextList(second, `B: ${second.name} (more or less than in A)`, p)] :
                    [nextList(p, p.name)];
  }));
}
function all() {
  for (const id of lists) $(id).hidden = data[id].length === 0;
  showNext();
  if (data.weights.length) {
    if (layer < 0) {
      layer = least(data.weights.map(spreadOf));
      head = least(spread(now()));
    }
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
// A result takes the place of the last one; without a result, nothing is left of the last one.
function show(run) {
  data = run ? merged(run) : page;
  all();
}

// A run that is stored, until the page's program runs; then what a reader sets.
let ask, shown;
const switches = (live ? live.heads : []).map(name => {
  const l = make("label", undefined, $("switches")), box = make("input", undefined, l);
  box.type = "checkbox";
  l.append(` ${name}`);
  return box;
});
function inBrief(run) {
  const n = run.weights.length ? run.weights[0].rows : 0, p = run.predictions[0];
  const right = p ? [...Array(p.rows).keys()].filter(i => isRight(p, i)).length : 0;
  return `${n} ${live ? live.label : "positions"}` + (p ? `; what comes next is right ${right} times of ${n - 1}` : "");
}
function say(run) {
  $("said").className = "note";
  $("said").textContent = (rival ? "A: " : "") + inBrief(run) + (rival ? `. B: ${inBrief(rival)}` : "");
}
function display(run) {
  shown = run;
  show(run);
  if (run) say(run);
}
function listRuns() {
  const [chosen, against] = [$("run").value, $("against").value], all = runs.map((r, i) => [i, short(r.name, 60)]);
  options($("run"), ask ? [[-1, "as set below"], ...all] : all, chosen || 0);
  options($("against"), [[-1, "none"], ...all], against || -1);
}
function choose() {
  const r = runs[$("run").value];
  if (!r) return;
  if (r.off) {
    $("text").value = r.text;
    $("mask").value = r.mask;
    $("width").value = r.width;
    switches.forEach((box, i) => { box.checked = !r.off.includes(i); });
    $("window").hidden = r.mask !== "window";
  }
  for (const id of ["text", "mask", "width"]) $(id).removeAttribute("aria-invalid");
  display(r);
}
function compare() {
  rival = merged(runs[$("against").value]);
  other = -1;
  if (shown) display(shown); else show();
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
  const began = performance.now(), set = {text: $("text").value, mask: $("mask").value, width: $("width").value};
  let run;
  try {
    run = ask([set.mask, set.width, switches.map(box => +box.checked).join(""), set.text].join("\n"));
  } catch (problem) {
    run = {error: `the program failed: ${problem}`};
    start();
  }
  for (const id of ["text", "mask", "width"]) $(id).removeAttribute("aria-invalid");
  if (run.error) {
    e.target.setAttribute("aria-invalid", true);
    display();
    $("said").className = "note wrong";
    $("said").textContent = `Not computed: ${run.error}. There is no result to show.`;
  } else {
    const off = switches.flatMap((box, i) => box.checked ? [] : [i]);
    display({...run, ...set, off, name: inWords({...set, off})});
  }
  $("keep").disabled = !shown;
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
$("live").hidden = !runs.length;
$("how").textContent = `The page has ${runs.length} results: choose one, and another one to compare.`;
listRuns();
$("run").onchange = choose;
$("against").onchange = compare;
$("keep").onclick = () => {
  runs.push(shown);
  listRuns();
  $("against").value = runs.length - 1;
  compare();
};
if (live) {
  const storedOnly = why => { $("how").textContent = `${why}, so the page shows stored runs: choose one.`; };
  $("live-title").textContent = "Try it";
  $("label").textContent = live.label;
  $("hint").textContent = live.hint;
  $("live").oninput = e => { if (!["run", "against"].includes(e.target.id)) compute(e); };
  if ($("program").textContent) {
    start().then(() => {
      $("how").textContent = "The model is in this page and computes as you type, without a network.";
      document.querySelectorAll(".settings, #keep").forEach(e => { e.hidden = false; });
      listRuns();
    }, problem => storedOnly(`The model does not run in this browser (${problem})`));
  } else {
    storedOnly("This page was made without its program, which emscripten compiles");
  }
}
{
  $("layer").onchange = e => { layer = +e.target.value; head = least(spread(now())); other = -1; showHead(); };
  $("head").onchange = e => { head = +e.target.value; showHead(); };
  $("other").onchange = e => {
    other = +e.target.value;
    rival = undefined;
    $("against").value = -1;
    if (shown) display(shown); else all();
  };
  $("scale").onchange = all;
  $("queries").onkeydown = e => {
    const to = {ArrowDown: query + 1, ArrowUp: query - 1, Home: 0, End: now().rows - 1}[e.key];
    if (to === undefined || to < 0 || to >= now().rows) return;
    e.preventDefault();
    $("looks").setAttribute("aria-live", "polite");
    $("queries").children[to].focus();
  };
}
if (runs.length) choose(); else all();
matchMedia("(prefers-color-scheme: dark)").onchange = all;
addEventListener("resize", () => { if (data.weights.length) showHead(); });
})();
)js"
