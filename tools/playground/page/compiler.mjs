// The compiler in a worker: downloads it once, then builds what the page sends.
import {Compiler, Missing} from "./compile.mjs";
import {whole} from "./module.mjs";
import {put, untar} from "./wasi.mjs";

const cacheName = "dimwise-playground";
const rehearsal = "#include <iostream>\nstruct seq : dimwise::position_dim<2> {};\nint main() { std::cout << dimwise::tensor<float, seq>({1, 2}); }\n";
let compiler, parts, files;  // `parts`: what the page calls its files; `files`: opens them

/** A file from the network, which `progress` counts, decompressed. -> its bytes */
async function download(url, progress) {
  const response = await fetch(url);
  if (!response.ok) { throw new Error(`${url}: ${response.status} ${response.statusText}`); }
  const counted = response.body.pipeThrough(new TransformStream({
    transform(part, to) {
      progress(part.length);
      to.enqueue(part);
    },
  }));
  // A server may have decompressed it: then it does not begin as gzip does.
  const reader = counted.getReader(), first = await reader.read();
  const whole = new ReadableStream({
    start(to) { if (!first.done) { to.enqueue(first.value); } },
    async pull(to) {
      const {done, value} = await reader.read();
      if (done) { to.close(); } else { to.enqueue(value); }
    },
  });
  const compressed = first.value?.[0] === 0x1f && first.value[1] === 0x8b;
  return new Response(compressed ? whole.pipeThrough(new DecompressionStream("gzip")) : whole).arrayBuffer();
}

/** Opens the files of the page: {name, kept}. They are kept decompressed, because a module has its machine code kept only so. */
class Files {
  constructor(cache, serviceWorker, progress) {
    Object.assign(this, {cache, serviceWorker, progress});
  }
  /** The bytes of a file that is not kept yet, else undefined; without room it is not kept. */
  async fetched({name, kept}) {
    if (await this.cache?.match(kept)) { return undefined; }
    const bytes = await download(name, this.progress);
    await this.keep(kept, bytes);
    return bytes;
  }
  keep(kept, bytes) {
    const type = kept.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return this.cache?.put(kept, new Response(bytes, {headers: {"content-type": type}})).catch(() => {});
  }
  async bytes(file) {
    return new Uint8Array(await this.fetched(file) ?? await (await this.cache.match(file.kept)).arrayBuffer());
  }
  /** A module. Chromium keeps the optimised code of one that comes from the cache by the service worker: the next visit starts with it. */
  async module(file) {
    return this.moduleOf(file, await this.fetched(file));
  }
  /** The same of a kept file, or of its bytes. */
  async moduleOf(file, bytes) {
    if (this.serviceWorker && (!bytes || await this.cache.match(file.kept))) {
      const response = await fetch(file.kept);
      if (response.ok) { return WebAssembly.compileStreaming(response); }
    }
    return WebAssembly.compile(bytes ?? await (await this.cache.match(file.kept)).arrayBuffer());
  }
}

async function load({compile, link, files: all}, serviceWorker) {
  let done = 0;
  const cache = await self.caches?.open(cacheName).catch(() => undefined);  // needs https
  parts = all;
  files = new Files(cache, serviceWorker && cache, size => postMessage({kind: "progress", done: done += size}));
  const [llvm, errors, headers, prelude] = await Promise.all([files.module(parts.compiler), files.module(parts.errors), files.bytes(parts.headers), files.bytes(parts.prelude)]);
  const root = untar(headers);
  put(root, "prelude.pch", prelude);
  compiler = new Compiler({flags: {compile, link}, llvm, errors, root});
}

let coldIsKept;
/** Once, after the first build: keeps the cold part, for programs that need it without a network. */
function keepCold() {
  if (files.cache) { coldIsKept ??= files.fetched(parts.cold).catch(() => {}); }
}

/** The whole module, which is kept, as its machine code is then. */
async function wholeModule() {
  const kept = parts.cold.kept.replace(/cold(.*)bin$/, "whole$1wasm");
  let bytes;
  if (!(await files.cache?.match(kept))) {
    bytes = whole(await files.bytes(parts.compiler), await files.bytes(parts.cold));
    await files.keep(kept, bytes);
  }
  return files.moduleOf({kept}, bytes);
}

/** Builds a program: by the whole compiler if the hot part lacks a function, and from then on. */
async function build(text, links) {
  try {
    return compiler.build(text, links);
  } catch (problem) {
    if (!(problem instanceof Missing)) { throw problem; }
    postMessage({kind: "completes"});
    await coldIsKept;
    compiler.llvm = await wholeModule();
    return compiler.build(text, links);
  }
}

onmessage = async ({data}) => {
  try {
    if (data.kind === "load") {
      await load(data.manifest, data.serviceWorker);
      postMessage({kind: "ready"});
    } else if (data.kind === "rehearse") {
      await build(rehearsal, true);
    } else {
      const start = performance.now(), result = await build(data.text, data.links);
      postMessage({kind: "built", ...result, seconds: (performance.now() - start) / 1000});
      keepCold();
    }
  } catch (problem) {
    postMessage({kind: "failed", message: String(problem?.message ?? problem)});
  }
};
