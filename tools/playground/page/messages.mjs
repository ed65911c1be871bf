// The elements that show a diagnostic: its message, the shapes with the culprits marked, the fix and its causes.

export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A text whose `parts` are code. */
export function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? element("code", {textContent: part}) : part));
}

function shapes({columns, rows}) {
  const cell = (kind, column) => {
    const text = {present: column.name, lacking: "–", absent: ""}[kind];
    return element("td", {}, column.culprit && text ? element("mark", {textContent: text}) : text);
  };
  return element("table", {}, ...rows.map(row => element("tr", {}, element("th", {scope: "row", textContent: row.label}),
                                                         ...row.cells.map((kind, i) => cell(kind, columns[i])))));
}

export function message(one) {
  const made = element("div", {className: `message ${one.kind}`});
  const said = element("p", {className: "said"}, ...withCode(one.message));
  made.append(said);
  if (one.kind !== "dimwise") { return made; }
  if (one.rows.length > 0) { made.append(shapes(one)); }
  if (one.fix) { made.append(element("p", {}, element("strong", {textContent: "Fix: "}), ...withCode(one.fix))); }
  made.append(element("details", {}, element("summary", {textContent: "Causes"}),
                      element("ul", {}, ...one.causes.map(cause => element("li", {}, ...withCode(cause)))),
                      element("a", {href: `../errors/${/R\d+/.exec(one.id)[0]}.html#${one.id.toLowerCase()}`, textContent: `${one.id} in the documentation`})));
  return made;
}
