// Draws the formulas of a page by KaTeX: without the brackets that arithmatex puts around a formula. Formulas that stand side by side, with a `\quad`
// between them, are elements of their own, so that a narrow page shows them one below another.
for (const e of document.querySelectorAll(".arithmatex")) {
  const tex = e.textContent.trim().slice(2, -2).trim();
  if (e.tagName !== "DIV") { katex.render(tex, e); continue; }
  const parts = [""];
  let depth = 0;
  for (const [token] of tex.matchAll(/\\[a-zA-Z]+|\\.|[{}]|[^\\{}]+/gs)) {
    depth += {"{": 1, "}": -1, "\\begin": 1, "\\end": -1, "\\left": 1, "\\right": -1}[token] ?? 0;
    if (depth === 0 && /^\\q?quad$/.test(token)) { parts.push(""); } else { parts[parts.length - 1] += token; }
  }
  e.replaceChildren(...parts.map(part => {
    const one = Object.assign(document.createElement("span"), {className: "dw-formula"});
    katex.render(`\\displaystyle ${part}`, one);
    return one;
  }));
}
