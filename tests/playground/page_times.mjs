// tests/playground/page_times.mjs -- measures the playground in Chromium: what a reader waits for at the first and at later visits.
//
//   node tests/playground/page_times.mjs PLAYWRIGHT CHROMIUM FOLDER [VISITS]
//
// PLAYWRIGHT is the folder of the package playwright-core. tools/playground.sh has built the page. The browser's profile is left in FOLDER.
// Each line: the step, seconds of wall time, CPU seconds of all the browser's processes. "idle" is no step of a reader: the page rests.
import {mkdirSync, readFileSync, readdirSync, rmSync} from "node:fs";
import {createRequire} from "node:module";
import {join, resolve} from "node:path";
import {serve} from "../docs/server.mjs";
import {folder as built} from "../../tools/playground/toolchain.mjs";
import {programs} from "../../tools/playground/programs.mjs";

const [playwright, executablePath, folder, visits = "3"] = process.argv.slice(2);
const {chromium} = createRequire(import.meta.url)(resolve(playwright));
const {server, address} = await serve(join(built, "site"));
const profile = resolve(folder, "times_profile");
mkdirSync(folder, {recursive: true});
rmSync(profile, {recursive: true, force: true});
const exercise = programs().find(one => one.id.startsWith("10_"));

/** CPU seconds of the processes that this one started, of their children and of those that ended */
function cpu() {
  const all = new Map();
  for (const name of readdirSync("/proc").filter(one => /^\d+$/.test(one))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /s, "").split(" ").map(Number);
      all.set(Number(name), {parent: fields[1], ticks: fields[11] + fields[12] + fields[13] + fields[14]});
    } catch { /* it has ended */ }
  }
  const ours = pid => pid === process.pid || (all.has(pid) && ours(all.get(pid).parent));
  return [...all].filter(([pid]) => pid !== process.pid && ours(pid)).reduce((sum, [, {ticks}]) => sum + ticks, 0) / 100;
}

for (let visit = 1; visit <= Number(visits); ++visit) {
  const context = await chromium.launchPersistentContext(profile, {executablePath, args: ["--no-sandbox"], viewport: {width: 1280, height: 800}});
  const page = context.pages()[0] ?? await context.newPage();
  page.setDefaultTimeout(180000);
  await page.goto("about:blank");
  const said = [];
  async function step(name, use) {
    const start = performance.now(), before = cpu();
    await use();
    said.push(`${name} ${((performance.now() - start) / 1000).toFixed(2)} (${(cpu() - before).toFixed(1)})`);
  }
  const status = text => page.locator("#status", {hasText: text}).waitFor();
  const write = async text => {
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(text);
  };
  const opened = performance.now(), since = () => `${((performance.now() - opened) / 1000).toFixed(2)} s after the page was opened`;
  await step("error shown", async () => {
    await page.goto(`${address}#program=${exercise.id}`);
    await page.locator(".message .said").waitFor();
  });
  await step("fixed at once", async () => {  // faster than a reader types: the compiler starts meanwhile
    if (visit === 1) { await page.click("#load"); }
    await write(exercise.solution);
    await status(/^Compiles/);
  });
  const first = `${await page.textContent("#status")} ${since()}`;
  await step("idle", () => page.waitForTimeout(3000));
  await step("run", async () => {
    await page.click("#run");
    await status("Passed.");
  });
  await step("error again", async () => {
    await write(exercise.text);
    await status(/^1 error \(/);
  });
  const again = await page.textContent("#status");
  await step("run of the fixed program again", async () => {
    await write(exercise.solution);
    await page.click("#run");
    await status(/Compiling|Running/);
    await status("Passed.");
  });
  await write(exercise.text);  // which the page keeps for the next visit
  await status(/^1 error \(/);
  await step("idle", () => page.waitForTimeout(6000));  // the browser stores optimised code
  console.log(`visit ${visit}: ${said.join("; ")}; ${first}; warm: ${again}`);
  await context.close();
}
server.close();
server.closeAllConnections();
