// tests/docs/serious.mjs -- what axe calls serious on a page, for the tests in browsers.
import {readFileSync} from "node:fs";
import {join, resolve} from "node:path";

/** `playwright`: the folder of playwright-core, which has axe-core beside it. -> a function (page, [part]) -> [{id, html, summary, count, targets}] */
export function accessibility(playwright) {
  const axe = readFileSync(join(resolve(playwright), "../axe-core/axe.min.js"), "utf8");
  return async (page, part = "html") => {
    await page.evaluate(axe);
    const {violations} = await page.evaluate(one => axe.run(one, {resultTypes: ["violations"], preload: false}), part);  // style sheets are not fetched again
    return violations.filter(one => ["serious", "critical"].includes(one.impact))
      .map(({id, nodes}) => ({id, html: nodes[0].html.slice(0, 160), summary: nodes[0].failureSummary, count: nodes.length,
        targets: nodes.map(one => one.target[0])}));
  };
}
