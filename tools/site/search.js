// Makes words of a query of the search box. The worker appends `*` to the query: the last word is also searched as the beginning of a word. Words of
// one piece of code but the last are demanded.
var __search = {transform: query => {
  const all = query.split(/[\s"]+/).map(piece => piece.split(/[^\p{L}\p{N}_]+/u).filter(Boolean)).filter(words => words.length);
  const words = all.flatMap(piece => piece.map((word, at) => (at + 1 < piece.length ? "+" : "") + word));
  return words.length ? words.join(" ") + " " + words.at(-1) : "";
}};
