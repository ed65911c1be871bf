// The compiler in a worker: downloads it once, then builds what the page sends.
import {Compiler} from "./compile.mjs";
import {put, untar} from "./wasi.mjs";

const cacheName = "dimwise-playground";
const rehearsal = "#include <iostream>\nstruct seq : dimwise::position_dim<2> {};\nint main() { std::cout << dimwise::tensor<float, seq>({1, 2}); }\n";
let compiler;

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
    const type = kept.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    await this.cache?.put(kept, new Response(bytes, {headers: {"content-type": type}})).catch(() => {});
    return bytes;
  }
  async bytes(file) {
    return new Uint8Array(await this.fetched(file) ?? await (await this.cache.match(file.kept)).arrayBuffer());
  }
  /** A module. Chromium keeps the optimised code of one that comes from the cache by the service worker: the next visit starts with it. */
  async module(file) {
    const bytes = await this.fetched(file);
    if (this.serviceWorker && (!bytes || await this.cache.match(file.kept))) {
      const response = await fetch(file.kept);
      if (response.ok) { return WebAssembly.compileStreaming(response); }
    }
    return WebAssembly.compile(bytes ?? await (await this.cache.match(file.kept)).arrayBuffer());
  }
}

async function load({compile, link, files}, serviceWorker) {
  let done = 0;
  const cache = await self.caches?.open(cacheName).catch(() => undefined);  // needs https
  const all = new Files(cache, serviceWorker && cache, size => postMessage({kind: "progress", done: done += size}));
  const [llvm, errors, headers, prelude] = await Promise.all([all.module(files.compiler), all.module(files.errors), all.bytes(files.headers), all.bytes(files.prelude)]);
  const root = untar(headers);
  put(root, "prelude.pch", prelude);
  compiler = new Compiler({flags: {compile, link}, llvm, errors, root});
}

onmessage = async ({data}) => {
  try {
    if (data.kind === "load") {
      await load(data.manifest, data.serviceWorker);
      postMessage({kind: "ready"});
    } else if (data.kind === "rehearse") {
      compiler.build(rehearsal, true);
    } else {
      const start = performance.now(), result = compiler.build(data.text, data.links);
      postMessage({kind: "built", ...result, seconds: (performance.now() - start) / 1000});
    }
  } catch (problem) {
    postMessage({kind: "failed", message: String(problem?.message ?? problem)});
  }
};
