// tests/docs/site_browser.mjs -- the site of the documentation in a browser: built, served, read, searched, without an error.
//
//   node tests/docs/site_browser.mjs PLAYWRIGHT CHROMIUM FOLDER
//
// PLAYWRIGHT is the folder of the package playwright-core. The site is built into FOLDER/site; screenshots are left in FOLDER.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {createReadStream, existsSync, mkdirSync, rmSync, statSync} from "node:fs";
import {createServer} from "node:http";
import {createRequire} from "node:module";
import {dirname, extname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";

const [playwright, executablePath, folder] = process.argv.slice(2);
const {chromium} = createRequire(import.meta.url)(resolve(playwright));
const sources = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const site = resolve(folder, "site");
mkdirSync(folder, {recursive: true});
rmSync(site, {recursive: true, force: true});
execFileSync("bash", [join(sources, "tools/site.sh"), "--no-setup", "--into", site], {stdio: "inherit"});

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

  // Each error has its picture: a drawing with a title and the culprit; its boxes follow the scheme.
  const errors = await open("errors.html", 1280, "light");
  const missing = await errors.evaluate(() => [...document.querySelectorAll("article h3")].filter(heading => {
    let next = heading.nextElementSibling;
    while (next && !/^H[123]$/.test(next.tagName) && !next.matches(".dw-picture")) { next = next.nextElementSibling; }
    const svg = next?.matches(".dw-picture") && next.querySelector("svg[role=img]");
    return !(svg && svg.querySelector("title").textContent && svg.querySelector(".culprit") && svg.getBoundingClientRect().width > 100);
  }).map(heading => heading.textContent));
  assert.deepEqual(missing, [], "errors without a picture");
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

  assert.ok(await errors.locator("article p code").count() > 300, "words in code are lost");

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
  await api.screenshot({path: `${folder}/api-dark.png`});
  await api.locator("#main-menu a", {hasText: "Documentation"}).click();
  await api.waitForURL(/\/index\.html/);
  assert.deepEqual(api.wrong, []);

  // The search box finds what was typed and leads there; what compilers print is not searched.
  for (const [width, words, target] of [[1280, "softmax", "softmax"], [400, "ERROR_R7_mask_does_not_serve_this_dimension", "/errors.html"]]) {
    const page = await open("index.html", width, "light");
    if (width === 400) { await page.locator("label[for=__search]").first().click(); }
    const results = page.locator(".md-search-result__link");
    await typed(page.locator(".md-search__input"), words, results.first());
    const links = await results.evaluateAll(all => all.map(a => a.href));
    assert.ok(links.some(link => link.toLowerCase().includes(target)), `${words} leads to ${links.join(", ")}`);
    assert.ok(!links.some(link => link.includes("/source/")));
    await page.screenshot({path: `${folder}/search-${width}.png`});
    await results.first().click();
    await page.waitForURL(url => !url.pathname.endsWith("/index.html"));
    assert.ok((await page.locator("article").textContent()).toLowerCase().includes(words.toLowerCase()));
    assert.deepEqual(page.wrong, []);
  }
  console.log("the site works in the browser");
} finally {
  await browser.close();
  server.close();
}
