// tests/docs/site_browser.mjs -- the site of the documentation in a browser: built, served, read, searched, without an error.
//
//   node tests/docs/site_browser.mjs PLAYWRIGHT CHROMIUM FOLDER
//
// PLAYWRIGHT is the folder of the package playwright-core; axe-core is beside it. The site is built into FOLDER/site; screenshots are left in
// FOLDER. With DIMWISE_SITE, the site of that folder is tested instead.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {createReadStream, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync} from "node:fs";
import {createServer} from "node:http";
import {createRequire} from "node:module";
import {dirname, extname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {inflateRawSync} from "node:zlib";

const [playwright, executablePath, folder] = process.argv.slice(2);
const {chromium} = createRequire(import.meta.url)(resolve(playwright));
const sources = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const site = resolve(process.env.DIMWISE_SITE ?? join(folder, "site"));
mkdirSync(folder, {recursive: true});
if (!process.env.DIMWISE_SITE) {
  rmSync(site, {recursive: true, force: true});
  execFileSync("bash", [join(sources, "tools/site.sh"), "--no-setup", "--into", site], {stdio: "inherit"});
}
const axe = readFileSync(join(resolve(playwright), "../axe-core/axe.min.js"), "utf8");

const files = readdirSync(site, {recursive: true}).filter(file => file.endsWith(".html") && !/^(api|playground)\//.test(file)).sort();

const kinds = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml",
               ".png": "image/png"};
const server = createServer((request, response) => {
  if (request.url === "/favicon.ico") { response.writeHead(204).end(); return; }  // asked for where a page names none
  const path = join(site, decodeURIComponent(new URL(request.url, "http://127.0.0.1").pathname));
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, "index.html") : path;
  if (!file.startsWith(site) || !existsSync(file)) { response.writeHead(404).end(); return; }
  response.writeHead(200, {"content-type": kinds[extname(file)] ?? "application/octet-stream"});
  createReadStream(file).pipe(response);
});
await new Promise(done => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}/`;

const browser = await chromium.launch({executablePath, args: ["--no-sandbox"]});
async function open(path, width, colorScheme) {
  const page = await browser.newPage({viewport: {width, height: 900}, colorScheme});
  page.wrong = [];
  page.on("console", m => { if (["error", "warning"].includes(m.type())) page.wrong.push(m.text()); });
  page.on("pageerror", e => page.wrong.push(String(e)));
  page.on("request", r => { if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(r.url())) page.wrong.push(r.url()); });
  page.on("response", r => { if (r.status() >= 400) page.wrong.push(`${r.status()} ${r.url()}`); });
  await page.goto(address + path);
  return page;
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
  "source/include/dimwise/expr/reduce.hpp.html": "include/dimwise/expr/reduce.hpp",
};

try {
  for (const [path, title] of Object.entries(pages)) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(path, 1280, colorScheme);
      const heading = (await page.locator("article h1").first().textContent()).replace("¶", "").trim();
      assert.ok(heading.length > 0 && heading.startsWith(title), `${path} is headed ${heading}`);
      const [ink, paper] = await page.evaluate(() => [getComputedStyle(document.querySelector("article")).color,
        getComputedStyle(document.body).backgroundColor].map(c => Math.max(...c.match(/\d+/g).slice(0, 3).map(Number))));
      assert.ok(colorScheme === "light" ? paper > 200 && ink < 120 : paper < 80 && ink > 180, `${path}, ${colorScheme}: paper ${paper}, ink ${ink}`);
      for (const width of [1280, 400]) {
        await page.setViewportSize({width, height: 900});
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${path} is ${wide} wide in a window of ${width}`);
        await page.screenshot({path: `${folder}/${path.replaceAll("/", "-").replace(".html", "")}-${width}-${colorScheme}.png`});
      }
      assert.deepEqual(page.wrong, [], path);
      await page.close();
    }
  }

  // Code fits every page, wide and narrow, and no page logs an error. Code of sources needs no script.
  const measured = page => page.evaluate(() => ({
    wide: Math.max(document.documentElement.scrollWidth, document.body.scrollWidth),
    blocks: document.querySelectorAll("article pre").length,
    cut: [...document.querySelectorAll("article pre, article pre code")]
      .filter(e => e.clientWidth && (e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth + 1))
      .map(e => e.textContent.slice(0, 80)),
  }));
  let blocks = 0;
  for (const isSource of [false, true]) {
    const context = await browser.newContext({javaScriptEnabled: !isSource});
    const page = await context.newPage();
    const wrong = [];
    page.on("console", m => { if (["error", "warning"].includes(m.type())) { wrong.push(`${page.url()}: ${m.text()}`); } });
    page.on("pageerror", e => wrong.push(`${page.url()}: ${e}`));
    page.on("response", r => { if (r.status() >= 400) { wrong.push(`${r.status()} ${r.url()}`); } });
    for (const file of files.filter(one => one.startsWith("source/") === isSource)) {
      await page.setViewportSize({width: 1280, height: 900});
      await page.goto(address + file);
      for (const width of [1280, 390]) {
        await page.setViewportSize({width, height: 900});
        const found = await measured(page);
        blocks += found.blocks;
        assert.deepEqual(found.cut, [], `${file} at ${width}: code is cut`);
        assert.ok(isSource || found.wide <= width, `${file} is ${found.wide} wide in a window of ${width}`);
      }
    }
    assert.deepEqual(wrong, []);
    await context.close();
  }
  assert.ok(blocks > 1000, `${blocks} blocks of code`);

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

  // Each "Try it" opens the program above it.
  if (existsSync(join(site, "playground/index.html"))) {
    let links = 0;
    for (const file of files) {
      if (!readFileSync(join(site, file), "utf8").includes("playground/index.html#code=")) { continue; }
      const page = await open(file, 1280, "light");
      for (const [href, above] of await page.locator(".dw-try a[href*='#code=']").evaluateAll(all => all.map(link => {
        let before = link.closest("p").previousElementSibling;
        while (!before.querySelector("pre")) { before = before.previousElementSibling; }
        return [link.href, before.querySelector("pre").textContent];
      }))) {
        assert.equal(inflateRawSync(Buffer.from(href.split("#code=")[1], "base64url")).toString().trim(), above.trim(), file);
        ++links;
      }
      await page.close();
    }
    assert.ok(links >= 5, `${links} links to the playground`);
    assert.match(await first.locator("article a.md-button--primary").getAttribute("href"), /playground\/index.html#program=mistake_readme$/);
  }
  assert.deepEqual(first.wrong, []);

  // The symptoms lead to the pages of their rules; old addresses of an error lead to its line in the index.
  const symptoms = await open("errors.html#error_r7_mask_does_not_serve_this_dimension", 1280, "light");
  assert.ok(await symptoms.evaluate(() => document.documentElement.scrollHeight) < 30000);
  await symptoms.locator("tr", {hasText: "a mask that hides the wrong side"}).locator("a", {hasText: "R7"}).click();
  await symptoms.waitForURL(/\/errors\/R7\.html/);
  assert.ok(await symptoms.locator("h2#error_r7_mask_does_not_serve_this_dimension").count() === 1);
  assert.deepEqual(symptoms.wrong, []);

  // Each error has its picture: a drawing with a title and the culprit; its boxes follow the scheme.
  const rules = files.filter(file => file.startsWith("errors/"));
  assert.ok(rules.length > 15, `${rules.length} pages of rules`);
  for (const file of rules) {
    const rule = await open(file, 1280, "light");
    const missing = await rule.evaluate(() => [...document.querySelectorAll("article h2")].filter(heading => {
      if (!heading.id.startsWith("error_")) { return false; }
      let next = heading.nextElementSibling;
      while (next && !/^H[123]$/.test(next.tagName) && !next.matches(".dw-picture")) { next = next.nextElementSibling; }
      const svg = next?.matches(".dw-picture") && next.querySelector("svg[role=img]");
      return !(svg && svg.querySelector("title").textContent && svg.querySelector(".culprit") && svg.getBoundingClientRect().width > 40);
    }).map(heading => heading.textContent));
    assert.deepEqual(missing, [], `${file}: errors without a picture`);
    assert.deepEqual(rule.wrong, []);
    await rule.close();
  }
  const errors = await open("errors/R1.html", 1280, "light");
  const picture = errors.locator(".dw-picture").first();
  await picture.scrollIntoViewIfNeeded();
  const paperOf = () => picture.locator(".paper").evaluate(e => getComputedStyle(e).fill);
  assert.equal(await paperOf(), "rgb(255, 255, 255)");
  await errors.evaluate(() => document.body.setAttribute("data-md-color-scheme", "slate"));
  assert.equal(await paperOf(), "rgb(18, 22, 29)");
  assert.equal(await errors.locator("article details[open]").count(), 0);
  await errors.locator("article details summary").first().click();
  assert.match(await errors.locator("article details[open] pre").first().textContent(), /ERROR_R1_/);
  assert.deepEqual(errors.wrong, []);

  assert.ok(await errors.locator("article p code").count() > 10, "words in code are lost");

  // Nothing that axe calls serious, in both schemes.
  const serious = {};
  for (const path of [...Object.keys(pages), "reference/marks.html", "tutorial/course.html"]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(path, 1280, colorScheme);
      await page.evaluate(axe);
      const {violations} = await page.evaluate(() => axe.run(document, {resultTypes: ["violations"]}));
      for (const one of violations.filter(one => ["serious", "critical"].includes(one.impact))) {
        (serious[`${one.id}: ${one.nodes[0].html.slice(0, 160)} (${one.nodes[0].failureSummary})`] ??= []).push(`${path}, ${colorScheme}: ${one.nodes.length}`);
      }
      await page.close();
    }
  }
  assert.deepEqual(serious, {});

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
    await see.evaluate(axe);
    const found = await see.evaluate(() => axe.run("article"));
    assert.deepEqual(found.violations.filter(one => ["serious", "critical"].includes(one.impact)).map(one => [one.id, one.nodes[0].html.slice(0, 200)]), []);
    await see.screenshot({path: `${folder}/see-attention-390.png`, fullPage: true});
    await see.locator("#dw-text").fill("");
    assert.match(await see.locator("#dw-status").innerText(), /at least one letter/);
    assert.equal(await steps.count(), 0);
    assert.deepEqual(see.wrong, []);
  }

  // Formulas are drawn, pictures are part of their page, and files of the sources are a click away.
  const equations = await open("reference/equations.html", 1280, "light");
  const formulas = await equations.locator(".arithmatex").count();
  assert.ok(formulas > 50 && formulas === await equations.locator(".arithmatex > .katex, .arithmatex > .katex-display").count());
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
  await api.goto(`${address}api/expr_2reduce_8hpp.html`);
  assert.match(await api.locator(".contents").innerText(), /dimwise::softmax/);
  for (const file of readdirSync(join(site, "api")).filter(one => one.endsWith(".html"))) {
    const found = /(?<!define&#160;)\bDIMWISE_DETAIL_\w+/.exec(readFileSync(join(site, "api", file), "utf8"));
    assert.ok(!found, `api/${file} shows ${found}`);
  }
  await api.screenshot({path: `${folder}/api-dark.png`});
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
  console.log("the site works in the browser");
} finally {
  await browser.close();
  server.close();
}
