// The page: programs, the editor, the compiler's worker and the worker of the running program. index.html defines `manifest` and `early`.
import {Editor} from "./editor.mjs";
import {fragmentOf, programOf} from "./fragment.mjs";
import {element, withCode} from "./messages.mjs";

const $ = Object.fromEntries([...document.querySelectorAll("[id]")].map(one => [one.id, one]));
const seconds = 20;  // after which a program is stopped
const megabytes = size => `${Math.ceil(size / 1e6)} MB`;
const counted = errors => (errors === 1 ? "1 error" : `${errors} errors`);
const builtBy = Object.values(manifest.files).map(one => one.name).join();
const total = Object.values(manifest.files).reduce((sum, one) => sum + one.size, 0);

// --- what this browser keeps: which exercises pass, changed programs, colours

const storage = "dimwise-playground";
function stored() {
  try {
    return JSON.parse(localStorage.getItem(storage)) ?? {};
  } catch {
    return {};
  }
}
const kept = {passed: {}, texts: {}, ...stored()};
function keep() {
  try {
    localStorage.setItem(storage, JSON.stringify(kept));
  } catch { /* without storage nothing is kept */ }
}

// --- status

function status(text, kind = "") {
  $.status.textContent = text;
  $.status.className = kind;
}
function clearResults() {
  $.notes.replaceChildren();
  $.output.replaceChildren();
  $.output.hidden = true;
  $.files.replaceChildren();
}

// --- programs

let programs = [], exercises = [], current;
let typed = false;  // whether the reader has typed since the program was opened or run; the editor then stays at the caret

function listPrograms() {
  const done = exercises.filter(one => kept.passed[one.id]).length;
  $.programs.replaceChildren(...[...new Set(programs.map(one => one.group))].flatMap(group => [
    element("h2", {textContent: group === "Exercises" ? `${group}: ${done} of ${exercises.length}` : group}),
    element("ul", {}, ...programs.filter(one => one.group === group).map(one => {
      const link = element("a", {href: `#program=${one.id}`}, one.title);
      if (one === current) { link.setAttribute("aria-current", "page"); }
      if (kept.passed[one.id]) { link.append(element("span", {className: "done", textContent: "✓", title: "passed", role: "img", ariaLabel: "passed"})); }
      return element("li", {}, link);
    })),
  ]));
  $.count.textContent = `${done} of ${exercises.length} exercises`;
  showCurrent();
}
const showCurrent = () => $.programs.querySelector("[aria-current]")?.scrollIntoView({block: "nearest"});
/** Shows what a check said, in the editor and in the list of results. -> {here, errors}: those of the program, the number of errors */
function show(diagnostics) {
  const here = diagnostics.filter(one => one.file === "main.cpp"), errors = diagnostics.filter(one => one.kind !== "warning");
  $.editor.classList.remove("stale");
  editor.show(here);
  const first = here.find(one => one.kind !== "warning" && one.line >= 1);
  if (first && !typed) { editor.reveal(first.line); }
  $.problems.replaceChildren(...diagnostics.map(one => element("li", {}, element("button", {
    type: "button", className: one.kind, onclick: () => editor.goTo(one.line),
  }, `Line ${one.line}: `, ...withCode(one.message)))));
  return {here, errors: errors.length};
}
/** What the compiler says of the program as far as that is known without it: from the last visit, or from when the page was built */
function showKnown(program) {
  const known = kept.last?.by === builtBy && kept.last.text === editor.text ? kept.last.diagnostics : editor.text === program.text ? program.diagnostics : undefined;
  if (known === undefined) { return; }
  const {errors} = show(known);
  if (!loading) { status(counted(errors), "bad"); }
}
function open(program) {
  stop();
  current = program;
  $.title.textContent = program.title;
  $.hint.hidden = !program.hint;
  $.solution.hidden = !program.solution;
  clearResults();
  $.problems.replaceChildren();
  editor.text = kept.texts[program.id] ?? program.text;
  typed = false;
  if (ready || !loading) { status(""); }  // otherwise it tells the progress of the download
  if (!ready) { showKnown(program); }
  listPrograms();
  check();
}
async function openFragment() {
  const {program, text} = await programOf(location.hash).catch(() => ({}));
  const found = programs.find(one => one.id === program);
  if (text !== undefined && text !== current?.text) {
    open({title: "A program from a link", text});
  } else if (text === undefined && (found ?? !current)) {
    open(found ?? exercises.find(one => !kept.passed[one.id]) ?? programs[0]);
  }
}
function note(title, ...children) {
  $.notes.replaceChildren(element("div", {}, element("h3", {textContent: title}), ...children));
  $.notes.scrollIntoView({block: "nearest"});
}

const editor = new Editor($.editor, {
  run: () => build(true),
  changed() {
    if (current?.id) {
      if (editor.text === current.text) { delete kept.texts[current.id]; } else { kept.texts[current.id] = editor.text; }
      keep();
    }
    typed = true;
    $.editor.classList.add("stale");
    if (!loading) { status("Load the compiler to check what you wrote."); }
    clearTimeout(editor.timer);
    clearTimeout(rehearsal);  // a check would wait for it
    editor.timer = setTimeout(check, 300);
  },
});

// --- the compiler

let worker, loading = false, ready = false;  // `loading`: since the reader asked
let rehearsal, rehearsed = false;  // the timer of `rehearse`; whether it was done
let building, wanted;  // the build that goes on, {links, program, text}, undefined without one; whether the next one links
const check = () => { if (ready) { build(false); } };

/** Registers the service worker, which serves the kept files to workers that start later. -> whether it does */
async function serviceWorker() {
  try {
    await navigator.serviceWorker.register("service_worker.js");
    const late = new Promise(done => { setTimeout(done, 3000, undefined); });
    return await Promise.race([navigator.serviceWorker.ready, late]) !== undefined;
  } catch {
    return false;
  }
}
async function load() {
  if (loading) { return; }
  loading = true;
  $.load.disabled = true;
  $.progress.hidden = false;
  status("Loading the compiler…");
  navigator.storage?.persist?.();
  const registered = serviceWorker();  // also for a compiler that started early: at the first visit it may have failed
  worker = await early.compiler;
  early.compiler = undefined;  // it is used once
  if (!worker) {
    const served = await registered;
    worker = new Worker(manifest.compiler, {type: "module"});
    worker.postMessage({kind: "load", manifest, serviceWorker: served});
  }
  worker.onmessage = ({data}) => handle[data.kind](data);
  worker.onerror = handle.notStarted;
  early.said.splice(0).forEach(one => handle[one.kind](one));
}
const handle = {
  progress({done}) {
    $.progress.value = Math.min(1, done / total);
    status(done < total ? `Loading the compiler: ${megabytes(done)} of ${megabytes(total)}` : "Starting the compiler…");
  },
  ready() {
    ready = true;
    $.loader.hidden = true;
    status("The compiler is ready.");
    if (current) { build(wanted ?? false); }
  },
  notStarted() { handle.failed({message: "the compiler's worker did not start"}); },
  failed({message}) {
    building = undefined;
    worker?.terminate();
    worker = undefined;
    loading = ready = rehearsed = false;
    $.loader.hidden = false;
    $.load.disabled = false;
    $.progress.hidden = true;
    status(`The compiler failed: ${message}`, "bad");
  },
  built({ok, diagnostics, output, program, seconds: spent}) {
    const {text} = building;
    building = undefined;
    if (wanted !== undefined) { build(wanted); return; }
    const {here, errors} = show(diagnostics);
    if (!ok && here.length < diagnostics.length || !ok && errors === 0) { print("err", output); }
    status(`${ok ? "Compiles" : errors === 0 ? "The program was not built" : counted(errors)} (${spent.toFixed(1)} s)`, ok ? "good" : "bad");
    kept.last = errors > 0 ? {by: builtBy, text, diagnostics} : undefined;
    keep();
    if (program) { start(program); } else { rehearse(); }
  },
};
/** Once, while the reader reads the first check: the browser compiles the parts of the compiler that only Run needs. */
function rehearse() {
  if (rehearsed) { return; }
  clearTimeout(rehearsal);
  rehearsal = setTimeout(() => {
    rehearsed = true;
    worker?.postMessage({kind: "rehearse"});
  }, 1000);
}
function build(links) {
  clearTimeout(editor.timer);
  clearTimeout(rehearsal);
  if (links) { typed = false; }
  if (!ready) {
    wanted = links;
    load();
    return;
  }
  if (building !== undefined) {
    wanted = links || (building.program === current && (wanted === true || building.links));  // a run goes on with the new text
    return;
  }
  wanted = undefined;
  building = {links, program: current, text: editor.text};
  rehearsed ||= links;
  if (links) { clearResults(); }
  stop();
  status(links ? "Compiling…" : "Checking…");
  worker.postMessage({kind: "build", text: building.text, links});
}

// --- the running program

let runner, timer;
const endings = {Exercises: "Passed.", Mistakes: "Fixed: it compiles and runs."};  // of a program that had an error
function stop(why) {
  if (!runner) { return; }
  runner.terminate();
  clearTimeout(timer);
  runner = undefined;
  $.stop.hidden = true;
  if (why) { status(why, "bad"); }
}
function print(kind, text) {
  $.output.hidden = false;
  $.output.append(element("span", {className: kind, textContent: text}));
}
function start(program) {
  clearResults();
  const running = current;
  runner = new Worker(manifest.runner, {type: "module"});
  runner.onmessage = ({data}) => {
    if (data.kind !== "end") { print(data.kind, data.text); return; }
    stop();
    if (data.problem) {
      status(`The program ended: ${data.problem}`, "bad");
    } else if (data.code !== 0) {
      status(`The program ended with code ${data.code} after ${data.seconds.toFixed(2)} s.`, "bad");
    } else {
      status(endings[running.group] ?? `The program ended after ${data.seconds.toFixed(2)} s.`, "good");
      if (running.group in endings) { pass(running); }
    }
    for (const [name, bytes] of data.files) { showFile(name, bytes); }
    $.status.scrollIntoView({block: "start"});  // on a phone it is below the editor
  };
  runner.postMessage({program, args: current.arguments ?? []});
  $.stop.hidden = false;
  status("Running…");
  timer = setTimeout(() => stop(`The program was stopped after ${seconds} s.`), seconds * 1000);
}
function pass(program) {
  kept.passed[program.id] = true;
  keep();
  listPrograms();
  const group = programs.filter(one => one.group === program.group), next = group[group.indexOf(program) + 1];
  note(endings[program.group], element("p", {}, next ? element("a", {href: `#program=${next.id}`, textContent: `Next: ${next.title}`}) : "It was the last one."));
}
function showFile(name, bytes) {
  const kind = {svg: "image/svg+xml", png: "image/png", html: "text/html"}[/\w*$/.exec(name)[0]] ?? "application/octet-stream";
  const url = URL.createObjectURL(new Blob([bytes], {type: kind}));
  const figure = element("figure", {}, element("figcaption", {}, name, element("a", {href: url, download: name, textContent: "Save"})));
  if (kind.startsWith("image/")) {
    const image = element("img", {src: url, alt: name});
    image.onload = () => { image.style.minWidth = `${0.82 * image.naturalWidth}px`; };  // its letters have 9 pixels; what is wider scrolls
    figure.append(element("div", {className: "picture", tabIndex: 0}, image));
  }
  if (kind === "text/html") {  // scripts run, without access to this page
    const frame = element("iframe", {title: name, srcdoc: new TextDecoder().decode(bytes)});
    frame.setAttribute("sandbox", "allow-scripts");
    figure.append(frame);
  }
  $.files.append(figure);
}

// --- start

function showPrograms(shown) {
  $.programs.hidden = !shown;
  $.list.setAttribute("aria-expanded", String(shown));
  if (shown) { showCurrent(); }
}
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
function colours() {
  const dark = kept.theme ? kept.theme === "dark" : prefersDark.matches;
  if (kept.theme) { document.documentElement.dataset.theme = kept.theme; }
  $.theme.setAttribute("aria-pressed", String(dark));
}

colours();
showPrograms(false);
$.size.textContent = megabytes(total);
$.load.textContent = `Load the compiler (${megabytes(total)})`;
$.load.onclick = load;
if (early.clicked.includes("load")) { load(); }
try {
  programs = await (await early.programs).json();
} catch (problem) {
  status(`The programs could not be loaded: ${problem.message}. Reload the page to try again.`, "bad");
  throw problem;
}
exercises = programs.filter(one => one.group === "Exercises");
await openFragment();
addEventListener("hashchange", openFragment);

// --- buttons, all but the download's, need a program

$.run.onclick = () => build(true);
$.stop.onclick = () => stop("The program was stopped.");
$.hint.onclick = () => note("Hint", element("p", {}, ...withCode(current.hint)));
$.solution.onclick = () => note("Solution", element("pre", {tabIndex: 0, textContent: current.solution}));
$.reset.onclick = () => {
  if (current.id) {
    delete kept.texts[current.id];
    keep();
  }
  open(current);
};
$.share.onclick = async () => {
  const fragment = await fragmentOf(editor.text), address = new URL(fragment, location.href).href;
  history.replaceState(null, "", fragment);
  const copied = await navigator.clipboard?.writeText(address).then(() => true, () => false);
  note(copied ? "The link is copied" : "Copy the link from the address bar", element("p", {}, element("a", {href: address, textContent: `${address.slice(0, 60)}…`})));
};
$.list.onclick = () => showPrograms($.programs.hidden);
$.programs.onclick = event => { if (event.target.closest("a")) { showPrograms(false); } };
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && !$.programs.hidden) { showPrograms(false); $.list.focus(); }
});

$.theme.onclick = () => {
  kept.theme = $.theme.getAttribute("aria-pressed") === "true" ? "light" : "dark";
  keep();
  colours();
};
prefersDark.onchange = colours;

// What the reader clicked while the page was starting.
removeEventListener("click", early.note);
for (const id of new Set(early.clicked)) {
  if (id !== "load") { $[id].click(); }
}
if (await early.compiler) { load(); }  // it is on this device: nothing is downloaded
