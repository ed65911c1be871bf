// The page "See attention": sends the text to explore.wasm (examples/live/explore.cpp) and draws each step that it returns.
const root = document.getElementById("dw-explore");
const make = (tag, {named = {}, ...given} = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), given);
  for (const [name, value] of Object.entries(named)) { e.setAttribute(name, value); }
  e.append(...children);
  return e;
};

const MOST = 32;
const state = {layer: 1, head: 0, query: -1, answer: null, letters: []};
const said = {
  "Input": "One row per letter. In layer 1 it is the embedding of the letter plus that of its position; in layer 2 it is the output of layer 1.",
  "Normalized input": "Each row is divided by its root mean square and multiplied by learned factors.",
  "Queries": "What each position looks for, per head.",
  "Keys": "What each position offers. The dimension is named key: it is another dimension than seq.",
  "Values": "What a position passes on when it is attended to.",
  "Scores": "The product of each query with each key over d_k, divided by √d_k. The mark score<d_k> records that.",
  "Mask": "Which keys each query sees.",
  "Softmax": "Each row sums to one over the keys. The mark normalised<key> records that.",
  "Context": "The values, weighted by the row of the softmax.",
  "Output": "The heads are joined by the output projection, and the input is added.",
  "Prediction": "The probability of each next letter.",
};

async function load() {
  const none = new Proxy({}, {get: (_, name) => () => { throw Error(name); }});  // it needs nothing of a system
  const bytes = await (await fetch(new URL("explore.wasm", document.getElementById("dw-explore-script").src))).arrayBuffer();
  const {exports: e} = (await WebAssembly.instantiate(bytes, {env: none, wasi_snapshot_preview1: none})).instance;
  e._initialize();
  return request => {
    const sent = new TextEncoder().encode(request), room = e.room(sent.length);
    new Uint8Array(e.memory.buffer, room, sent.length).set(sent);
    const answer = e.answer(), memory = new Uint8Array(e.memory.buffer);
    return JSON.parse(new TextDecoder().decode(memory.subarray(answer, memory.indexOf(0, answer))));
  };
}

// "heads[2] seq[7] key[7], normalised<key>" -> [["heads", 2], …]
const dims = type => [...type.split(",")[0].matchAll(/(\S+)\[(\d+)\]/g)].map(([, name, extent]) => [name, Number(extent)]);

// The rows and columns of a step: of the chosen head if it has heads.
function slice(step) {
  const all = dims(step.type), strides = all.map((_, at) => all.slice(at + 1).reduce((n, [, extent]) => n * extent, 1));
  const kept = all.map((dim, at) => [...dim, strides[at]]).filter(([name]) => name !== "heads");
  const offset = all.reduce((sum, [name], at) => sum + (name === "heads" ? state.head * strides[at] : 0), 0);
  const [[rowName, rows, down], [columnName, columns, right]] = kept;
  const value = (row, column) => step.values[offset + row * down + column * right];
  return {rowName, rows, columnName, columns, value};
}
const wordsOf = (name, extent) => ["seq", "key"].includes(name) ? state.letters : name === "symbol" ? [..."abcdefghijklmnopqrstuvwxyz"]
  : Array.from({length: extent}, (_, i) => i);

function drawn(step) {
  const {rowName, rows, columnName, columns, value} = slice(step);
  const words = [wordsOf(rowName, rows), wordsOf(columnName, columns)];
  const side = columns > 32 ? 10 : columns > 16 ? 14 : 20, left = 22, top = columnName === "key" || columnName === "symbol" ? 20 : 4;
  const canvas = make("canvas", {width: 2 * (left + columns * side), height: 2 * (top + rows * side), tabIndex: 0,
    named: {role: "img", "aria-label": `${step.name}: ${rows} rows of ${rowName}, ${columns} columns of ${columnName}`}});
  canvas.style.width = `${left + columns * side}px`;
  canvas.style.minWidth = `${.9 * (left + columns * side)}px`;  // what is wider than the page scrolls: its letters have 9 pixels
  const draw = canvas.getContext("2d"), ink = getComputedStyle(root).color;
  draw.scale(2, 2);
  const flat = [];
  for (let r = 0; r < rows; ++r) { for (let c = 0; c < columns; ++c) { const v = value(r, c); if (Number.isFinite(v)) { flat.push(Math.abs(v)); } } }
  const most = Math.max(1e-6, ...flat), scale = /normalised/.test(step.type) || step.name === "Mask" ? Math.max(1, most) : most;
  draw.font = `${Math.min(11, side)}px monospace`;
  draw.textAlign = "center";
  for (let r = 0; r < rows; ++r) {
    draw.fillStyle = ink;
    draw.fillText(words[0][r], left / 2, top + r * side + side / 2 + 4);
    for (let c = 0; c < columns; ++c) {
      const v = value(r, c);
      draw.globalAlpha = Math.min(1, Math.abs(v) / scale);
      draw.fillStyle = v < 0 ? "#d9601a" : "#3a6ee0";
      draw.fillRect(left + c * side, top + r * side, side - 1, side - 1);
      draw.globalAlpha = 1;
    }
    if (rowName === "seq" && r === state.query) {
      draw.strokeStyle = ink;
      draw.strokeRect(left - .5, top + r * side - .5, columns * side, side);
    }
  }
  draw.fillStyle = ink;
  for (let c = 0; top > 10 && c < columns; ++c) { draw.fillText(words[1][c], left + c * side + side / 2, top - 6); }
  const readout = make("output", {className: "dw-readout", textContent: `scale: ${step.name === "Mask" ? "0 and 1" : flat.length && /normalised/.test(step.type) ? "0 to 1" : `0 to ±${scale.toPrecision(3)}`}; point at a cell to read it`});
  const at = event => {
    const box = canvas.getBoundingClientRect(), zoom = (left + columns * side) / box.width;
    return [Math.floor(((event.clientY - box.top) * zoom - top) / side), Math.floor(((event.clientX - box.left) * zoom - left) / side)];
  };
  canvas.onpointermove = event => {
    const [r, c] = at(event);
    if (r < 0 || r >= rows || c < 0 || c >= columns) { return; }
    readout.textContent = `${rowName} ${r} (${words[0][r]}), ${columnName} ${c}${words[1][c] === c ? "" : ` (${words[1][c]})`}: ${value(r, c)}`;
  };
  canvas.onclick = event => {
    const [r] = at(event);
    if (rowName === "seq" && r >= 0 && r < rows) { state.query = r; show(); }
  };
  const table = make("details", {}, make("summary", {textContent: "Values as a table"}));
  table.ontoggle = () => {
    if (table.querySelector("table")) { return; }
    const head = make("tr", {}, make("th", {textContent: `${rowName} \\ ${columnName}`}), ...words[1].slice(0, columns).map(w => make("th", {scope: "col", textContent: w})));
    const body = Array.from({length: rows}, (_, r) => make("tr", {}, make("th", {scope: "row", textContent: words[0][r]}),
      ...Array.from({length: columns}, (_, c) => make("td", {textContent: value(r, c)}))));
    table.append(make("div", {className: "dw-scroll", tabIndex: 0}, make("table", {className: "dw-values"}, head, ...body)));
  };
  return [make("div", {className: "dw-scroll", tabIndex: 0}, canvas), readout, table];
}

function typed(type) {
  const [shape, ...marks] = type.split(", ");
  const box = (one, kind) => [make("span", {className: `dw-dim ${kind}`, textContent: one}), " "];
  return make("p", {className: "dw-type"}, ...shape.split(" ").flatMap(one => box(one, "")), ...marks.flatMap(one => box(one, "dw-mark")));
}

function sentenceOf(step) {
  const {rows, columns, value} = slice(step), q = state.query < 0 ? rows - 1 : Math.min(state.query, rows - 1);
  const order = Array.from({length: columns}, (_, c) => c).sort((a, b) => value(q, b) - value(q, a)).slice(0, 3).filter(c => value(q, c) > .005);
  const names = wordsOf(step.name === "Prediction" ? "symbol" : "key", columns);
  const list = order.map(c => `${names[c]}${step.name === "Softmax" ? ` (position ${c})` : ""} ${(100 * value(q, c)).toFixed(1)} %`).join(", ");
  return step.name === "Softmax" ? `The query ${state.letters[q]} at position ${q} attends to: ${list}.` : `After ${state.letters.slice(0, q + 1).join("")}: ${list}.`;
}

function show() {
  const out = root.querySelector("#dw-steps");
  const {layers, prediction} = state.answer;
  const open = new Set([...out.querySelectorAll("details[open]")].map(e => e.closest("section").dataset.name));
  out.replaceChildren(...[...layers[state.layer], prediction].map((step, at) => {
    const parts = drawn(step);
    if (open.has(step.name)) { parts[2].open = true; }
    return make("section", {className: "dw-step", named: {"data-name": step.name}}, make("h3", {textContent: `${at + 1}. ${step.name}`}), make("p", {textContent: said[step.name]}),
      ...(step.code === "x" ? [] : [make("pre", {}, make("code", {textContent: step.code}))]), typed(step.type), ...parts,
      ...(["Softmax", "Prediction"].includes(step.name) ? [make("p", {className: "dw-reads", textContent: sentenceOf(step)})] : []));
  }));
}

async function start() {
  const status = root.querySelector("#dw-status"), text = root.querySelector("#dw-text");
  let ask;
  try {
    ask = await load();
  } catch (problem) {
    status.textContent = `This browser cannot run the model: ${problem.message}`;
    return;
  }
  const run = () => {
    const letters = [...text.value.toLowerCase()].filter(one => /[a-z]/.test(one));
    const used = letters.slice(0, MOST);
    const notes = [];
    if (letters.length < [...text.value].length) { notes.push("The model knows the letters a to z: all else is left out."); }
    if (letters.length > MOST) { notes.push(`It has ${MOST} positions: the first ${MOST} letters are used.`); }
    const begun = performance.now(), mask = root.querySelector("#dw-mask").value;
    const answer = ask(`${mask}\n4\n\n${used.join("")}`);
    if (answer.error) {
      state.answer = null;
      root.querySelector("#dw-steps").replaceChildren();
      status.textContent = answer.error;
      return;
    }
    if (used.join("") !== state.letters.join("")) { state.query = -1; }
    Object.assign(state, {answer, letters: used});
    status.textContent = [...notes, `dimwise computed ${2 * 10 + 1} steps in ${Math.max(1, Math.round(performance.now() - begun))} ms, here.`].join(" ");
    show();
  };
  text.oninput = run;
  root.querySelector("#dw-mask").onchange = run;
  root.querySelector("#dw-layer").onchange = event => { state.layer = Number(event.target.value); if (state.answer) { show(); } };
  root.querySelector("#dw-head").onchange = event => { state.head = Number(event.target.value); if (state.answer) { show(); } };
  for (const button of root.querySelectorAll("[data-text]")) { button.onclick = () => { text.value = button.dataset.text; run(); }; }
  new MutationObserver(() => state.answer && show()).observe(document.body, {attributeFilter: ["data-md-color-scheme"]});  // the ink
  run();
}
start();
