// Checks, compiles and links one program at a time.
import {Folder, get, overlay, put, run} from "./wasi.mjs";

const file = "main.cpp";

export class Compiler {
  /** `flags`: {compile, link}; modules of the compiler and of the filter of errors; the files that the compiler reads. */
  constructor({flags, llvm, errors, root}) {
    Object.assign(this, {flags, llvm, errors, root});
  }

  /** -> {ok, diagnostics, output}; with `links` also {program}, the bytes of a WebAssembly module */
  build(text, links) {
    const root = overlay(this.root);
    put(root, file, text);
    const made = this.call(["clang++", ...this.flags.compile, ...(links ? ["-c", "-o", "main.o"] : ["-fsyntax-only"]), file], root);
    const diagnostics = this.diagnostics(made.output, root);
    if (!made.ok || !links) { return {...made, diagnostics}; }
    const linked = this.call(["wasm-ld", ...this.flags.link], root);
    return {ok: linked.ok, output: made.output + linked.output, diagnostics, program: linked.ok ? get(root, "main.wasm").bytes().slice() : undefined};
  }

  call(args, root) {
    try {
      const {code, err} = run(this.llvm, ["llvm", ...args], root);
      return {ok: code === 0, output: err};
    } catch (crash) {
      return {ok: false, output: `the compiler crashed: ${crash}`};
    }
  }

  /** Each error and warning, from the C++ program that dimwise-errors is made of. */
  diagnostics(output, root) {
    if (output === "") { return []; }
    const {out} = run(this.errors, ["errors"], new Folder([[file, get(root, file)]]), new TextEncoder().encode(output));
    return out.split("\n").filter(Boolean).map(line => JSON.parse(line));
  }
}
