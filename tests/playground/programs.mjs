// tests/playground/programs.mjs -- the playground's compiler in node: wrong programs are rejected with their error at their line, and
// the others compile, link, run and end with 0.
//
//   node tests/playground/programs.mjs [FILTER]      # of the playground that tools/playground.sh built; FILTER: part of a name
import assert from "node:assert/strict";
import {readFileSync, readdirSync} from "node:fs";
import {join} from "node:path";
import {gunzipSync} from "node:zlib";
import {leftOut} from "../../tools/playground/programs.mjs";
import {folder, sources} from "../../tools/playground/toolchain.mjs";
import {Compiler} from "../../tools/playground/page/compile.mjs";
import {Folder, put, run, untar} from "../../tools/playground/page/wasi.mjs";

const site = join(folder, "site"), filter = process.argv[2] ?? "";
const manifest = JSON.parse(/id="manifest">(.*?)<\/script>/s.exec(readFileSync(join(site, "index.html"), "utf8"))[1]);
const shipped = name => new Uint8Array(gunzipSync(readFileSync(join(site, manifest.files[name].name))));
const root = untar(shipped("headers"));
put(root, "prelude.pch", shipped("prelude"));
const compiler = new Compiler({flags: manifest, llvm: new WebAssembly.Module(shipped("compiler")), errors: new WebAssembly.Module(shipped("errors")), root});
const everything = JSON.parse(readFileSync(join(site, manifest.programs), "utf8"));

let passed = 0, failed = 0, spent;
function timed(use) {
  const before = process.cpuUsage(), value = use(), {user, system} = process.cpuUsage(before);
  spent.push(((user + system) / 1e6).toFixed(1));
  return value;
}
function runs(text, args = []) {
  const made = timed(() => compiler.build(text, true));
  assert.ok(made.ok, made.output);
  const files = new Folder(), {code, out, err} = timed(() => run(new WebAssembly.Module(made.program), ["program", ...args], files));
  return {code, out, err, files};
}
const tests = {
  Exercises(one) {
    const made = timed(() => compiler.build(one.text, false));
    if (one.error) {
      assert.ok(!made.ok, "it compiles");
      assert.deepEqual(made.diagnostics.map(d => [d.kind, d.id, d.file, d.line]), [["dimwise", one.error, "main.cpp", one.line]]);
      assert.ok(made.diagnostics[0].message && made.diagnostics[0].fix && made.diagnostics[0].rows.length > 0, "the parts of the error");
    } else {
      assert.ok(made.ok, made.output);
      assert.notEqual(runs(one.text).code, 0);
    }
    const {code, err} = runs(one.solution);
    assert.equal(code, 0, err);
  },
  Mistakes(one) {
    const made = timed(() => compiler.build(one.text, false));
    assert.deepEqual(made.diagnostics.map(d => [d.kind, d.id]), [["dimwise", one.error]]);
  },
  Examples(one) {
    const {code, out, err, files} = runs(one.text, one.arguments);
    assert.equal(code, 0, err);
    assert.ok(out.length > 0, "it prints nothing");
    for (const name of one.arguments.length ? ["attention.svg", "attention.html"] : []) { assert.ok(files.get(name)?.size > 1000, name); }
  },
};
const own = {
  "an exception by name"() {
    const {code, err} = runs('#include <dimwise/dimwise.hpp>\nstruct seq : dimwise::position_dim<> {};\nint main() { dimwise::tensor<float, seq> x(seq{2}); x.assign(std::vector<float>{1}); }\n');
    assert.equal(code, 1);
    assert.match(err, /^not caught: dimwise::\w+: ./);
  },
  "a caught exception, a thread-local object and a file"() {
    const {code, out} = runs('#include <fstream>\n#include <iostream>\n#include <stdexcept>\n#include <string>\nthread_local std::string s = "a";\nint main() { std::ofstream("x.txt") << s; try { throw std::runtime_error("b"); } catch (const std::exception& e) { std::string t; std::ifstream("x.txt") >> t; std::cout << t << e.what(); } }\n');
    assert.deepEqual([code, out], [0, "ab"]);
  },
  "a tensor in a file"() {
    const {code, out, err, files} = runs(`#include <dimwise/io.hpp>
#include <iostream>
struct seq : dimwise::position_dim<> {};
int main() {
  using namespace dimwise;
  tensor<float, seq> x(seq{2});
  x.assign(std::vector<float>{1, 2});
  io::write_safetensors("x.safetensors", std::vector{io::as_stored("x", x)});
  const io::archive file = io::read_safetensors("x.safetensors");
  std::cout << file.arrays().front().name;
}`);
    assert.deepEqual([code, out], [0, "x"], err);
    assert.ok(files.get("x.safetensors").size > 8);
  },
  "two ranks where there are no threads"() {
    const {code, err} = runs(`#include <dimwise/ranks.hpp>
int main() {
  dimwise::ranks::run_threads(1, [](const dimwise::ranks::communicator&) {});
  dimwise::ranks::run_threads(2, [](const dimwise::ranks::communicator&) {});
}`);
    assert.equal(code, 1);
    assert.match(err, /^not caught: dimwise::\w+::rank_error: run_threads: 2 ranks, 1 was expected: this program has no threads/);
  },
  "errors that are not of dimwise"() {
    const {ok, diagnostics} = compiler.build("int main() {\n  return missing;\n}\n", false);
    assert.ok(!ok);
    assert.deepEqual(diagnostics.map(d => [d.kind, d.line, d.column]), [["error", 2, 10]]);
    assert.match(diagnostics[0].message, /undeclared identifier 'missing'/);
  },
};
function test(name, use) {
  spent = [];
  try {
    use();
    ++passed;
    console.log(`${name}: ${spent.join(" ")} s of CPU`);
  } catch (problem) {
    ++failed;
    console.log(`FAILED ${name}: ${problem.message}`);
  }
}
for (const one of everything) {
  if (one.id.includes(filter)) { test(one.id, () => tests[one.group](one)); }
}
for (const [name, use] of Object.entries(own)) {
  if (name.includes(filter) || filter === "") { test(name, use); }
}
// The whole programs of the pages, which have a link "Try it" (tools/site/try_it.py).
const pages = ["README.md", ...readdirSync(join(sources, "docs"), {recursive: true}).filter(name => name.endsWith(".md")).map(name => `docs/${name}`)];
for (const page of pages) {
  const blocks = [...readFileSync(join(sources, page), "utf8").matchAll(/^```cpp\n(.*?)^```$/gms)].map(found => found[1]);
  for (const text of page.includes(filter) ? blocks.filter(one => one.includes("int main(") && one.includes("#include <dimwise/")) : []) {
    test(`a program of ${page}`, () => {
      const {code, out, err} = runs(text);
      assert.equal(code, 0, err);
      assert.ok(out.length > 0, "it prints nothing");
    });
  }
}
for (const {name, reason} of leftOut()) { console.log(`left out: ${name}: ${reason}`); }
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
