// Builds the playground into build/playground/site: the precompiled header, the libraries, the filter of errors, the files that
// the compiler reads, and the page. tools/playground.sh calls it. What depends on unchanged sources is taken from the last build.
// Why no kept tool: no bundler calls the compiler of WebAssembly that this page has.
import {createHash} from "node:crypto";
import {existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {basename, dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";
import {Compiler} from "./page/compile.mjs";
import {Folder, compiler, folder, get, packageFolder, put, putFolder, run, sources, sysroot} from "./toolchain.mjs";
import {programs} from "./programs.mjs";

const here = dirname(fileURLToPath(import.meta.url)), site = join(folder, "site"), cache = join(folder, "cache");
const abi = "/usr/share/emscripten/system/lib";  // the sources of libc++abi and libunwind, of Debian's package emscripten
const read = path => readFileSync(path);
const hashOf = bytes => createHash("sha256").update(bytes).digest("hex").slice(0, 16);

// --- flags: those of the precompiled header and of every program must be equal

// Messages come from the filter of errors: this clang 22, built with assertions, fails on a precompiled static_assert whose message is computed.
const language = ["-std=c++20", "-O0", "-fwasm-exceptions", "-DDIMWISE_PLAIN_ONLY", "-DDIMWISE_COMPILED_LIBRARY", "-DDIMWISE_ERRORS_ARE_TYPES"];
const settings = {
  compile: [...language, "-include-pch", "/prelude.pch", "-fno-color-diagnostics", "-ferror-limit=8"],
  link: ["-m", "wasm32", "-L/usr/lib/wasm32-wasip1", "/usr/lib/wasm32-wasip1/crt1-command.o", "main.o", "/usr/lib/libdimwise.a",
         "/usr/lib/libexceptions.a", "--wrap=__main_void", "--wrap=chmod", "-lc++", "-lc++abi", "-lc",
         "/usr/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a", "--strip-debug", "-z", "stack-size=4194304", "--stack-first",
         "--max-memory=1073741824", "-o", "main.wasm"],
};

// --- stages: files that are made of other files
const root = sysroot();
let module;
function llvm(...args) {
  module ??= compiler();
  const {code, err} = run(module, ["llvm", ...args], root);
  if (code !== 0) { throw new Error(`${args.join(" ")}\n${err}`); }
}
function hashOfTree(tree) {
  const hash = createHash("sha256");
  const walk = (node, path) => {
    for (const [name, one] of [...node].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (one instanceof Folder) { walk(one, `${path}/${name}`); } else { hash.update(`${path}/${name}\0${one.size}\0`).update(one.bytes()); }
    }
  };
  walk(tree, "");
  return hash;
}
/** Puts the files `names` into the root: from the last build, or by `make`, which calls the compiler with `flags`. */
function stage(title, names, flags, make) {
  const key = hashOfTree(root).update(JSON.stringify([flags, make.toString()])).digest("hex").slice(0, 16);
  const kept = name => join(cache, `${key}-${basename(name)}`);
  if (!names.every(name => existsSync(kept(name)))) {
    const start = process.cpuUsage();
    make();
    for (const name of names) { writeFileSync(kept(name), get(root, name).bytes()); }
    const {user, system} = process.cpuUsage(start);
    console.log(`playground: ${title} took ${((user + system) / 1e6).toFixed(0)} s of CPU`);
  }
  for (const name of names) { put(root, name, new Uint8Array(read(kept(name)))); }
  return names.map(kept);
}
const used = new Set();
const keep = paths => paths.forEach(path => used.add(path));

mkdirSync(cache, {recursive: true});

// The library's headers, those of Hana and nlohmann-json that they include, and the course's.
putFolder(root, join(sources, "include"), "/usr/include");
putFolder(root, "/usr/include/boost/hana", "/usr/include/boost/hana", path => !/\/(ext|experimental)\//.test(path));
putFolder(root, "/usr/include/nlohmann", "/usr/include/nlohmann");
for (const [path, name] of [["examples/exercises/support/exercise.hpp", "exercise.hpp"], ["examples/exercises/support/loading.hpp", "loading.hpp"],
                            ["examples/support/difference.hpp", "support/difference.hpp"], ["tools/playground/prelude.hpp", "prelude.hpp"]]) {
  put(root, `/usr/include/${name}`, read(join(sources, path)));
}
put(root, "/library.cpp", read(join(sources, "src/library.cpp")));
const prelude = ["/prelude.pch", "/usr/lib/libdimwise.a"];
keep(stage("the precompiled header and the library", prelude, language, () => {
  llvm("clang++", ...language, "-fpch-instantiate-templates", "-fpch-codegen", "-Xclang", "-fno-pch-timestamp", "-x", "c++-header", "/usr/include/prelude.hpp", "-o", "/prelude.pch");
  llvm("clang++", ...language, "-O1", "-c", "/prelude.pch", "-o", "/prelude.o");
  llvm("clang++", ...language, "-O2", "-c", "/library.cpp", "-o", "/library.o");
  llvm("ar", "rcs", "/usr/lib/libdimwise.a", "/prelude.o", "/library.o");
}));
for (const name of ["library.cpp", "library.o", "prelude.o"]) { root.delete(name); }

// Exceptions: the libraries of the package throw none. The compiler makes what is missing from libc++abi.
const missing = ["cxa_exception", "cxa_exception_storage", "cxa_personality", "cxa_handlers", "cxa_default_handlers", "abort_message", "fallback_malloc"];
for (const part of ["libcxxabi/src", "libcxxabi/include", "libcxx/src/include", "libunwind/src", "libunwind/include"]) { putFolder(root, join(abi, part), `/abi/${part}`); }
put(root, "/abi/runtime.cpp", read(join(here, "runtime.cpp")));
keep(stage("libexceptions.a", ["/usr/lib/libexceptions.a"], [], () => {
  const flags = ["-O2", "-fwasm-exceptions", "-w", "-D__USING_WASM_EXCEPTIONS__", "-D_LIBCXXABI_BUILDING_LIBRARY", "-D_LIBCPP_BUILDING_LIBRARY",
                 "-DLIBCXXABI_NON_DEMANGLING_TERMINATE", "-D_LIBCXXABI_HAS_NO_THREADS", "-D_LIBUNWIND_HAS_NO_THREADS", "-D_LIBUNWIND_IS_BAREMETAL=1",
                 "-D_LIBUNWIND_DISABLE_VISIBILITY_ANNOTATIONS", "-D_LIBUNWIND_HIDE_SYMBOLS", "-DNDEBUG", "-D_LIBCPP_INLINE_VISIBILITY=", "-D_LIBCPP_SAFE_STATIC=", "-I/abi/shim", "-I/abi/libcxx/src/include",
                 "-I/abi/libunwind/include", "-I/abi/libunwind/src", "-I/abi/libcxxabi/include", "-I/abi/libcxxabi/src", "-c"];
  put(root, "/abi/shim/__threading_support", "#pragma once\n#include <cstdlib>\nnamespace std {\ninline void* __libcpp_aligned_alloc(size_t a, size_t n) { return ::aligned_alloc(a, (n + a - 1) / a * a); }\ninline void __libcpp_aligned_free(void* p) { ::free(p); }\n}\n");
  put(root, "/abi/libunwind/src/config.h", "#define _LIBUNWIND_EXPORT\n#define _LIBUNWIND_TRACE_API(...)\n");
  put(root, "/abi/shim/threads.h", "#pragma once\n#define thread_local _Thread_local\n");
  put(root, "/abi/tag.c", '__asm__(".globl __cpp_exception\\n.tagtype __cpp_exception i32\\n__cpp_exception:\\n");\n');
  for (const name of missing) { llvm("clang++", "-std=c++20", ...flags, `/abi/libcxxabi/src/${name}.cpp`, "-o", `/abi/${name}.o`); }
  llvm("clang", "-std=c11", ...flags, "/abi/libunwind/src/Unwind-wasm.c", "-o", "/abi/unwind.o");
  llvm("clang", "-fwasm-exceptions", "-c", "/abi/tag.c", "-o", "/abi/tag.o");
  llvm("clang++", "-std=c++20", "-O2", "-fwasm-exceptions", "-c", "/abi/runtime.cpp", "-o", "/abi/runtime.o");
  llvm("ar", "rcs", "/usr/lib/libexceptions.a", ...[...missing, "unwind", "tag", "runtime"].map(name => `/abi/${name}.o`));
}));
root.delete("abi");

// The filter that turns the compiler's output into messages: dimwise-errors itself.
for (const name of ["compiler_output.hpp", "error_output.hpp", "error_shapes.hpp"]) { put(root, `/src/programs/errors/${name}`, read(join(sources, "src/programs/errors", name))); }
put(root, "/tools/playground/errors.cpp", read(join(here, "errors.cpp")));
keep(stage("the filter of errors", ["/errors.wasm"], settings.link, () => {
  llvm("clang++", "-std=c++20", "-O2", "-fwasm-exceptions", "-c", "/tools/playground/errors.cpp", "-o", "main.o");
  llvm("wasm-ld", ...settings.link.slice(0, -1), "/errors.wasm");
}));
for (const name of ["main.o", "src", "tools"]) { root.delete(name); }

// --- programs: a wrong one has its diagnostics with it, so that a reader sees the error before the compiler is there

const filesKey = hashOfTree(root).update(JSON.stringify(settings)).digest("hex");
let checker;
/** What the page's check says of a program; from the last build if nothing has changed */
function diagnosticsOf(text) {
  const path = join(cache, `${hashOf(filesKey + text)}-diagnostics.json`);
  if (!existsSync(path)) {
    module ??= compiler();
    checker ??= new Compiler({flags: settings, llvm: module, errors: new WebAssembly.Module(get(root, "/errors.wasm").bytes()), root});
    writeFileSync(path, JSON.stringify(checker.build(text, false).diagnostics));
  }
  keep([path]);
  return JSON.parse(read(path));
}
const listed = programs().map(one => (one.error ? {...one, diagnostics: diagnosticsOf(one.text)} : one));

// --- licences

// The exceptions are part of LLVM's licence, and not of Debian's copy of the Apache licence.
const llvmException = `---- LLVM Exceptions to the Apache 2.0 License ----

As an exception, if, as a result of your compiling your source code, portions of this Software are embedded into an Object form of such
source code, you may redistribute such embedded portions in such Object form without complying with the conditions of Sections 4(a),
4(b) and 4(d) of the License.

In addition, if you combine or link compiled forms of this Software with software that is licensed under the GPLv2 ("Combined
Software") and if a court of competent jurisdiction determines that the patent provision (Section 3), the indemnity provision (Section
9) or other Section of the License conflicts with the conditions of the GPLv2, you may retroactively and prospectively choose to deem
waived or otherwise exclude such Section(s) of the License, but only in their entirety and only with respect to the Combined Software.`;

/** The licences of everything that the page ships. */
function licences() {
  const modules = join(folder, "node_modules");
  const scopes = readdirSync(modules).filter(name => !name.startsWith(".") && !["@esbuild", "@yowasp", "esbuild"].includes(name));
  const packages = scopes.flatMap(name => (name.startsWith("@") ? readdirSync(join(modules, name)).map(one => `${name}/${one}`) : [name]));
  return [
    "dimwise and Boost.Hana: Boost Software License 1.0", read(join(sources, "LICENSE")).toString(),
    "nlohmann-json: MIT", read("/usr/share/doc/nlohmann-json3-dev/copyright").toString(),
    "clang, lld, compiler-rt, libc++, libc++abi, libunwind (LLVM, built by @yowasp/clang): Apache License 2.0 with LLVM exceptions",
    read("/usr/share/common-licenses/Apache-2.0").toString(), llvmException,
    "wasi-libc: Apache License 2.0 with LLVM exceptions, Apache License 2.0, or MIT; parts of musl: MIT. https://github.com/WebAssembly/wasi-libc",
    ...packages.flatMap(name => [`${name}: MIT`, read(join(modules, name, "LICENSE")).toString()]),
  ].join("\n\n");
}

// --- the files of the site, named by their hash

rmSync(site, {recursive: true, force: true});
mkdirSync(join(site, "files"), {recursive: true});
/** Writes a file of the site. -> its name */
function ship(name, bytes) {
  const dot = name.indexOf("."), shipped = `${name.slice(0, dot)}.${hashOf(bytes)}${name.slice(dot)}`;
  writeFileSync(join(site, shipped), bytes);
  return shipped;
}
/** The same, compressed: the page decompresses it, and keeps it as `kept`. -> {name, kept, size}; compressed once. */
function shipCompressed(name, bytes) {
  const kept = join(cache, `${hashOf(bytes)}.gz`);
  if (!existsSync(kept)) { writeFileSync(kept, gzipSync(bytes, {level: 9})); }
  keep([kept]);
  const compressed = read(kept);
  const shipped = ship(`files/${name}.gz`, compressed);
  return {name: shipped, kept: shipped.slice(0, -3), size: compressed.length};
}

// What a program may include or link; the rest of the package is for other targets.
const needed = [/^\/usr\/include\/(c\+\+\/v1\/(?!__cxx03)|wasm32-wasip1\/|dimwise\/.*\.hpp$|boost\/|nlohmann\/|support\/|exercise|loading|prelude|__std|__float|std|float|limits|inttypes|iso646|tgmath)/,
                /^\/usr\/lib\/(lib\w+\.a|wasm32-wasip1\/(libc\+\+|libc\+\+abi|libc|libm)\.a|wasm32-wasip1\/crt1-command\.o|wasm32-unknown-wasip1\/libclang_rt\.builtins\.a)$/];
function tar(tree) {
  const parts = [];
  const walk = (node, path) => {
    for (const [name, one] of [...node].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const full = `${path}/${name}`;
      if (one instanceof Folder) { walk(one, full); }
      if (one instanceof Folder || !needed.some(pattern => pattern.test(full))) { continue; }
      const header = Buffer.alloc(512), at = full.length > 100 ? full.lastIndexOf("/", 150) : 0;
      header.write(full.slice(at + 1), 0);
      header.write("0000644\0", 100);
      header.write(`${one.size.toString(8).padStart(11, "0")}\0`, 124);
      header.write("0ustar\0", 156);
      header.write(full.slice(1, Math.max(at, 1)), 345);
      parts.push(header, one.bytes(), Buffer.alloc(-one.size & 511));
    }
  };
  walk(tree, "");
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

const files = {
  compiler: shipCompressed("llvm.wasm", read(join(packageFolder, "llvm.core.wasm"))),
  prelude: shipCompressed("prelude.pch", get(root, "/prelude.pch").bytes()),
  headers: shipCompressed("headers.tar", tar(root)),
  errors: shipCompressed("errors.wasm", get(root, "/errors.wasm").bytes()),
};

// The page's modules, each with what it imports, and the style sheet.
const esbuild = await import(join(folder, "node_modules/esbuild/lib/main.js"));
async function bundle(name, define = {}) {
  const made = await esbuild.build({entryPoints: [join(here, "page", `${name}.mjs`)], bundle: true, write: false, format: "esm", target: "es2022", minify: true,
                                    nodePaths: [join(folder, "node_modules")], legalComments: "none", define});
  return Buffer.from(made.outputFiles[0].contents);
}
const manifest = {
  ...settings, files,
  compiler: ship("compiler.js", await bundle("compiler")),
  runner: ship("runner.js", await bundle("runner")),
  programs: ship("programs.json", Buffer.from(JSON.stringify(listed))),
};
const app = ship("app.js", await bundle("app")), style = ship("style.css", read(join(here, "page/style.css")));
writeFileSync(join(site, "index.html"), read(join(here, "page/index.html"), "utf8").toString()
  .replace("style.css", style).replace("app.mjs", app).replace("{/* manifest */}", () => JSON.stringify(manifest)));
const shell = ["./", app, style, manifest.compiler, manifest.runner, manifest.programs];
writeFileSync(join(site, "service_worker.js"), await bundle("service_worker", {SHELL: JSON.stringify(shell), FILES: JSON.stringify(Object.values(files).map(one => one.kept))}));
writeFileSync(join(site, "licences.txt"), licences());

for (const name of readdirSync(cache)) {
  if (!used.has(join(cache, name))) { rmSync(join(cache, name)); }
}
const size = Object.values(files).reduce((sum, one) => sum + one.size, 0);
console.log(`playground: ${site}; the compiler's download is ${(size / 1e6).toFixed(1)} MB`);
