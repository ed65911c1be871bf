// tests/docs/site_browser.mjs -- the site of the documentation in a browser: served, read, searched, without an error.
//
//   node tests/docs/site_browser.mjs PLAYWRIGHT CHROMIUM SITE FOLDER
//
// PLAYWRIGHT is the folder of the package playwright-core; axe-core is beside it. tools/site.sh has built SITE. Screenshots are left in FOLDER.
import assert from "node:assert/strict";
import {existsSync, mkdirSync, readFileSync, readdirSync} from "node:fs";
import {createRequire} from "node:module";
import {join, resolve} from "node:path";
import {inflateRawSync} from "node:zlib";
import {accessibility} from "./serious.mjs";
import {serve} from "./server.mjs";

const [playwright, executablePath, built, folder] = process.argv.slice(2);
const {chromium} = createRequire(import.meta.url)(resolve(playwright));
const site = resolve(built);
mkdirSync(folder, {recursive: true});
const seriousOf = accessibility(playwright);
const files = readdirSync(site, {recursive: true}).filter(file => file.endsWith(".html") && !/^(api|playground)\//.test(file)).sort();
const {server, address} = await serve(site);

const browser = await chromium.launch({executablePath, args: ["--no-sandbox"]});
/** A page of a context, whose `wrong` lists errors, warnings, failed requests and requests to elsewhere. */
async function watched(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(120000);  // other tests use the cores, too
  page.wrong = [];
  page.on("console", m => { if (["error", "warning"].includes(m.type())) { page.wrong.push(m.text()); } });
  page.on("pageerror", e => page.wrong.push(String(e)));
  page.on("request", r => { if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(r.url())) { page.wrong.push(r.url()); } });
  page.on("response", r => { if (r.status() >= 400) { page.wrong.push(`${r.status()} ${r.url()}`); } });
  return page;
}
async function open(path, width, colorScheme) {
  const page = await watched(await browser.newContext({viewport: {width, height: 900}, colorScheme}));
  await page.goto(address + path);
  return page;
}
const widths = [1920, 1280, 768, 390];
const resize = (page, width) => page.setViewportSize({width, height: 900});

/** Opens each of the files and calls `use(page, file)`: three at a time, because a page waits for the browser and for the server. The search, whose
 *  index each page reads (2 MB, a third of its time), has an empty one here. */
async function visit(paths, options, use) {
  const left = [...paths];
  await Promise.all(Array.from({length: 3}, async () => {
    const context = await browser.newContext(options), page = await watched(context);
    await context.route("**/search_index.json", route => route.fulfill({json: {config: {lang: ["en"], separator: " ", pipeline: []}, docs: []}}));
    await context.addInitScript(() => localStorage.clear());  // the site keeps the first scheme that it sees
    for (let path = left.shift(); path !== undefined; path = left.shift()) {
      await resize(page, 1280);
      await page.goto(address + path);
      await use(page, path);
      assert.deepEqual(page.wrong, [], path);
    }
    await context.close();
  }));
}

// Types words until their result is there: what is typed before the page's script listens has none.
async function typed(input, words, result) {
  for (let tries = 1; ; ++tries) {
    await input.fill("");
    await input.fill(words);
    await input.press("End");  // the page listens to keys
    try {
      return await result.waitFor({timeout: 10000});
    } catch (none) {
      if (tries === 12) { throw none; }
    }
  }
}

const pages = {
  "index.html": "dimwise",
  "tutorial/attention.html": "",
  "howto/read_an_error.html": "Read an error",
  "reference/operations.html": "Operations",
  "reference/equations.html": "",
  "reference/pictures.html": "",
  "explanation/from_formula_to_kernel.html": "From the formula to the kernel",
  "errors.html": "Compile errors",
  "errors/R7.html": "R7: Masks",
  "start/write_attention.html": "Write attention",
  "howto/install.html": "Install",
  "glossary.html": "Glossary",
  "decisions/index.html": "Decisions",
  "ARCHITECTURE.html": "Architecture",
  "source/include/dimwise/expr/rows/reduce.hpp.html": "include/dimwise/expr/rows/reduce.hpp",
};

// Code fits at this width, and so do pictures and the page; what is wider than its box has a shadow at the edge. Names in tables are whole,
// those in texts break between their parts, the titles in the footer are whole, and no heading leaves an empty line below it. What a picture
// marks is seen, the words of one that was drawn and the text of a compiler are large enough to be read, and no word is below the arrow of a
// fold. On a phone a table of text is a list of its rows.
async function assertFits(page, path, width) {
  const {wide, cut, bare, torn, tall, beside, ended, small, tiny, covered, sideways} = await page.evaluate(() => ({
    torn: [...document.querySelectorAll("article .dw-table code, article :is(p, li, dd) .dw-name")]
      .filter(e => (e.matches(".dw-name") ? !e.closest("td") : /^\w{2,17}$/.test(e.textContent)) && e.getClientRects().length > 1).map(e => e.textContent),
    tiny: [...document.querySelectorAll("article .dw-wide > svg text")].filter(e => {
      const {a, b} = e.getScreenCTM();  // a word may be turned
      return e.checkVisibility() && parseFloat(getComputedStyle(e).fontSize) * Math.hypot(a, b) < 8.9;
    }).map(e => e.textContent),
    covered: [...document.querySelectorAll("article summary")].filter(e => {
      const words = document.createRange();
      words.selectNodeContents(e);
      return e.checkVisibility() && [...words.getClientRects()].some(one => one.right > e.getBoundingClientRect().right - 30);
    }).map(e => e.textContent),
    sideways: [...document.querySelectorAll("article .dw-table:is(.dw-stacked, :has(td.dw-long:not(:first-child)))")].filter(e => e.clientWidth < 400 && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.slice(0, 80)),
    beside: [...document.querySelectorAll("article .dw-picture:not(.dw-wide) svg, article .dw-picture:not(.dw-wide) svg .culprit")].filter(e => {
      const box = e.getBoundingClientRect();
      return box.width && (box.left < 0 || box.right > innerWidth);
    }).map(e => e.closest("svg").querySelector("title").textContent),
    ended: [...document.querySelectorAll(".md-footer__title .md-ellipsis")]
      .filter(e => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().left < 0 || e.getBoundingClientRect().right > innerWidth).map(e => e.textContent.trim()),
    small: [...document.querySelectorAll("article .dw-line")].filter(e => e.clientWidth && parseFloat(getComputedStyle(e).fontSize) < 8.3).map(e => e.textContent),
    tall: [...document.querySelectorAll("article :is(h1, h2, h3)")].filter(e => {
      const link = e.querySelector(".headerlink"), words = document.createRange();
      words.setStart(e, 0);
      if (link) { words.setEndBefore(link); } else { words.setEnd(e, e.childNodes.length); }
      return e.clientHeight && e.getBoundingClientRect().bottom - words.getBoundingClientRect().bottom > 16;
    }).map(e => e.textContent),
    wide: Math.max(document.documentElement.scrollWidth, document.body.scrollWidth),
    cut: [...document.querySelectorAll("article pre, article pre code")]
      .filter(e => e.clientWidth && (e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth + 1))
      .map(e => e.textContent.slice(0, 80)),
    bare: [...document.querySelectorAll("article :is(.dw-table, .dw-rows, div.arithmatex)")]
      .filter(e => e.scrollWidth > e.clientWidth + 1 && [undefined, "::after"].every(part => getComputedStyle(e, part).backgroundImage === "none"))
      .map(e => `${e.className}: ${e.textContent.slice(0, 80)}`),
  }));
  assert.deepEqual(cut, [], `${path} at ${width}: code is cut`);
  assert.deepEqual(bare, [], `${path} at ${width}: scrolls without a hint`);
  assert.deepEqual(torn, [], `${path} at ${width}: names are broken`);
  assert.deepEqual(beside, [], `${path} at ${width}: a picture, or what it marks, is beside the page`);
  assert.deepEqual(ended, [], `${path} at ${width}: titles in the footer are cut`);
  assert.deepEqual(small, [], `${path} at ${width}: too small to read`);
  assert.deepEqual(tiny, [], `${path} at ${width}: words of pictures are too small to read`);
  assert.deepEqual(covered, [], `${path} at ${width}: words below the arrow of a fold`);
  assert.deepEqual(sideways, [], `${path} at ${width}: tables of text scroll`);
  assert.deepEqual(tall, [], `${path} at ${width}: headings with an empty line`);
  assert.ok(path.startsWith("source/") || wide <= width, `${path} is ${wide} wide in a window of ${width}`);
}

// The page has its title and the colours of its scheme.
async function assertReadable(page, path, colorScheme) {
  const heading = (await page.locator("article h1").first().textContent()).replace("¶", "").trim();
  assert.ok(heading.length > 0 && heading.startsWith(pages[path]), `${path} is headed ${heading}`);
  const [ink, paper] = await page.evaluate(() => [getComputedStyle(document.querySelector("article")).color,
    getComputedStyle(document.body).backgroundColor].map(c => Math.max(...c.match(/\d+/g).slice(0, 3).map(Number))));
  assert.ok(colorScheme === "light" ? paper > 200 && ink < 120 : paper < 80 && ink > 180, `${path}, ${colorScheme}: paper ${paper}, ink ${ink}`);
}

// No Markdown is left, such as a heading without an empty line before it, which becomes a row of the table above; no line of a text that
// begins with a number has become a list. Powers are raised, names in code have no plural, and tables have heads.
async function assertRendered(page, path) {
  const {raw, single, flat, plural, headless} = await page.evaluate(() => ({
    flat: [...document.querySelectorAll("article :is(p, li, td)")].filter(e => {
      const words = e.cloneNode(true);
      words.querySelectorAll("code, pre, .arithmatex, svg").forEach(one => one.remove());
      return /\w\^[\w(−-]/.test(words.textContent);
    }).map(e => e.textContent.slice(0, 80)),
    plural: [...document.querySelectorAll("article :is(p, li, td) code")].filter(e => /^s\b/.test(e.nextSibling?.textContent ?? "")).map(e => `${e.textContent}s`),
    headless: [...document.querySelectorAll("article .dw-table tr:first-child")].filter(e => !e.textContent.trim()).map(e => e.closest("table").textContent.trim().slice(0, 80)),
    raw: [...document.querySelectorAll("article :is(p, li, td, th)")].map(e => e.textContent.trim()).filter(text => /^(#+ |\| .*\|$|```)/.test(text)),
    single: [...document.querySelectorAll("article ol")].filter(e => e.children.length < 2).map(e => e.textContent.trim().slice(0, 80)),
  }));
  assert.deepEqual(raw, [], `${path}: Markdown is shown`);
  assert.deepEqual(single, [], `${path}: lists of one item`);
  assert.deepEqual(flat, [], `${path}: powers are written with ^`);
  assert.deepEqual(plural, [], `${path}: names in code have a plural`);
  assert.deepEqual(headless, [], `${path}: tables without a head`);
}

// What axe calls serious. It takes seconds to begin in a page, so it reads these pages whole, for what all pages share, and the articles of all
// others many at a time in one page. An article of which it says something there is read again where it belongs.
const asked = ["index.html", "reference/operations.html", "errors/R7.html", "source/include/dimwise/expr/rows/reduce.hpp.html", "assets/report.html"];
const serious = {}, articles = {light: [], dark: []};
async function collectSerious(page, path, colorScheme) {
  for (const {id, html, summary, count} of await seriousOf(page)) { (serious[`${id}: ${html} (${summary})`] ??= []).push(`${path}, ${colorScheme}: ${count}`); }
}
async function collectArticle(page, path, colorScheme) {
  const {html, size} = await page.locator("article").first().evaluate(e => ({html: e.innerHTML, size: e.querySelectorAll("*").length}));
  const last = articles[colorScheme].at(-1);
  if (last && last.size + size < 20000) {
    last.size += size;
    last.all.push([path, html]);
  } else {
    articles[colorScheme].push({size, all: [[path, html]]});
  }
}
async function askArticles(colorScheme) {
  for (const {all} of articles[colorScheme]) {
    const page = await open("glossary.html", 1280, colorScheme);
    await page.locator("article").evaluate((first, all) => {
      for (const [path, html] of all) {
        const one = first.cloneNode();
        one.innerHTML = html;
        one.dataset.path = path;
        first.before(one);
      }
      first.remove();
    }, all);
    const wrong = new Set();
    for (const selector of (await seriousOf(page)).flatMap(one => one.targets)) {
      wrong.add(await page.locator(selector).first().evaluate(e => e.closest("article[data-path]")?.dataset.path));
    }
    for (const path of wrong) {
      assert.ok(path, "what all pages share has something serious");
      await page.goto(address + path);
      await collectSerious(page, path, colorScheme);
    }
    await page.context().close();
  }
}

// Each error has its picture: a drawing with a title and the culprit.
async function assertPictures(page, path) {
  const missing = await page.evaluate(() => [...document.querySelectorAll("article h2")].filter(heading => {
    if (!heading.id.startsWith("error_")) { return false; }
    let next = heading.nextElementSibling;
    while (next && !/^H[123]$/.test(next.tagName) && !next.matches(".dw-picture")) { next = next.nextElementSibling; }
    const svg = next?.matches(".dw-picture") && next.querySelector("svg[role=img]");
    return !(svg && svg.querySelector("title").textContent && svg.querySelector(".culprit") && svg.getBoundingClientRect().width > 40);
  }).map(heading => heading.textContent));
  assert.deepEqual(missing, [], `${path}: errors without a picture`);
}

// Each "Try it" opens the program above it. -> how many there are
async function countPrograms(page, path) {
  const links = await page.evaluate(() => [...document.querySelectorAll(".dw-try a[href*='#code=']")].map(link => {
    let before = link.closest("p").previousElementSibling;
    while (!before.querySelector("pre")) { before = before.previousElementSibling; }
    return [link.href, before.querySelector("pre").textContent];
  }));
  for (const [href, above] of links) {
    assert.equal(inflateRawSync(Buffer.from(href.split("#code=")[1], "base64url")).toString().trim(), above.trim(), path);
  }
  return links.length;
}

const start = performance.now();
const say = what => console.log(`${((performance.now() - start) / 1000).toFixed(1)} s: ${what}`);

try {
  // Each page is opened once, those of `pages` in both schemes.
  const isSource = file => file.startsWith("source/"), isRule = file => file.startsWith("errors/");
  const inBoth = [...Object.keys(pages), "reference/marks.html", "tutorial/course.html", "assets/report.html"];  // the others in the light scheme
  const shot = (page, path, width, scheme) => page.screenshot({path: `${folder}/${path.replaceAll("/", "-").replace(".html", "")}-${width}-${scheme}.png`});
  const blocks = [], programs = [], sum = all => all.reduce((done, one) => done + one, 0);
  await visit(files.filter(file => !isSource(file) || file in pages), {colorScheme: "light"}, async (page, path) => {
    blocks.push(await page.locator("article pre").count());
    programs.push(await countPrograms(page, path));
    await assertRendered(page, path);
    if (isRule(path)) { await assertPictures(page, path); }
    for (const colorScheme of inBoth.includes(path) ? ["light", "dark"] : ["light"]) {
      if (colorScheme === "dark") {
        await page.emulateMedia({colorScheme});
        await resize(page, 1280);
        await page.reload();
      }
      await (asked.includes(path) ? collectSerious : collectArticle)(page, path, colorScheme);
      if (path in pages) { await assertReadable(page, path, colorScheme); }
      for (const width of widths) {
        await resize(page, width);
        await page.evaluate(() => new Promise(requestAnimationFrame));  // the page has this width
        await assertFits(page, path, width);
        if (path in pages && [1280, 390].includes(width)) { await shot(page, path, width, colorScheme); }
      }
    }
    await page.emulateMedia({colorScheme: "light"});
  });
  say("every page was opened");
  for (const colorScheme of ["light", "dark"]) { await askArticles(colorScheme); }
  assert.ok(files.filter(isRule).length > 15, `${files.filter(isRule).length} pages of rules`);
  assert.deepEqual(serious, {});
  say("every article was asked about");

  // Pages of sources need no script.
  await visit(files.filter(isSource), {javaScriptEnabled: false}, async (page, path) => {
    blocks.push(await page.locator("article pre").count());
    for (const width of [1280, 390]) {
      await resize(page, width);
      await assertFits(page, path, width);
    }
  });
  assert.ok(sum(blocks) > 500, `${sum(blocks)} blocks of code`);
  say("every source was opened");

  // The first screen has the mistake, its error, the speed and a place for each reader.
  const first = await open("index.html", 1280, "light");
  for (const words of ["softmax<seq>(masked(", "did you mean softmax<key>?", "fused kernel", "Write attention", "Teach", "Run a model", "Train", "Contribute"]) {
    const place = await first.locator("article .dw-first, article .dw-cards").getByText(words).first().boundingBox();
    assert.ok(place && place.y < 900, `${words} is not on the first screen`);
  }
  const copied = await first.locator("article pre code").filter({hasText: "w_o)"}).first().evaluate(e => {
    getSelection().selectAllChildren(e);
    return [String(getSelection()), e.textContent];
  });
  assert.equal(copied[0].trim(), copied[1].trim(), "copied code has other lines");

  if (existsSync(join(site, "playground/index.html"))) {
    assert.ok(sum(programs) >= 5, `${sum(programs)} links to the playground`);
    assert.match(await first.locator("article a.md-button--primary").getAttribute("href"), /playground\/index.html#program=mistake_readme$/);
  }
  assert.deepEqual(first.wrong, []);

  // A newcomer's first fixed error, in two minutes from the first screen.
  if (existsSync(join(site, "playground/index.html"))) {
    const page = await open("index.html", 1280, "light"), begin = performance.now();
    const step = what => console.log(`  the walk, ${((performance.now() - begin) / 1000).toFixed(1)} s: ${what}`);
    await page.locator("article a", {hasText: "Try it in the browser"}).click();
    await page.locator("#title", {hasText: "Softmax over the queries"}).waitFor();
    await page.locator(".message .said").waitFor();
    step("the mistake is open, the error is below its line");
    await page.screenshot({path: `${folder}/walk-error.png`});
    await page.click("#load");
    await page.locator("#status", {hasText: /^1 error \(/}).waitFor();
    step(`the compiler is here: ${await page.textContent("#status")}`);
    await page.locator(".cm-line.wrong", {hasText: "softmax<seq>"}).getByText("seq", {exact: true}).first().dblclick();
    await page.keyboard.type("key", {delay: 300});
    await page.locator("#status", {hasText: "Compiles"}).waitFor();
    step(`the error is fixed: ${await page.textContent("#status")}`);
    await page.click("#run");
    await page.locator("#status", {hasText: "Fixed: it compiles and runs."}).waitFor();
    step("the fixed program has run");
    await page.screenshot({path: `${folder}/walk-run.png`});
    assert.ok(performance.now() - begin < 120000, "the walk takes more than two minutes");
    assert.deepEqual(page.wrong, []);
  }

  // The symptoms lead to the pages of their rules; old addresses of an error lead to its line in the index.
  const symptoms = await open("errors.html#error_r7_mask_does_not_serve_this_dimension", 1280, "light");
  assert.ok(await symptoms.evaluate(() => document.documentElement.scrollHeight) < 30000);
  await symptoms.locator("tr", {hasText: "a mask that hides the wrong side"}).locator("a", {hasText: "R7"}).click();
  await symptoms.waitForURL(/\/errors\/R7\.html/);
  assert.ok(await symptoms.locator("h2#error_r7_mask_does_not_serve_this_dimension").count() === 1);
  assert.deepEqual(symptoms.wrong, []);

  // The name of a rule leads to its page.
  const kinds = await open("reference/dimensions.html", 1280, "light");
  await kinds.locator("article p a", {hasText: /^R17$/}).first().click();
  await kinds.waitForURL(/\/errors\/R17\.html/);
  assert.deepEqual(kinds.wrong, []);

  // A tutorial draws the errors of its refused lines, and their ids lead to their pages.
  const lesson = await open("tutorial/attention.html", 1280, "light");
  assert.ok(await lesson.locator("article details .dw-picture svg[role=img]").count() >= 4, "refused lines without a drawing");
  assert.match(await lesson.locator("article pre a").first().getAttribute("href"), /errors\/R\d+\.html#error_r/);
  assert.deepEqual(lesson.wrong, []);

  // The boxes of a picture follow the scheme.
  const errors = await open("errors/R1.html", 1280, "light");
  const picture = errors.locator(".dw-picture").first();
  await picture.scrollIntoViewIfNeeded();
  const paperOf = () => picture.locator(".paper").first().evaluate(e => getComputedStyle(e).fill);
  assert.equal(await paperOf(), "rgb(255, 255, 255)");
  await errors.evaluate(() => document.body.setAttribute("data-md-color-scheme", "slate"));
  assert.equal(await paperOf(), "rgb(18, 22, 29)");
  assert.equal(await errors.locator("article details[open]").count(), 0);
  await errors.locator("article details summary").first().click();
  assert.match(await errors.locator("article details[open] pre").first().textContent(), /ERROR_R1_/);
  assert.deepEqual(errors.wrong, []);

  assert.ok(await errors.locator("article p code").count() > 10, "words in code are lost");

  // The page that computes each step of a trained model: types, rows that sum to one, a prediction, an error that clears the steps.
  if (existsSync(join(site, "assets/explore.wasm"))) {
    const see = await open("tutorial/see_attention.html", 390, "light");
    const steps = see.locator("#dw-steps section");
    await steps.first().waitFor({timeout: 60000});
    assert.equal(await steps.count(), 11);
    const types = (await see.locator(".dw-type").allInnerTexts()).map(one => one.replace(/\s+/g, " ").trim());
    for (const type of ["seq[7] heads[2] d_k[32]", "key[7] heads[2] d_k[32]", "heads[2] seq[7] key[7] score<d_k>", "heads[2] seq[7] key[7] normalised<key>"]) {
      assert.ok(types.includes(type), `${type} is not among ${types.join("; ")}`);
    }
    assert.match(await see.locator("[data-name=Prediction] .dw-reads").innerText(), /^After abcdabc: d 9\d\.\d %|^After abcdabc: d 100/);
    await see.locator("[data-name=Softmax] summary").click();
    await see.locator("[data-name=Softmax] tr").first().waitFor();  // the table is made after the event
    const rows = await see.locator("[data-name=Softmax] tr").evaluateAll(all => all.slice(1).map(row => [...row.querySelectorAll("td")].map(cell => Number(cell.textContent))));
    assert.equal(rows.length, 7);
    rows.forEach((row, query) => {
      assert.ok(Math.abs(row.reduce((sum, weight) => sum + weight, 0) - 1) < 2e-3, `row ${query} of the softmax`);
      assert.ok(row.every((weight, at) => at <= query || weight === 0), `row ${query} sees later keys`);
    });
    await see.locator("#dw-layer").selectOption("0");
    await see.locator("#dw-head").selectOption("1");
    await see.locator("#dw-text").fill("A cat, a cat");
    assert.match(await see.locator("#dw-status").innerText(), /letters a to z.*21 steps/);
    assert.equal(await see.locator("[data-name=Mask] canvas").count(), 1);
    assert.ok(await see.evaluate(() => document.documentElement.scrollWidth) <= 390);
    assert.deepEqual(await seriousOf(see, "article"), []);
    await see.screenshot({path: `${folder}/see-attention-390.png`, fullPage: true});
    await see.locator("#dw-text").fill("");
    assert.match(await see.locator("#dw-status").innerText(), /at least one letter/);
    assert.equal(await steps.count(), 0);
    assert.deepEqual(see.wrong, []);
    if (existsSync(join(site, "assets/report.html"))) {
      const report = await open("assets/report.html", 1280, "light");
      assert.ok(!/made without its program/.test(await report.locator("body").innerText()), "the report does not compute: build live_induction");
      assert.deepEqual(report.wrong, []);
    }
  }

  // Formulas are drawn, pictures are part of their page, and files of the sources are a click away.
  const equations = await open("reference/equations.html", 1280, "light");
  const formulas = await equations.locator(".arithmatex").count();
  assert.ok(formulas > 50 && formulas === await equations.locator(".arithmatex:has(.katex)").count());
  const wide = async () => equations.locator("div.arithmatex").evaluateAll(all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.slice(0, 40)));
  assert.deepEqual(await wide(), [], "formulas that scroll at 1280");
  assert.deepEqual(await equations.locator(".dw-formula").evaluateAll(all => all.filter(e => {
    const parts = [...e.querySelectorAll(".katex-html > .base")].map(one => one.getBoundingClientRect());
    return parts.some((one, at) => at > 0 && one.left < parts[at - 1].right - 2);
  }).map(e => e.textContent.slice(0, 40))), [], "formulas that break in the middle");
  assert.ok(!/\$\\[a-z]|```/.test(await equations.locator("article").innerText()), "TeX is shown");
  const home = await open("index.html", 1280, "light");
  assert.ok(await home.locator("article svg.dw[role=img] title").count() > 0);
  await home.locator("article a", {hasText: "examples/mistakes/readme.cpp"}).click();
  await home.waitForURL(/\/source\//);  // loaded
  assert.match(await home.locator("article pre").last().textContent(), /int main\(\)/);
  assert.deepEqual([...equations.wrong, ...home.wrong], []);

  // The API: Doxygen's pages, a click away.
  const api = await open("index.html", 1280, "dark");
  await api.locator("a:visible", {hasText: /^\s*API\s*$/}).first().click();
  await api.waitForURL(/\/api\/files\.html/);
  for (const page of [/^files\.html$/, /^namespacedimwise\.html$/, /^struct.*decoder__attention__settings\.html$/, /^expr_.*reduce_8hpp\.html$/]) {
    await api.goto(`${address}api/${readdirSync(join(site, "api")).find(one => page.test(one))}`);
    assert.deepEqual(await seriousOf(api), [], api.url());
  }
  assert.match(await api.locator(".contents").innerText(), /dimwise::softmax/);
  await api.goto(`${address}api/attention_8hpp.html`);
  for (const [name, own] of [["attention", "attention<F, Key>(q, k, v"], ["attention_with_sinks", "attention_with_sinks<F, Key>(q, k, v, sinks"]]) {
    const comment = api.locator(`tr:has(a.el:text-is("dimwise::nn::${name}")) + tr`);
    assert.ok((await comment.innerText()).trim().startsWith(own), `nn::${name} has the comment ${await comment.innerText()}`);
  }
  for (const file of readdirSync(join(site, "api")).filter(one => one.endsWith(".html"))) {
    const found = /(?<!define&#160;)\bDIMWISE_DETAIL_\w+/.exec(readFileSync(join(site, "api", file), "utf8"));
    assert.ok(!found, `api/${file} shows ${found}`);
  }
  await api.screenshot({path: `${folder}/api-dark.png`});
  await resize(api, 390);
  assert.ok((await api.locator(".contents").first().boundingBox()).width > 300, "the API leaves no room for its text on a phone");
  await resize(api, 1280);
  await api.locator("#main-menu a", {hasText: "Documentation"}).click();
  await api.waitForURL(/\/index\.html/);
  assert.deepEqual(api.wrong, []);

  // The search box finds what was typed and leads there; what compilers print is not searched.
  for (const [width, words, target] of [
    [1280, "softmax<key>", /reference\/operations\.html[^#]*#softmax|tutorial|howto/], [1280, "contract<d_model>", /reference|tutorial|howto|start/],
    [1280, "softmax", /reference|tutorial|howto/], [1280, "ERROR_R7", /errors\/R7\.html/], [1280, "KV cache", /reference\/caches|howto|tutorial|recipes/],
    [400, "ERROR_R7_mask_does_not_serve_this_dimension", /errors\/R7\.html|errors\.html/]]) {
    const page = await open("index.html", width, "light");
    if (width === 400) { await page.locator("label[for=__search]").first().click(); }
    const results = page.locator(".md-search-result__link");
    await typed(page.locator(".md-search__input"), words, results.first());
    const links = await results.evaluateAll(all => all.map(a => a.href));
    assert.match(links[0], target, `${words} leads to ${links.slice(0, 5).join(", ")}`);
    assert.ok(!links.some(link => link.includes("/source/")));
    assert.ok(!links.slice(0, 3).some(link => /ARCHITECTURE|CONTRIBUTING|CHANGELOG|decisions/.test(link)), `${words}: internals outrank guides`);
    await page.screenshot({path: `${folder}/search-${width}-${words.replace(/\W/g, "_").slice(0, 20)}.png`});
    await results.first().click();
    await page.waitForURL(url => !url.pathname.endsWith("/index.html"));
    const shown = (await page.locator("article").textContent()).toLowerCase();
    assert.ok(words.toLowerCase().split(/[^\w]+/).filter(Boolean).every(word => shown.includes(word)));
    assert.deepEqual(page.wrong, []);
    await page.close();
  }
  say("the site works in the browser");
} finally {
  await browser.close();
  server.close();
}
