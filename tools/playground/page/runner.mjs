// Runs one program in a worker of its own, which the page can stop, and sends what it prints and the files that it writes.
import {File, Folder, Wasi} from "./wasi.mjs";

const limit = 1 << 20;  // bytes of text: a page with more does not respond

onmessage = async ({data: {program, args}}) => {
  let printed = 0;
  const printer = kind => {
    const decoder = new TextDecoder();
    return bytes => {
      printed += bytes.length;
      if (printed > limit) { throw new Error("stopped: it printed more than 1 MB"); }
      postMessage({kind, text: decoder.decode(bytes, {stream: true})});
    };
  };
  const root = new Folder(), start = performance.now();
  const wasi = new Wasi({args: ["program", ...args], root, stdout: printer("out"), stderr: printer("err")});
  let code, problem;
  try {
    code = wasi.start((await WebAssembly.instantiate(program, wasi.imports)).instance);
  } catch (thrown) {
    problem = /Maximum call stack|stack/i.test(thrown.message) ? "the stack overflowed" : thrown.message;
  }
  const files = [...root].filter(([, node]) => node instanceof File).map(([name, node]) => [name, node.bytes()]);
  postMessage({kind: "end", code, problem, files, seconds: (performance.now() - start) / 1000});
};
