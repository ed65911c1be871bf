// tests/viz/report_browser.mjs -- the report in a browser: what is seen, by mouse and by keyboard, without an error.
//
//   node tests/viz/report_browser.mjs PLAYWRIGHT CHROMIUM FOLDER 24_induction 25_pictures
//
// PLAYWRIGHT is the folder of the package playwright-core. Screenshots are left in FOLDER.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdirSync} from "node:fs";
import {createRequire} from "node:module";
import {resolve} from "node:path";

const [playwright, executablePath, folder, induction, pictures] = process.argv.slice(2);
const {chromium} = createRequire(import.meta.url)(resolve(playwright));
mkdirSync(folder, {recursive: true});
execFileSync(induction, ["--report", `${folder}/induction.html`]);
execFileSync(pictures, [folder]);

const browser = await chromium.launch({executablePath, args: ["--no-sandbox"]});
async function open(file, width, colorScheme) {
  const page = await browser.newPage({viewport: {width, height: 900}, colorScheme});
  page.wrong = [];
  page.on("console", m => { if (["error", "warning"].includes(m.type())) page.wrong.push(m.text()); });
  page.on("pageerror", e => page.wrong.push(String(e)));
  page.on("request", r => { if (!r.url().startsWith("file:") && !r.url().startsWith("data:")) page.wrong.push(r.url()); });
  await page.goto(`file://${resolve(folder, file)}`);
  return page;
}
const texts = (page, selector) => page.locator(selector).allTextContents();
const pressed = async page => (await texts(page, "#queries [aria-pressed=true]")).join();

try {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [400, 1280]) {
      const page = await open("induction.html", width, colorScheme);
      assert.equal(await page.locator("#queries button").count(), 32);
      assert.equal(await page.locator("#model button").count(), 4);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `the page is ${wide} wide in a window of ${width}`);
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(paper, colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(18, 22, 29)");
      await page.screenshot({path: `${folder}/induction-${width}-${colorScheme}.png`, fullPage: true});
      assert.deepEqual(page.wrong, []);
      await page.close();
    }
  }

  const page = await open("induction.html", 1280, "light");
  // Layer and head by the lists; another head beside it.
  await page.selectOption("#layer", {label: "layer 2"});
  await page.selectOption("#head", {index: 1});
  assert.match(await page.getAttribute("#matrix", "aria-label"), /weights of layer 2, .*heads 1: 32 rows, 32 columns/);
  assert.equal(await page.locator("#model [aria-pressed=true]").textContent(), "layer 2, batch 0, heads 1");
  const alone = await page.locator("#lines .one").count();
  assert.ok(alone > 0 && await page.locator("#lines .two").count() === 0);
  await page.selectOption("#other", {index: 1});
  assert.ok(await page.locator("#lines .two").count() > 0);
  assert.match((await texts(page, "#row td")).join(" "), / \/ /);
  // The model view chooses, too, and ends the comparison.
  await page.locator("#model button").first().click();
  assert.equal(await page.inputValue("#layer"), "0");
  assert.equal(await page.locator("#lines .two").count(), 0);
  // A word by mouse and by keys; the first query sees itself alone.
  await page.locator("#queries button").nth(5).hover();
  assert.match(await page.textContent("#row-title"), /\(seq 5\) looks at/);
  await page.locator("#queries button").nth(5).focus();
  await page.keyboard.press("ArrowUp");
  assert.match(await page.textContent("#row-title"), /\(seq 4\) looks at/);
  await page.keyboard.press("Home");
  assert.match(await page.textContent("#row-title"), /\(seq 0\) looks at/);
  assert.equal(await page.locator("#row tr").count(), 1);
  assert.match(await page.textContent("#row"), /key 01/);
  assert.equal(await page.locator("#lines line").count(), 1);
  await page.locator("#matrix").hover({position: {x: 5, y: 300}});
  assert.match(await page.textContent("#cell"), /^. → .: [0-9.e-]+$/);
  assert.match(await page.getAttribute("#mask-list canvas", "aria-label"), /528 of 1024 visible/);
  assert.ok(await page.locator("#steps").isHidden());
  assert.deepEqual(page.wrong, []);

  const formula = await open("attention.html", 400, "light");
  assert.equal(await pressed(formula), ".");
  assert.equal(await formula.locator("#step-list details").count(), 10);
  await formula.locator("summary").nth(5).focus();
  await formula.keyboard.press("Enter");
  assert.match(await formula.locator("details[open] pre").textContent(), /seq \\ key/);
  assert.ok(await formula.locator("svg[role=img] title").count() > 0);
  const names = await formula.evaluate(() => [...document.querySelectorAll("select, button, canvas[role=img]")]
    .filter(e => !(e.textContent || e.getAttribute("aria-label") || e.labels?.length)).length);
  assert.equal(names, 0, "controls without a name");
  await formula.screenshot({path: `${folder}/attention-400.png`, fullPage: true});
  assert.deepEqual(formula.wrong, []);
  console.log("the report works in the browser");
} finally {
  await browser.close();
}
