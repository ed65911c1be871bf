// Splits the compiler's module into a hot part, with the functions that the programs of the page call, and the cold rest.
// Why no kept tool: wasm-split (binaryen) makes two modules that import functions of each other, and each build of a program would make
// wrappers for all of them. Here the hot part stops where it lacks a function, and the whole module builds the program again.
import {missing} from "./page/compile.mjs";
import {encoded, joined, leb, sections, withBodies} from "./page/module.mjs";

const [imports, functions, globals, exported] = [2, 3, 6, 7];  // ids of sections

function *imported(bytes) {
  const section = [...sections(bytes)].find(one => one.id === imports);
  let [count, at] = leb(bytes, section.start);
  const text = () => {
    const [size, from] = leb(bytes, at);
    at = from + size;
    return Buffer.from(bytes.subarray(from, at)).toString();
  };
  for (; count > 0; --count) {
    const name = [text(), text()].join(".");
    if (bytes[at] !== 0) { throw new Error(`${name} is not a function`); }
    [, at] = leb(bytes, at + 1);
    yield name;
  }
}

/** The body of a cold function: it ends the program. */
function stubOf(bytes) {
  const exit = [...imported(bytes)].indexOf("wasi_snapshot_preview1.proc_exit");
  const body = [0, 0x41, ...encoded(missing), 0x10, ...encoded(exit), 0x00, 0x0b];  // no locals; i32.const; call; unreachable; end
  return Uint8Array.of(body.length, ...body);
}

/** The section with `more` items, which are `count`. */
function longer(bytes, {id, start, end}, count, more) {
  const [before, at] = leb(bytes, start), head = encoded(before + count);
  return [Uint8Array.of(id), encoded(head.length + end - at + more.length), head, bytes.subarray(at, end), more];
}

const perGlobal = 6;  // constants below 64 are one byte

/** The module in which each function sets its bit of an exported global when it is called. -> {module, used}; `used(instance)`: the numbers of the functions */
export function instrumented(bytes) {
  const all = [...sections(bytes)], first = leb(bytes, all.find(one => one.id === globals).start)[0];
  const [count] = leb(bytes, all.find(one => one.id === functions).start);
  const counting = withBodies(bytes, (number, from, start, end) => {
    let [groups, at] = leb(bytes, start);
    for (; groups > 0; --groups) { at = leb(bytes, at)[1] + 1; }
    const global = encoded(first + Math.floor(number / perGlobal));
    const mark = Uint8Array.of(0x23, ...global, 0x41, 1 << number % perGlobal, 0x72, 0x24, ...global);  // global.get; i32.const; i32.or; global.set
    return joined([encoded(end - start + mark.length), bytes.subarray(start, at), mark, bytes.subarray(at, end)]);
  });
  const marks = Math.ceil(count / perGlobal), each = make => joined(Array.from({length: marks}, (_, number) => make(number)));
  const added = {
    [globals]: each(() => Uint8Array.of(0x7f, 1, 0x41, 0, 0x0b)),  // a variable i32, 0
    [exported]: each(number => Uint8Array.of(String(number).length, ...Buffer.from(String(number)), 3, ...encoded(first + number))),
  };
  const parts = [...sections(counting)].flatMap(one => (one.id in added ? longer(counting, one, marks, added[one.id]) : [counting.subarray(one.from, one.end)]));
  return {
    module: new WebAssembly.Module(joined([bytes.subarray(0, 8), ...parts])),
    *used({exports}) {
      for (let number = 0; number < count; ++number) {
        if (exports[Math.floor(number / perGlobal)].value & 1 << number % perGlobal) { yield number; }
      }
    },
  };
}

/** `used`: the numbers of the functions of the hot module. -> {hot, cold}, of which `whole` makes the module again */
export function split(bytes, used) {
  const stub = stubOf(bytes), cold = [stub];
  const hot = withBodies(bytes, (number, from, start, end) => {
    if (used.has(number)) { return bytes.subarray(from, end); }
    cold.push(bytes.subarray(from, end));
    return stub;
  });
  return {hot, cold: joined(cold)};
}
