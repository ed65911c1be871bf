// The compiler of the playground in node: clang, wasm-ld and ar as one WebAssembly module, and the files that they read.
// Why no kept tool: the package of the compiler has no archiver of files.
import {readFileSync, readdirSync, statSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {Folder, get, put, run, untar} from "./page/wasi.mjs";

export {Folder, get, put, run};
export const sources = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const folder = join(sources, "build/playground");
export const packageFolder = join(folder, "node_modules/@yowasp/clang/gen");

/** The compiler's module. Compiling it takes seconds. */
export function compiler() {
  return new WebAssembly.Module(readFileSync(join(packageFolder, "llvm.core.wasm")));
}

/** The headers and libraries of the package, at /usr. */
export function sysroot() {
  return new Folder([["usr", untar(readFileSync(join(packageFolder, "llvm-resources.tar")))]]);
}

/** Puts the files of a folder that `wanted` accepts. */
export function putFolder(root, from, to, wanted = () => true) {
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    if (statSync(path).isDirectory()) {
      putFolder(root, path, `${to}/${name}`, wanted);
    } else if (wanted(path)) {
      put(root, `${to}/${name}`, new Uint8Array(readFileSync(path)));
    }
  }
}
