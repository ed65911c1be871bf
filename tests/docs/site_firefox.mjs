// tests/docs/site_firefox.mjs -- the site and the playground in Firefox: pages open without an error, pages that compute do.
//
//   node tests/docs/site_firefox.mjs PLAYWRIGHT FIREFOX SITE FOLDER
//
// playwright-core drives only its own build of Firefox, so this speaks WebDriver BiDi to the installed one; of PLAYWRIGHT, the folder of that
// package, it takes the WebSocket. tools/site.sh has built SITE. The profile and screenshots are left in FOLDER. The playground is tested if
// SITE has it.
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {join, resolve} from "node:path";
import {createInterface} from "node:readline";
import {deflateRawSync} from "node:zlib";
import {serve} from "./server.mjs";

const [playwright, firefox, site, folder] = process.argv.slice(2);
const {ws: WebSocket} = createRequire(import.meta.url)(join(resolve(playwright), "lib/utilsBundle.js"));
const {server, address} = await serve(resolve(site));

// --- the browser

const profile = resolve(folder, "profile");
rmSync(profile, {recursive: true, force: true});
mkdirSync(profile, {recursive: true});
const settings = {"app.normandy.enabled": false, "app.update.disabledForTesting": true, "browser.aboutwelcome.enabled": false, "browser.shell.checkDefaultBrowser": false,
                  "datareporting.policy.dataSubmissionEnabled": false, "extensions.update.enabled": false, "network.captive-portal-service.enabled": false,
                  "network.connectivity-service.enabled": false, "toolkit.telemetry.enabled": false};
writeFileSync(join(profile, "user.js"), Object.entries(settings).map(([name, value]) => `user_pref("${name}", ${value});\n`).join(""));
const program = spawn(firefox, ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"], {stdio: ["ignore", "ignore", "pipe"]});
const lines = createInterface({input: program.stderr});
const endpoint = await new Promise((found, failed) => {
  lines.on("line", line => { const said = /WebDriver BiDi listening on (ws:\S+)/.exec(line); if (said) { found(`${said[1]}/session`); } });
  program.on("exit", code => failed(new Error(`Firefox ended with ${code}`)));
  program.on("error", failed);
});
const socket = new WebSocket(endpoint, {perMessageDeflate: false});
await new Promise((done, failed) => socket.on("open", done).on("error", failed));

const waiting = new Map(), wrong = [];
let last = 0;
socket.on("message", text => {
  const {id, type, method, params, result, error, message} = JSON.parse(text);
  if (type === "event") {
    if (method === "log.entryAdded" && params.level === "error") { wrong.push(`${params.text} (${params.stackTrace?.callFrames?.[0]?.url ?? ""})`); }
    if (method === "network.responseCompleted" && params.response.status >= 400) { wrong.push(`${params.response.status} ${params.response.url}`); }
    if (method === "network.beforeRequestSent" && !/^(http:\/\/127\.0\.0\.1:|data:|blob:|about:)/.test(params.request.url)) { wrong.push(params.request.url); }
    return;
  }
  const {done, failed} = waiting.get(id);
  waiting.delete(id);
  if (type === "error") { failed(new Error(`${error}: ${message}`)); } else { done(result); }
});
function command(method, params = {}) {
  return new Promise((done, failed) => {
    waiting.set(++last, {done, failed});
    socket.send(JSON.stringify({id: last, method, params}));
  });
}
await command("session.new", {capabilities: {}});
const {context} = (await command("browsingContext.getTree")).contexts[0];
await command("session.subscribe", {events: ["log.entryAdded", "network.beforeRequestSent", "network.responseCompleted"], contexts: [context]});

/** The value of an expression in the page, which may be a promise. */
async function value(expression) {
  const {type, result, exceptionDetails} = await command("script.evaluate", {
    expression: `(async () => JSON.stringify(await (${expression})))()`, target: {context}, awaitPromise: true});
  if (type === "exception") { throw new Error(`${expression}: ${exceptionDetails.text}`); }
  return result.value === undefined ? undefined : JSON.parse(result.value);
}
async function until(expression, seconds = 20) {
  for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
    const found = await value(expression);
    if (found) { return found; }
    await new Promise(done => setTimeout(done, 100));
  }
  throw new Error(`not within ${seconds} s: ${expression}; ${await value("document.body.innerText.slice(0, 400)")}`);
}
const open = path => command("browsingContext.navigate", {context, url: address + path, wait: "complete"});
const resize = width => command("browsingContext.setViewport", {context, viewport: {width, height: 900}});
async function screenshot(name) {
  const {data} = await command("browsingContext.captureScreenshot", {context});
  writeFileSync(join(folder, `${name}.png`), Buffer.from(data, "base64"));
}

// --- the tests

const pages = ["index.html", "start/write_attention.html", "tutorial/attention.html", "tutorial/course.html", "howto/install.html", "reference/operations.html",
               "reference/equations.html", "reference/pictures.html", "errors.html", "errors/R7.html", "glossary.html"];

let passed = 0;
async function test(name, use) {
  const start = performance.now();
  await use().catch(async problem => {
    await screenshot("failed");
    problem.message = `${name}: ${problem.message}`;
    throw problem;
  });
  assert.deepEqual(wrong, [], name);
  ++passed;
  console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

try {
  for (const page of pages) {
    await test(page, async () => {
      await resize(1280);
      await open(page);
      assert.ok(await value("document.querySelector('article h1').innerText"));
      for (const width of [1280, 390]) {
        await resize(width);
        const wide = await value("document.documentElement.scrollWidth");
        assert.ok(wide <= width, `${wide} wide in a window of ${width}`);
      }
      assert.equal(await value("document.querySelectorAll('.arithmatex:not(:has(.katex))').length"), 0, "formulas that are not drawn");
      await screenshot(page.replaceAll("/", "-").replace(".html", ""));
    });
  }
  await test("search", async () => {
    await open("index.html");
    // What is typed before the page listens is lost, so it is typed again.
    await until(`(() => {
      const box = document.querySelector(".md-search__input");
      box.focus();
      if (box.value === "") { box.value = "softmax<key>"; box.dispatchEvent(new KeyboardEvent("keyup", {key: ">", bubbles: true})); }
      else if (!document.querySelector(".md-search-result__link")) { box.value = ""; }
      return document.querySelector(".md-search-result__link")?.href;
    })()`);
  });
  if (existsSync(join(site, "assets/explore.wasm"))) {
    await test("see attention", async () => {
      await open("tutorial/see_attention.html");
      await until("document.querySelectorAll('#dw-steps section').length === 11");
      assert.match(await value("document.querySelector('[data-name=Prediction] .dw-reads').innerText"), /^After abcdabc: d /);
      await screenshot("see-attention");
    });
  } else {
    console.log("see attention: left out, the site was built without emscripten");
  }
  if (existsSync(join(site, "playground/index.html"))) {
    const status = "document.getElementById('status').innerText";
    await test("the playground: an error below its line", async () => {
      await open("playground/index.html#program=mistake_readme");
      await until("document.querySelector('.message .said')", 20);
      await value("document.getElementById('load').click()");
      await until(`/^1 error \\(/.test(${status})`, 120);
      assert.match(await value("document.querySelector('.message .said').innerText"), /did you mean softmax<key>\?/);
      console.log(`  ${await value(status)}`);
      await screenshot("playground-error");
    });
    await test("the playground: a program runs", async () => {
      const listed = /"programs":"([^"]+)"/.exec(readFileSync(join(site, "playground/index.html"), "utf8"))[1];
      const {solution} = JSON.parse(readFileSync(join(site, "playground", listed), "utf8")).find(one => one.id.startsWith("10_"));
      await value(`void (location.hash = "#code=${deflateRawSync(solution).toString("base64url")}")`);
      await until("document.getElementById('title').innerText.includes('link')");
      await value("document.getElementById('run').click()");
      console.log(`  ${await until(`/The program ended/.test(${status}) && ${status}`, 60)}`);
      assert.match(await value(status), /ended after/);
      await screenshot("playground-run");
    });
  } else {
    console.log("the playground: left out, it is not built (tools/playground.sh)");
  }
  console.log(`${passed} passed, 0 failed`);
} finally {
  await command("browser.close").catch(() => program.kill());
  server.close();
  server.closeAllConnections();
}
