// tests/playground/page_browser.mjs -- the playground in a browser, from the first visit to use without a network.
//
//   node tests/playground/page_browser.mjs PLAYWRIGHT CHROMIUM FOLDER
//
// PLAYWRIGHT is the folder of the package playwright-core. tools/playground.sh has built the page. Screenshots are left in FOLDER.
import assert from "node:assert/strict";
import {createReadStream, existsSync, mkdirSync, rmSync, statSync} from "node:fs";
import {createServer} from "node:http";
import {createRequire} from "node:module";
import {extname, join, resolve} from "node:path";
import {accessibility} from "../docs/serious.mjs";
import {folder as built} from "../../tools/playground/toolchain.mjs";
import {programs} from "../../tools/playground/programs.mjs";

const [playwright, executablePath, folder] = process.argv.slice(2);
const {chromium} = createRequire(import.meta.url)(resolve(playwright)), seriousOf = accessibility(playwright);
const site = join(built, "site"), below = "/some/folder/playground/", patience = 120000;
mkdirSync(folder, {recursive: true});

// A server of files that knows few kinds, below a path. It holds back the files that `slow` matches until `release` is called, and lacks
// those that `missing` matches.
let slow, release, missing;
const kinds = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".txt": "text/plain"};
const server = createServer(async (request, response) => {
  const path = new URL(request.url, "http://127.0.0.1").pathname;
  const file = join(site, path.replace(below, "/").replace(/\/$/, "/index.html"));
  if (!path.startsWith(below) || missing?.test(path) || !existsSync(file) || !statSync(file).isFile()) { response.writeHead(404).end(); return; }
  if (slow?.test(path)) { await new Promise(done => { release = done; }); }
  response.writeHead(200, {"content-type": kinds[extname(file)] ?? "application/octet-stream", "content-length": statSync(file).size});
  createReadStream(file).pipe(response);
});
await new Promise(done => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}${below}`;

const profile = resolve(folder, "profile");
rmSync(profile, {recursive: true, force: true});
const context = await chromium.launchPersistentContext(profile, {executablePath, args: ["--no-sandbox"], viewport: {width: 1280, height: 800}});
await context.grantPermissions(["clipboard-read", "clipboard-write"]);
const wrong = [];
async function open(fragment = "") {
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  page.fetched = [];
  page.on("console", m => { if (["error", "warning"].includes(m.type())) { wrong.push(m.text()); } });
  page.on("pageerror", e => wrong.push(String(e)));
  page.on("request", r => page.fetched.push(r.url()));
  page.served = [];
  page.on("response", r => { if (r.fromServiceWorker()) { page.served.push(r.url()); } });
  page.on("response", r => { if (r.status() >= 400) { wrong.push(`${r.status()} ${r.url()}`); } });
  await page.goto(address + fragment);
  await page.locator("nav a[aria-current], #title:has-text('link')").first().waitFor({state: "attached"});
  return page;
}
async function choose(page, program) {
  await page.goto(`${address}#program=${program}`);
  await page.locator(`nav a[aria-current][href="#program=${program}"]`).waitFor({state: "attached"});
}
const status = (page, text) => page.locator("#status", {hasText: text}).waitFor();
async function write(page, text) {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(text);
}
async function look(page, name) {
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({colorScheme: scheme});
    for (const width of [390, 768, 1920, 1280]) {
      await page.setViewportSize({width, height: width === 390 ? 844 : 800});
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name}: ${wide} pixels in a window of ${width}`);
      assert.deepEqual(await page.locator(".message mark").evaluateAll(all => all.filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.textContent)), [],
                       `${name}: culprits that are not seen at ${width}`);
      await page.screenshot({path: join(folder, `${name}_${width}_${scheme}.png`), fullPage: width === 390});
    }
    assert.deepEqual(await page.evaluate(faint), [], `${name}, ${scheme}: contrast`);
    assert.deepEqual(await seriousOf(page), [], `${name}, ${scheme}: axe`);
  }
  await page.emulateMedia({colorScheme: "light"});
}
// The texts with less contrast than 4.5 to 1.
function faint() {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => sum + weight * (v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))([r, g, b][i] / 255), 0);
  const found = [];
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!own || !one.checkVisibility({opacityProperty: true}) || one.closest("button:disabled, .stale, noscript, script, option")) { continue; }
    const behind = [];
    for (let at = one; at; at = at.parentElement) {
      behind.push(rgba(getComputedStyle(at).backgroundColor));
      if (behind.at(-1)[3] === 255) { break; }
    }
    const back = behind.reduceRight((below, [r, g, b, a]) => [r, g, b].map((v, i) => (v * a + below[i] * (255 - a)) / 255), [255, 255, 255]);
    const [high, low] = [light(rgba(getComputedStyle(one).color)), light(back)].sort((a, b) => b - a);
    if ((high + 0.05) / (low + 0.05) < 4.5) { found.push(`${one.tagName}.${one.className}: ${one.textContent.slice(0, 40)}`); }
  }
  return found;
}

let passed = 0;
async function test(name, use) {
  const start = performance.now();
  await use().catch(async problem => {
    await page.screenshot({path: join(folder, "failed.png")});
    throw problem;
  });
  ++passed;
  console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
// Clicks on a page that has not started count. In another browser, which keeps nothing.
await (async () => {
  const browser = await chromium.launch({executablePath, args: ["--no-sandbox"]}), start = performance.now();
  for (const late of [/\/app\..*\.js$/, /\/programs\..*\.json$/]) {
    const early = await browser.newPage();
    early.setDefaultTimeout(20000);
    const asked = early.waitForRequest(/files\/llvm/);
    slow = late;
    release = undefined;
    await early.goto(address, {waitUntil: "commit"});
    while (!release) { await new Promise(done => setTimeout(done, 20)); }
    await early.click("#load");
    await early.locator("#status", {hasText: "Loading the"}).waitFor();
    await early.click("#theme");
    slow = undefined;
    release();
    await asked;
    await early.locator("#theme[aria-pressed=true]").waitFor();
    await early.locator("#status", {hasText: /compiler/}).waitFor();
    await early.close();
  }
  await browser.close();
  console.log(`clicks before the page has started: ${((performance.now() - start) / 1000).toFixed(1)} s`);
})();

let page = await open();
const listed = programs(), exercise = listed.find(one => one.id.startsWith("01_")), count = listed.filter(one => one.group === "Exercises").length;

await test("nothing is loaded before the reader asks; the error is there", async () => {
  assert.equal(await page.textContent("#problems button"), `Line ${exercise.line}: ${await page.textContent(".message .said")}`);
  assert.equal(await page.textContent("#status"), "1 error");
  assert.deepEqual(page.fetched.filter(url => /files\/|compiler|runner/.test(url)), []);
  assert.match(await page.textContent("#load"), /Load the compiler \(\d\d MB\)/);
  assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll("button, a, [tabindex]")]
    .filter(one => !(one.textContent.trim() || one.ariaLabel)).map(one => one.outerHTML)), [], "elements without a name");
  await look(page, "first");
  await write(page, `${exercise.text}// changed`);
  await status(page, "Load the compiler to check what you wrote.");
  await page.click("#reset");
  await status(page, /^1 error$/);
});
await test("the error below its line, after the load", async () => {
  await page.locator("#load").focus();
  await page.keyboard.press("Enter");
  await status(page, /^1 error \(/);
  assert.equal(await page.textContent("#problems button"), `Line ${exercise.line}: ${await page.textContent(".message .said")}`);
  assert.match(await page.textContent(".message"), /Fix: /);
  assert.equal(await page.locator(".cm-line.wrong + .message, .cm-line.wrong ~ .message").count(), 1);
  await look(page, "error");
});
await test("the solution passes, and progress is kept", async () => {
  await page.click("#solution");
  await write(page, await page.textContent("#notes pre"));
  await page.keyboard.press("Control+Enter");
  await status(page, "Passed.");
  assert.match(await page.textContent("#count"), new RegExp(`^1 of ${count} `));
  assert.equal(await page.locator("nav .done").count(), 1);
});
await test("shapes with the culprits marked", async () => {
  await choose(page, "mistake_readme");
  await page.locator(".message table").waitFor();
  assert.ok((await page.locator(".message mark").allTextContents()).includes("seq"), "the culprit");
  const link = await page.locator("nav a[aria-current]").boundingBox();
  assert.ok(link && link.y > 0 && link.y + link.height < 800, "the program is not seen in the list");
  const tops = await page.evaluate(() => ({  // of the last line and its number
    line: [...document.querySelectorAll(".cm-line")].at(-1).getBoundingClientRect().top, number: [...document.querySelectorAll(".cm-lineNumbers .cm-gutterElement")].at(-1).getBoundingClientRect().top,
  }));
  assert.ok(Math.abs(tops.line - tops.number) < 2, `a line at ${tops.line} has its number at ${tops.number}`);
  await page.locator(".message summary").first().click();
  assert.ok(await page.locator(".message li").first().isVisible());
  await look(page, "mistake");
});
await test("the first error of a long program is scrolled to; caret and focus stay", async () => {
  const view = () => page.evaluate(() => {
    const scroller = document.querySelector(".cm-scroller"), box = scroller.getBoundingClientRect(), focus = document.activeElement;
    const said = document.querySelector(".message .said")?.getBoundingClientRect();  // the editor draws no lines far from what is seen
    return {scrolled: scroller.scrollTop, seen: said && said.top >= Math.max(box.top, 0) && said.bottom <= Math.min(box.bottom, innerHeight), focus: focus.id || focus.className};
  });
  const seen = async () => {
    const end = performance.now() + 20000;
    while (!(await view()).seen) {
      assert.ok(performance.now() < end, "the error is not seen");
      await new Promise(done => setTimeout(done, 50));
    }
  };
  const lines = "// a line\n".repeat(150);
  await write(page, `${lines}int main() {\n  return missing;\n}\n${lines}`);
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("// typed\n");
  await page.locator("#editor.stale").waitFor({state: "detached"});
  await status(page, "1 error");
  const typing = await view();
  assert.ok(!typing.seen && typing.scrolled < 20, "a check while the reader types does not scroll");
  await page.click("#run");
  await seen();
  assert.equal((await view()).focus, "run");
  const {scrolled} = await view();
  await page.click("#run");
  await status(page, "1 error");
  assert.equal((await view()).scrolled, scrolled, "what is seen is not scrolled");
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Control+Enter");
  await seen();
  assert.match((await view()).focus, /cm-content/);
  await page.keyboard.insertText("// end");
  await page.waitForFunction(() => /\/\/ end/.test(document.querySelector(".cm-content").textContent), undefined, {timeout: 20000});  // the caret stayed
  await choose(page, "10_softmax_over_the_keys");
  await choose(page, "mistake_readme");
  await seen();
  await page.setViewportSize({width: 390, height: 844});  // here the page scrolls, not the editor
  await page.evaluate(() => scrollTo(0, 0));
  await page.click("#run");
  await seen();
  await page.setViewportSize({width: 1280, height: 800});
  await page.click("#reset");
});
await test("pictures and a report", async () => {
  await choose(page, "25_pictures");
  await page.click("#run");
  await status(page, "The program ended after");
  assert.ok(await page.locator("figure img").count() >= 6);
  assert.ok(await page.locator("figure img").first().evaluate(async one => { await one.decode(); return one.naturalWidth > 100; }));
  assert.equal(await page.locator("iframe[title='attention.html']").getAttribute("sandbox"), "allow-scripts");
  assert.match(await page.frameLocator("iframe[title='attention.html']").locator("body").textContent(), /softmax/);
  await look(page, "pictures");
});
await test("an exception by name, and a shared link", async () => {
  await write(page, '#include "prelude.hpp"\nstruct seq : dimwise::position_dim<> {};\nint main() { dimwise::tensor<float, seq> x(seq{2}); x.assign(std::vector<float>{1}); }\n// ü');
  await page.click("#run");
  await status(page, "ended with code 1");
  assert.match(await page.textContent("#output .err"), /not caught: dimwise::\w+: /);
  await page.click("#share");
  await page.locator("#notes a").waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await open(link.replace(address, ""));
  assert.match(await other.textContent("#title"), /link/);
  assert.match(await other.textContent(".cm-content"), /x\.assign.*\/\/ ü/s);
  await other.close();
});
await test("programs without an end are stopped", async () => {
  await write(page, "int main() {\n  for (volatile int i = 0;; i = i + 1) {}\n}\n");
  await page.click("#run");
  await page.click("#stop");
  await status(page, "was stopped.");
  await page.click("#run");
  await status(page, "was stopped after 20 s");
  await write(page, "#include <cstdio>\nint main() {\n  for (;;) { std::puts(\"more\"); }\n}\n");
  await page.click("#run");
  await status(page, "printed more than 1 MB");
});
await test("without a network", async () => {
  const tenth = listed.find(one => one.id.startsWith("10_"));
  await choose(page, tenth.id);
  await status(page, /^1 error \(/);
  await write(page, `// written here\n${tenth.text}`);
  await page.locator("#editor.stale").waitFor({state: "detached"});
  await page.close();
  await context.setOffline(true);
  server.closeAllConnections?.();
  await context.addInitScript(() => {  // which script starts the workers, and the status when an error is first seen
    new MutationObserver(() => {
      if (document.querySelector(".message .said")) { self.statusWithError ??= document.getElementById("status").textContent; }
    }).observe(document, {subtree: true, childList: true});
    const Real = Worker;
    self.starters = [];
    self.sent = [];
    self.Worker = class extends Real {
      constructor(...how) {
        super(...how);
        self.starters.push(new Error().stack);
      }
      postMessage(message, ...how) {
        self.sent.push(message.kind);
        super.postMessage(message, ...how);
      }
    };
  });
  page = await open("#program=10_softmax_over_the_keys");
  const start = performance.now();
  await page.locator(".message .said").waitFor();
  const shown = performance.now() - start;
  await status(page, /^1 error \(/);
  await page.locator(".cm-content").focus();
  const times = [shown, performance.now() - start].map(time => (time / 1000).toFixed(1));
  console.log(`  the second visit shows the error after ${times[0]} s, and has checked the program after ${times[1]} s, ${await page.textContent("#status")}`);
  assert.ok(!/\(/.test(await page.evaluate(() => self.statusWithError)), "the error of the last visit waits for the compiler");
  const [starter] = await page.evaluate(() => self.starters);
  assert.ok(!starter.includes("/app."), "the compiler waits for the editor");
  assert.ok(page.served.some(url => /files\/llvm\.\w+\.wasm$/.test(url)), "the module does not come by the service worker, so its machine code is not kept");
  assert.ok(!page.fetched.some(url => /\.gz$/.test(url)), "something is downloaded again");
  const rehearsals = () => page.evaluate(() => self.sent.filter(kind => kind === "rehearse").length);
  await page.keyboard.press("Space");  // the editor has the focus
  const before = await rehearsals();
  for (let key = 0; key < 12; ++key) {
    await page.keyboard.press("Space");
    await new Promise(done => setTimeout(done, 120));
  }
  assert.equal(await rehearsals(), before, "a check of what is typed waits for a rehearsal");
  await write(page, tenth.solution);
  await page.click("#run");
  await status(page, "Passed.");
  assert.match(await page.textContent("#count"), new RegExp(`^2 of ${count} `));
});
await test("the list and the colours by keyboard", async () => {
  await page.setViewportSize({width: 390, height: 844});
  await page.locator("#list").focus();
  await page.keyboard.press("Enter");
  await page.locator("nav").waitFor();
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("nav").isVisible()));
  await page.locator("#theme").focus();
  await page.keyboard.press("Space");
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark");
});
await test("a worker that fails before the page has started, and another try", async () => {
  await page.evaluate(async () => {
    const cache = await caches.open("dimwise-playground"), {pathname} = location;
    for (const request of await cache.keys()) {
      if (new RegExp(`^${pathname}(app|compiler)\\.`).test(new URL(request.url).pathname)) { await cache.delete(request); }
    }
  });
  await page.close();
  await context.setOffline(false);
  assert.deepEqual(wrong, []);
  missing = /\/compiler\./;
  slow = /\/app\./;
  release = undefined;
  const lacking = context.waitForEvent("response", r => r.status() === 404), opened = open("#program=10_softmax_over_the_keys");
  await lacking;
  while (!release) { await new Promise(done => setTimeout(done, 20)); }
  await new Promise(done => setTimeout(done, 500));  // for the worker's error to reach the page
  slow = undefined;
  release();
  page = await opened;
  await page.locator("#status", {hasText: "The compiler failed: the compiler's worker did not start"}).waitFor({timeout: 20000});
  assert.deepEqual(wrong.splice(0).filter(one => !/404/.test(one)), []);
  missing = undefined;
  await page.click("#load");
  await status(page, "Compiles");
});
await test("a later visit registers the service worker if there is none", async () => {
  await page.evaluate(async () => (await navigator.serviceWorker.getRegistration()).unregister());
  await page.close();
  page = await open();
  await page.evaluate(() => Promise.race([navigator.serviceWorker.ready, new Promise((_, fail) => { setTimeout(fail, 20000, new Error("no service worker")); })]).then(() => {}));
  assert.equal(await page.evaluate(() => self.starters.length), 1, "the compiler did not start early");
});
assert.deepEqual(wrong, []);
await context.close();
server.close();
console.log(`${passed} passed, 0 failed`);
