// The programs that the playground offers: the course's exercises, the mistakes of examples/mistakes, and the examples that need
// neither files nor packages that the playground lacks. Why no kept tool: a bundler packs files as they are, and these are chosen by what they include.
import {readFileSync, readdirSync} from "node:fs";
import {join} from "node:path";
import {sources} from "./toolchain.mjs";

/** The examples that the playground lacks, by number, each with its reason */
const left = {
  "00": "it reads the files of the notebook", "01": "it calls a compiler", "03": "it includes xtensor", 21: "it calls a compiler",
  23: "it includes CLI11", 24: "it includes CLI11", 26: "it reads the files of the notebook", 27: "it reads the files of the notebook",
  32: "it starts two threads",
};

const sourceFiles = folder => readdirSync(join(sources, folder)).filter(name => name.endsWith(".cpp")).sort();
const text = path => readFileSync(join(sources, path), "utf8");
const comment = head => head.split("\n").filter(line => line.startsWith("//")).map(line => line.slice(2).trim()).join(" ");

// Comments in a column are far from their code in a narrow window, where lines wrap.
const close = code => code.replace(/(\S) {3,}\/\//g, "$1  //");

// "15_kv_cache.cpp" -> "15 Kv cache"
const titled = name => name.slice(0, -4).replaceAll("_", " ").replace(/^(\d+ )?(.)/, (all, number, letter) => (number ?? "") + letter.toUpperCase()).replace("Kv ", "KV ");

function exercise(name) {
  const wrong = text(`examples/exercises/${name}`), solution = text(`examples/exercises/solutions/${name}`);
  const [, number, title] = /^\/\/ (\d+) +(.+)/.exec(wrong);
  const [, error, line] = /^\/\/ FAILS: (\w+), line (\d+)$/m.exec(wrong) ?? [];
  const hint = comment(/\/\/ HINT: [^]*?(?=\n#include)/.exec(solution)[0]).replace("HINT: ", "");
  return {id: name.slice(0, -4), group: "Exercises", title: `${number} ${title}`, text: wrong, solution, hint, error, line: line && Number(line)};
}

function mistake(name) {
  const whole = text(`examples/mistakes/${name}`);
  const error = /^\/\/ EXPECT: (\w+)/m.exec(whole)[1];
  const wrong = whole.replace(/#ifdef FIXED\n[^]*?#else\n([^]*?)#endif\n/g, "$1").replace(/^\/\/ (SPDX|EXPECT|clang-format).*\n/gm, "");
  return {id: `mistake_${name.slice(0, -4)}`, group: "Mistakes", title: name === "readme.cpp" ? "Softmax over the queries" : titled(name), text: close(wrong), error};
}

function example(name) {
  const program = text(`examples/${name}`).replace(/^\/\/ (SPDX|clang-format|\[).*\n/gm, "");
  return {id: name.slice(0, -4), group: "Examples", title: titled(name), text: close(program), arguments: name === "25_pictures.cpp" ? ["."] : []};
}

/** The examples that are left out. -> [{name, reason}] */
export const leftOut = () => sourceFiles("examples").filter(name => name.slice(0, 2) in left).map(name => ({name: name.slice(0, -4), reason: left[name.slice(0, 2)]}));

export function programs() {
  return [...sourceFiles("examples/exercises").map(exercise), ...sourceFiles("examples/mistakes").map(mistake),
          ...sourceFiles("examples").filter(name => !(name.slice(0, 2) in left)).map(example)];
}
