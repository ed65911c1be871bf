// The compiler in a worker: downloads it once, then builds what the page sends.
import {Compiler} from "./compile.mjs";
import {put, untar} from "./wasi.mjs";

const cacheName = "dimwise-playground";
let compiler;

/** The bytes of a compressed file, decompressed: from the cache, or from the network, which `progress` counts. */
async function stream(url, progress) {
  const cache = await self.caches?.open(cacheName).catch(() => undefined);  // needs https
  let response = await cache?.match(url);
  if (!response) {
    response = await fetch(url);
    if (!response.ok) { throw new Error(`${url}: ${response.status} ${response.statusText}`); }
    const [kept, used] = response.body.tee();
    cache?.put(url, new Response(kept)).catch(() => {});  // without room the page works from the network
    if (!cache) { kept.cancel(); }
    response = new Response(used);
  }
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
  return compressed ? whole.pipeThrough(new DecompressionStream("gzip")) : whole;
}

async function load({compile, link, files}) {
  let done = 0;
  const open = name => stream(files[name].name, size => postMessage({kind: "progress", done: done += size}));
  const module = async name => WebAssembly.compileStreaming(new Response(await open(name), {headers: {"content-type": "application/wasm"}}));
  const bytes = async name => new Uint8Array(await new Response(await open(name)).arrayBuffer());
  const [llvm, errors, headers, prelude] = await Promise.all([module("compiler"), module("errors"), bytes("headers"), bytes("prelude")]);
  const root = untar(headers);
  put(root, "prelude.pch", prelude);
  compiler = new Compiler({flags: {compile, link}, llvm, errors, root});
}

onmessage = async ({data}) => {
  try {
    if (data.kind === "load") {
      await load(data.manifest);
      postMessage({kind: "ready"});
    } else {
      const start = performance.now(), result = compiler.build(data.text, data.links);
      postMessage({kind: "built", ...result, seconds: (performance.now() - start) / 1000});
    }
  } catch (problem) {
    postMessage({kind: "failed", message: String(problem?.message ?? problem)});
  }
};
