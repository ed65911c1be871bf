// tests/viz/report_browser.mjs -- the report in a browser: what is seen, by mouse and by keyboard, without an error.
//
//   node tests/viz/report_browser.mjs PLAYWRIGHT CHROMIUM FOLDER 24_induction 25_pictures 27_notebook_page [live]
//
// PLAYWRIGHT is the folder of the package playwright-core. Screenshots are left in FOLDER. With "live" the pages must
// compute; without it they must say that they do not.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdirSync, readFileSync, renameSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {resolve} from "node:path";
import {accessibility} from "../docs/serious.mjs";

const [playwright, executablePath, folder, induction, pictures, notebook, live] = process.argv.slice(2);
const {chromium} = createRequire(import.meta.url)(resolve(playwright)), seriousOf = accessibility(playwright);
mkdirSync(folder, {recursive: true});
execFileSync(induction, ["--report", `${folder}/induction.html`]);
execFileSync(induction, ["--report", `${folder}/stored.html`, "--live", "/dev/null"]);
execFileSync(pictures, [folder]);
execFileSync(notebook, [`${folder}/notebook.html`]);

const browser = await chromium.launch({executablePath, args: ["--no-sandbox"]});
async function open(file, {width = 1280, colorScheme = "light", before} = {}) {
  const page = await browser.newPage({viewport: {width, height: 900}, colorScheme});
  page.wrong = [];
  page.on("console", m => { if (["error", "warning"].includes(m.type())) page.wrong.push(m.text()); });
  page.on("pageerror", e => page.wrong.push(String(e)));
  page.on("request", r => { if (!/^(file|data):/.test(r.url())) page.wrong.push(r.url()); });
  if (before) await page.addInitScript(before);
  await page.goto(`file://${resolve(folder, file)}`);
  // What is read is read when nothing is waiting to be computed.
  for (const read of ["textContent", "getAttribute"]) {
    const plain = page[read].bind(page);
    page[read] = async (...how) => { await settled(page); return plain(...how); };
  }
  return page;
}
const settled = page => page.waitForSelector("#live:not([aria-busy])", {state: "attached"});
const openLive = async (file, how) => {
  const page = await open(file, how);
  await page.locator("#text").waitFor();
  return page;
};
const close = async page => {
  assert.deepEqual(page.wrong, []);
  await page.close();
};
const texts = async (page, selector) => {
  await settled(page);
  return page.locator(selector).allTextContents();
};
const pressed = async page => (await texts(page, "#queries [aria-pressed=true]")).join();
const fits = async (page, width) => {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= width, `the page is ${wide} wide in a window of ${width}`);
};
// What the i-th query looks at, as the page says it: the key's place, and its weight.
async function looks(page, i) {
  await settled(page);
  await page.locator("#queries button").nth(i).focus();
  const rows = await page.locator("#row tbody tr").evaluateAll(all => all.map(r => [...r.children].map(c => c.textContent)));
  return rows.map(([, key, weight]) => [+key.replace("key ", ""), +weight]);
}
const choose = async (page, layer, head) => {
  await page.selectOption("#layer", {label: layer});
  await page.selectOption("#head", {index: head});
};

async function seen() {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [390, 768, 1280, 1920]) {
      for (const [file, words, heads] of [["induction", 32, 4], ["notebook", 6, 3]]) {
        const page = live ? await openLive(`${file}.html`, {width, colorScheme})
                          : await open(`${file}.html`, {width, colorScheme});
        assert.equal(await page.locator("#queries button").count(), words);
        assert.equal(await page.locator("#model button").count(), heads);
        await fits(page, width);
        const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assert.equal(paper, colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(18, 22, 29)");
        await page.screenshot({path: `${folder}/${file}-${width}-${colorScheme}.png`, fullPage: true});
        if (width === 1280) { assert.deepEqual(await seriousOf(page), [], `${file}, ${colorScheme}: axe`); }
        await close(page);
      }
    }
  }
}

async function chosen() {
  const page = await open("induction.html");
  // It opens where the weights are most concentrated, and says so.
  assert.match(await page.textContent("#opened"), /lowest mean entropy.*layer 1 [5-9][0-9] %, layer 2 [1-3]?[0-9] %\./);
  assert.match(await page.getAttribute("#matrix", "aria-label"), /weights of layer 2, head [12]: /);
  // Layer and head by the lists; another head beside it.
  await choose(page, "layer 2", 1);
  assert.match(await page.getAttribute("#matrix", "aria-label"), /weights of layer 2, head 2: 32 rows, 32 columns/);
  assert.match(await page.locator("#model [aria-pressed=true]").textContent(), /^layer 2, head 2entropy [0-9]+ %$/);
  // The axes have words: what they are, and the letters.
  assert.equal(await page.textContent("#row-name"), "queries: seq");
  assert.equal(await page.textContent("#maps .x"), "keys: key →");
  assert.match((await texts(page, "#maps .rows span")).join(""), /^[a-z]{16,32}$/);
  const alone = await page.locator("#lines .one").count();
  assert.ok(alone > 0 && await page.locator("#lines .two").count() === 0);
  await page.selectOption("#other", {index: 1});
  assert.ok(await page.locator("#lines .two").count() > 0);
  const dashed = await page.locator("#lines .two").first().evaluate(l => getComputedStyle(l).strokeDasharray);
  assert.notEqual(dashed, "none", "lines of A and B differ by more than their colour");
  assert.deepEqual(await texts(page, "#row thead th"), ["key", "position", "A", "B", "A − B", "bars: 0 to 1"]);
  assert.match(await page.textContent("#pair"), /^A, solid: head 2\. B, dashed and striped: head 1\. The largest/);
  // The model view chooses, too, and ends the comparison.
  await page.locator("#model button").first().click();
  assert.equal(await page.inputValue("#layer"), "0");
  assert.equal(await page.locator("#lines .two").count(), 0);
  // A word by mouse and by keys; the first query sees itself alone.
  await page.locator("#queries button").nth(5).hover();
  assert.match(await page.textContent("#row-title"), /\(seq 5\) attends to/);
  await page.locator("#queries button").nth(5).focus();
  await page.keyboard.press("ArrowUp");
  assert.match(await page.textContent("#row-title"), /\(seq 4\) attends to/);
  await page.keyboard.press("Home");
  assert.match(await page.textContent("#row-title"), /\(seq 0\) attends to/);
  assert.deepEqual(await looks(page, 0), [[0, 1]]);
  assert.equal(await page.locator("#lines line").count(), 1);
  assert.equal(await page.textContent("#cell"), "rows seq, columns key");
  await page.locator("#matrix").hover({position: {x: 5, y: 370}});
  assert.match(await page.textContent("#cell"), /^. → .: [0-9.e-]+$/);
  assert.match(await page.textContent("#row-title"), /\(seq 30\) attends to/);
  const scrolled = await page.locator("#queries").evaluate(q => q.closest(".scroll").scrollTop);
  assert.ok(scrolled > 0, "the query is out of sight");
  assert.match(await page.getAttribute("#mask-list canvas", "aria-label"), /528 of 1024 visible/);
  assert.ok(await page.locator("#steps").isHidden());
  await close(page);

  const formula = await open("attention.html", {width: 400});
  assert.equal(await pressed(formula), ".");
  assert.ok(await formula.locator("#live").isHidden() && await formula.locator("#predictions").isHidden());
  assert.equal(await formula.locator("#step-list details").count(), 10);
  await formula.locator("summary").nth(5).focus();
  await formula.keyboard.press("Enter");
  assert.match(await formula.locator("details[open] pre").textContent(), /seq \\ key/);
  assert.ok(await formula.locator("svg[role=img] title").count() > 0);
  await formula.screenshot({path: `${folder}/attention-400.png`, fullPage: true});
  await close(formula);
}

// A page without its program, and one whose browser does not run it: stored runs, that the compiled library made.
async function stored() {
  const refused = () => { WebAssembly.instantiate = () => Promise.reject(new Error("not here")); };
  const made = ["stored.html", undefined, /made without its program.*stored runs/];
  const run = ["induction.html", refused, live ? /not here.*stored runs/ : made[2]];
  for (const [file, before, why] of [made, run]) {
    const page = await open(file, {before});
    await page.waitForFunction(() => document.getElementById("how").textContent !== "");
    assert.match(await page.textContent("#how"), why);
    assert.equal(await page.locator(".settings:visible").count(), 0);
    assert.equal(await page.locator("#run option").count(), 8);
    const first = await texts(page, "#next li");
    await page.locator("#run").focus();
    await page.keyboard.press("ArrowDown");
    assert.match(await page.getAttribute("#mask-list canvas", "aria-label"), /^window: 228 of 1024 visible/);
    assert.notDeepEqual(await texts(page, "#next li"), first);
    await page.selectOption("#run", {label: "ab; mask causal"});
    assert.deepEqual(await texts(page, "#queries button"), ["a", "b"]);
    assert.match(await page.textContent("#said"), /^2 letters; what comes next is right [01] times of 1$/);
    // Two runs side by side.
    await page.selectOption("#run", {index: 0});
    await page.selectOption("#against", {index: 2});
    assert.equal(await page.locator("#maps canvas").count(), 3);
    assert.match(await page.getAttribute("#maps canvas >> nth=2", "aria-label"), /^A − B: 32 rows, 32 columns$/);
    assert.match(await page.textContent("#said"), /^A: 32 letters; .* B: 32 letters; /);
    assert.match((await texts(page, "#next h3")).join(), /^A: next letter,B: next letter/);
    await fits(page, 1280);
    await page.screenshot({path: `${folder}/stored.png`, fullPage: true});
    await page.selectOption("#against", {label: "ab; mask causal"});
    assert.match(await page.textContent("#pair"), /No difference: A has 32 × 32 weights and B 2 × 2\.$/);
    assert.equal(await page.locator("#maps canvas").count(), 2);
    await page.selectOption("#against", {label: "none"});
    assert.equal(await page.locator("#maps canvas").count(), 1);
    await close(page);
  }
}

const block = "abcdefgabcdefgab";  // period 7
async function typed() {
  const page = await openLive("induction.html");
  assert.match(await page.textContent("#how"), /computes as you type/);
  await page.fill("#text", block);
  assert.equal(await page.inputValue("#run"), "-1");
  assert.equal((await texts(page, "#queries button")).join(""), block);
  assert.equal(await page.textContent("#said"), "16 letters; what comes next is right 8 times of 15");
  const next = await texts(page, "#next li");
  for (let i = 7; i < 15; ++i) {
    assert.match(next[i], new RegExp(`^${block[i]} → ${block[i + 1]} [01]\\.[0-9]{2} ✓$`));
    assert.ok(+next[i].split(" ")[3] > 0.9, next[i]);
  }
  // Induction heads: each letter looks at what was behind its earlier occurrence.
  for (const head of [0, 1]) {
    await choose(page, "layer 2", head);
    for (let i = 7; i < 16; ++i) {
      const all = await looks(page, i), behind = all.filter(([key]) => (i + 1 - key) % 7 === 0);
      const sum = behind.reduce((s, [, w]) => s + w, 0);
      assert.ok(sum > 0.9, `head ${head}, query ${i}: ${sum}`);
      assert.ok(all.every(([key]) => key <= i), "a causal mask hides later keys");
    }
  }
  assert.match(await page.textContent("#expects"), /^next letter: c [01]/);

  // The mask.
  const visible = () => page.getAttribute("#mask-list canvas", "aria-label");
  assert.match(await visible(), /^causal: 136 of 256 visible/);
  await page.selectOption("#mask", "none");
  assert.match(await visible(), /^none: 256 of 256 visible/);
  const later = (await looks(page, 3)).filter(([key, weight]) => key > 3 && weight > 0.1);
  assert.ok(later.length > 0, "without a mask later keys are seen");
  assert.ok(await page.locator("#width").isHidden());
  await page.selectOption("#mask", "window");
  assert.match(await visible(), /^window: 58 of 256 visible/);
  await page.locator("#width").focus();
  await page.keyboard.press("ArrowDown");
  assert.match(await visible(), /^window: 45 of 256 visible/);
  assert.ok((await looks(page, 9)).every(([key]) => key > 6 && key <= 9));
  await page.fill("#width", "");
  assert.match(await page.textContent("#said"), /^Not computed: a window has at least one key/);
  assert.equal(await page.getAttribute("#width", "aria-invalid"), "true");
  assert.equal(await page.locator("#mask-list canvas").count(), 0);
  await page.selectOption("#mask", "causal");

  // Heads: without those of the second layer nothing is found, without the first one of the first layer less.
  const right = async () => +(await page.textContent("#said")).match(/right (\d+) times/)[1];
  assert.equal(await right(), 8);
  await page.getByLabel("layer 1, head 1", {exact: true}).uncheck();
  const less = await right();
  assert.ok(less < 6, `${less} are right without layer 1, head 1`);
  await page.getByLabel("layer 1, head 1", {exact: true}).check();
  await page.getByLabel("layer 2, head 1", {exact: true}).uncheck();
  assert.equal(await right(), 8);
  await page.getByLabel("layer 2, head 2", {exact: true}).uncheck();
  assert.equal(await right(), 0);
  await page.locator("#switches").screenshot({path: `${folder}/switches.png`});

  // A stored run brings all settings along.
  await page.selectOption("#run", {index: 4});
  assert.equal(await page.inputValue("#text"), "fpkbluoacitfpkbluoacitfpkbluoaci");
  assert.equal(await page.isChecked("#switches label:nth-of-type(3) input"), false);
  await page.selectOption("#run", {label: "qwertyqwertyqwerty; mask causal"});
  assert.equal(await page.locator("#switches input:checked").count(), 4);
  assert.equal(await right(), 11);
  // The page computes what the compiled library has stored.
  const before = [await texts(page, "#next li"), await page.textContent("#row")];
  await page.fill("#text", "qwertyqwertyqwert");
  await page.fill("#text", "qwertyqwertyqwerty");
  assert.deepEqual([await texts(page, "#next li"), await page.textContent("#row")], before);

  // A result that is kept stays beside what is typed next.
  await page.click("#keep");
  await page.fill("#text", "qwertyqwertyqwertx");
  assert.match(await page.textContent("#pair"), /^A, solid: qwertyqwertyqwertx; mask causal\. B.*: qwertyqwertyqwerty;/);
  assert.match((await texts(page, "#keys span")).at(-1), /^x \| y$/);
  assert.equal(await page.locator("#maps canvas").count(), 3);
  await page.selectOption("#against", {label: "none"});

  // Two letters.
  await page.fill("#text", "ab");
  assert.deepEqual(await texts(page, "#queries button"), ["a", "b"]);
  assert.equal(await page.locator("#next li").count(), 2);
  await page.screenshot({path: `${folder}/two.png`, fullPage: true});
  await close(page);
}

async function mistyped() {
  const page = await openLive("induction.html");
  await page.fill("#text", block);
  for (const [text, message] of [["abC", /the model knows the letters a to z, and letter 3 is none of them/],
                                 ["é", /letter 1 is none of them/], ["", /type at least one letter/],
                                 ["x".repeat(33), /positions for 32 letters, these are 33/]]) {
    await page.fill("#text", text);
    assert.match(await page.textContent("#said"), message);
    assert.match(await page.textContent("#said"), /^Not computed: .* There is no result to show\.$/);
    assert.equal(await page.getAttribute("#text", "aria-invalid"), "true");
    assert.equal(await page.locator("section:visible").count(), 1, "a result of another text is left");
    assert.ok(await page.isDisabled("#keep"));
  }
  assert.equal(await page.getAttribute("#said", "role"), "status");
  assert.ok((await page.getAttribute("#text", "aria-describedby")).split(" ").includes("said"));
  await page.screenshot({path: `${folder}/mistyped.png`});
  await page.fill("#text", "ab");
  assert.equal(await page.getAttribute("#text", "aria-invalid"), null);
  assert.match(await page.textContent("#said"), /^2 letters/);
  await close(page);

  // A program that stops is started again.
  const stops = await openLive("induction.html", {before: () => {
    const instantiate = WebAssembly.instantiate;
    WebAssembly.instantiate = async (...how) => {
      const {instance} = await instantiate(...how);
      const once = {...instance.exports, answer: () => { throw new WebAssembly.RuntimeError("unreachable"); }};
      WebAssembly.instantiate = async (...again) => {
        const made = await instantiate(...again);
        setTimeout(() => { window.again = true; });  // when the page has it
        return made;
      };
      return {instance: {exports: once}};
    };
  }});
  await stops.fill("#text", "abc");
  assert.match(await stops.textContent("#said"), /^Not computed: the program failed: RuntimeError: unreachable/);
  assert.ok(await stops.locator("#weights").isHidden());
  await stops.waitForFunction(() => window.again);
  await stops.fill("#text", "ab");
  assert.match(await stops.textContent("#said"), /^2 letters/);
  await close(stops);
}

async function byKeyboard() {
  const page = await openLive("induction.html", {width: 400});
  const focused = () => page.evaluate(() => {
    const e = document.activeElement;
    return e.id || e.parentElement.textContent;
  });
  await page.keyboard.press("Tab");
  for (const id of ["run", "against", "keep"]) {
    assert.equal(await focused(), id);
    await page.keyboard.press("Tab");
  }
  assert.equal(await focused(), "text");
  await page.keyboard.press("Control+A");
  await page.keyboard.type(block);
  assert.match(await page.textContent("#said"), /^16 letters; what comes next is right 8 times of 15/);
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "mask");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.getAttribute("#mask-list canvas", "aria-label"), /^none/);
  await page.keyboard.press("ArrowUp");
  for (const name of ["layer 1, head 1", "layer 1, head 2", "layer 2, head 1"]) {
    await page.keyboard.press("Tab");
    assert.equal((await focused()).trim(), name);
  }
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  assert.match(await page.textContent("#said"), /right 0 times of 15/);
  for (const id of ["layer", "head", "other", "scale"]) {
    await page.keyboard.press("Tab");
    assert.equal(await focused(), id);
  }
  await page.keyboard.press("Tab");
  await page.keyboard.press("Home");
  assert.equal(await page.getAttribute("#looks", "aria-live"), "polite");
  for (let i = 0; i < 9; ++i) await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#row-title"), /^c \(seq 9\) attends to$/);
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, "solid", "the focus is not seen");
  await close(page);
}

async function notebookTyped() {
  const page = await openLive("notebook.html");
  assert.ok(await page.locator("#predictions").isHidden());
  assert.equal(await page.textContent("#said"), "6 words");
  const drawn = [String(await looks(page, 1)), ...await texts(page, "#step-list pre")];
  await page.fill("#text", "eat, FIRST Eat");
  assert.deepEqual(await texts(page, "#queries button"), ["eat", "first", "eat"]);
  // Equal words have equal weights; each row is a distribution.
  const row = await looks(page, 0), weight = key => row.find(([k]) => k === key)[1];
  assert.equal(weight(0), weight(2));
  assert.ok(Math.abs(row.reduce((sum, [, w]) => sum + w, 0) - 1) < 2e-3);
  // A step that is open stays so, and shows that a head which is off gives zero.
  await page.locator("summary").last().click();
  const result = () => page.textContent("details[open] pre");
  const on = await result();
  await page.getByLabel("head 2", {exact: true}).uncheck();
  const off = await result();
  assert.notEqual(off, on);
  assert.match(off, /head 2\n.*\n *eat( +(0.0000|…))+\n/);
  await page.getByLabel("head 2", {exact: true}).check();
  assert.equal(await result(), on);
  await page.fill("#text", "life is long");
  assert.match(await page.textContent("#said"), /the embedding knows six words, and "long" is none of them/);
  await page.fill("#text", "Life is short, eat dessert first");
  // As the compiled library has stored it, but for the order of additions.
  const numbers = text => text.match(/-?\d+(\.\d+)?(e-?\d+)?/g).map(Number);
  const again = [String(await looks(page, 1)), ...await texts(page, "#step-list pre")];
  again.forEach((text, i) => {
    const [computed, made] = [numbers(text), numbers(drawn[i])];
    assert.equal(computed.length, made.length);
    computed.forEach((v, k) => assert.ok(Math.abs(v - made[k]) <= 1e-3 * (1 + Math.abs(v)), `${v} is not ${made[k]}`));
  });

  // 200 words.
  const many = Array.from({length: 200}, (_, i) => ["Life", "is", "short", "eat", "dessert", "first"][i * i % 6]);
  await page.fill("#text", many.join(" "));
  assert.equal(await page.textContent("#said"), "200 words");
  assert.deepEqual(await texts(page, "#queries button"), many);
  await fits(page, 1280);
  await usable200(page);
  await page.screenshot({path: `${folder}/notebook-200.png`, fullPage: true});
  await close(page);
}

// 200 queries and keys: reached by keys and by mouse, in sight, within the window.
async function usable200(page) {
  assert.equal(await page.locator("#queries button").count(), 200);
  await page.locator("#queries [aria-pressed=true]").focus();
  await page.keyboard.press("End");
  assert.match(await page.textContent("#row-title"), /\(seq 199\) attends to/);
  const inSight = () => page.locator("#queries [aria-pressed=true]").evaluate(b => {
    const [mine, box] = [b.getBoundingClientRect(), b.closest(".scroll").getBoundingClientRect()];
    return mine.top >= box.top && mine.bottom <= box.bottom;
  });
  assert.ok(await inSight());
  await page.locator("#matrix").hover({position: {x: 5, y: 5}});
  assert.match(await page.textContent("#row-title"), /\(seq [0-5]\) attends to/);
  assert.ok(await inSight());
}

// A page with these data in it.
function write(name, data) {
  const html = readFileSync(`${folder}/attention.html`, "utf8");
  writeFileSync(`${folder}/${name}`, html.replace(/(id="data">)[^<]*/, (_, head) => head + JSON.stringify(data)));
}

// Scales, special values and results, in a small page.
async function scaled() {
  const weights = (name, values, rows) => ({name, rows, columns: 2, rowName: "seq", columnName: "key", places: ["all"],
    rowWords: [], columnWords: [], values});
  const none = {masks: [], steps: [], predictions: []};
  const result = (name, values) => ({name, ...none, weights: [weights("layer", values, 2)]});
  write("scaled.html", {...none, weights: [weights("small", [0.03, 0, 0, 0.03], 2), weights("full", [1, 1e-9, 1e-9, 1], 2),
    weights("odd", ["NaN", "∞", "-∞", "-∞"], 2), weights("even", [0.5, 0.5, 0.5, 0.5], 2)]});
  const page = await open("scaled.html", {width: 390});
  const first = () => page.evaluate(() => {
    const c = document.getElementById("matrix");
    return [...c.getContext("2d").getImageData(c.width / 4, c.height / 4, 1, 1).data].slice(0, 3);
  });
  const of = async layer => { await page.selectOption("#layer", {label: layer}); return first(); };
  assert.equal(await page.locator("#model [aria-pressed=true]").textContent(), "full, allentropy 0 %");
  // 0.03 is nearly the colour of 0 on the absolute scale; each map has its own full colour on the relative one.
  assert.notDeepEqual(await of("small"), await of("full"));
  await page.selectOption("#scale", "relative");
  assert.deepEqual(await of("small"), await of("full"));
  await of("small");
  assert.equal(await page.textContent(".scale"), "00.03");
  // NaN and both infinities are counted one by one.
  await of("odd");
  assert.match(await page.textContent("#maps .odd"), /1 NaN, 1 ∞, 2 -∞ of 4 values$/);
  assert.match(await page.getAttribute("#matrix", "aria-label"), /1 NaN, 1 ∞, 2 -∞ of 4 values$/);
  await page.screenshot({path: `${folder}/scaled.png`, fullPage: true});
  await close(page);

  write("results.html", {...none, weights: [], results: [result("model one", [1, 0, 0.25, 0.75]),
    result("model two", [1, 0, 0.75, 0.25])]});
  const two = await open("results.html", {width: 390});
  assert.match(await two.textContent("#how"), /2 results: choose one, and another one to compare/);
  await two.selectOption("#against", {label: "model two"});
  assert.match(await two.textContent("#pair"),
    /^A, solid: model one\. B, .*: model two\. The largest difference is 0\.5\.$/);
  await two.locator("#queries button").nth(1).focus();
  assert.deepEqual(await texts(two, "#row tbody tr:first-of-type td"), ["key 0", "0.25", "0.75", "-0.5", ""]);
  await fits(two, 390);
  await close(two);
}

// The page of a training that runs: it loads itself again, unless it is paused, until the training has ended.
async function training() {
  const html = readFileSync(`${folder}/training.html`, "utf8");
  const at = (step, interval) => {  // replaces the file as a whole, as the library does
    writeFileSync(`${folder}/running.partial`, html.replace("Step 200", `Step ${step}`)
      .replace(/(data-written=)"[0-9]+"/, `$1"${Date.now()}"`)
      .replace(/ data-interval="[^"]*"/, interval && ` data-interval="${interval}"`));
    renameSync(`${folder}/running.partial`, `${folder}/running.html`);
  };
  for (const [width, colorScheme] of [[390, "light"], [768, "dark"], [1280, "light"], [1920, "dark"]]) {
    at(200, 1000);
    const page = await open("running.html", {width, colorScheme});
    assert.equal(await page.locator("svg[role=img]").count(), 4);
    await fits(page, width);
    await page.screenshot({path: `${folder}/training-${width}-${colorScheme}.png`, fullPage: true});
    if (width >= 1280) { assert.deepEqual(await seriousOf(page), [], `training, ${colorScheme}: axe`); }
    await close(page);
  }
  at(200, 0.05);
  const page = await open("running.html");
  const says = s => document.getElementById("state")?.textContent.includes(`Step ${s} `);
  const shows = step => page.waitForFunction(says, step);
  at(201, 0.05);
  await shows(201);
  // Paused by keyboard: it stays as it is, also when the reader loads it again.
  at(201, 1000);
  await page.waitForFunction(() => document.getElementById("state")?.dataset.interval === "1000");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  at(202, 0.05);
  await page.reload();
  assert.equal(await page.locator("#pause").getAttribute("aria-pressed"), "true");
  at(203, 0.05);
  await page.waitForTimeout(300);
  assert.match(await page.locator("#state").textContent(), /Step 202 /);
  await page.locator("#pause").click();
  await shows(203);
  at(204, "");
  await shows(204);
  assert.ok(await page.locator("#pause").isHidden());
  assert.match(await page.locator("#written").textContent(), /^Written at [^,]*\.$/);
  await close(page);
}

// A stored report of 200 tokens, four layers of eight heads.
async function long() {
  const words = Array.from({length: 200}, (_, i) => `token${i}`);
  const layer = l => ({name: `layer ${l}`, rows: 200, columns: 200, rowName: "seq", columnName: "key",
    places: Array.from({length: 8}, (_, h) => `heads ${h}`), rowWords: words, columnWords: words,
    values: Array.from({length: 8 * 200 * 200}, (_, i) => {
      const [q, k, h] = [Math.floor(i / 200) % 200, i % 200, Math.floor(i / 40000)];
      return k > q ? 0 : +(1 / (1 + Math.abs(q - k - h * l))).toFixed(4);
    })});
  write("long.html", {weights: [0, 1, 2, 3].map(layer), masks: [], steps: [], predictions: []});
  for (const width of [400, 1280]) {
    const page = await open("long.html", {width});
    assert.equal(await page.locator("#model button").count(), 32);
    await fits(page, width);
    await usable200(page);
    await page.locator("#model button").last().click();
    assert.match(await page.getAttribute("#matrix", "aria-label"), /weights of layer 3, heads 7: 200 rows/);
    await page.screenshot({path: `${folder}/long-${width}.png`, fullPage: true});
    await close(page);
  }
}

// Every control has a name, and every id is there once.
async function named(file) {
  const page = await (live ? openLive : open)(file);
  const [names, twice] = await page.evaluate(() => {
    const controls = [...document.querySelectorAll("select, button, input, canvas[role=img], section, ol")];
    const nameless = controls.filter(e => !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length));
    const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
    return [nameless.map(e => e.outerHTML.slice(0, 80)), ids.filter((id, i) => ids.indexOf(id) !== i)];
  });
  assert.deepEqual([names, twice], [[], []]);
  await close(page);
}

try {
  await seen();
  await chosen();
  await stored();
  await scaled();
  await training();
  await long();
  for (const file of ["induction.html", "notebook.html"]) await named(file);
  if (live) for (const test of [typed, mistyped, byKeyboard, notebookTyped]) await test();
  console.log(`the report works in the browser${live ? ", and computes" : "; the pages show stored runs"}`);
} finally {
  await browser.close();
}
