// The functions of a WebAssembly module, apart: a hot module has the bodies of those that most programs need, and stubs for the others.
// The cold bodies are a file of their own; both together are the module again.
const code = 10;  // the id of the section of bodies

/** A number at `at`, and where the next byte is. */
export function leb(bytes, at) {
  let value = 0;
  for (let shift = 1; ; shift *= 128) {
    const byte = bytes[at++];
    value += (byte & 127) * shift;
    if (byte < 128) { return [value, at]; }
  }
}
export function encoded(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) { bytes.push(value % 128 | 128); }
  return Uint8Array.from([...bytes, value]);
}

/** The sections of a module: {id, from, start, end}, with its first byte, that of its content, and its end. */
export function *sections(bytes) {
  for (let from = 8; from < bytes.length;) {
    const [size, start] = leb(bytes, from + 1);
    yield {id: bytes[from], from, start, end: start + size};
    from = start + size;
  }
}

/** The module with other bodies: `use(number, from, start, end)` gives the bytes that stand for the body, with its size before it. */
export function withBodies(bytes, use) {
  const {from, start, end} = [...sections(bytes)].find(one => one.id === code);
  let [count, at] = leb(bytes, start);
  const parts = [encoded(count)];
  for (let number = 0; number < count; ++number) {
    const [size, first] = leb(bytes, at);
    parts.push(use(number, at, first, first + size));
    at = first + size;
  }
  const size = parts.reduce((sum, one) => sum + one.length, 0);
  return joined([bytes.subarray(0, from), Uint8Array.of(code), encoded(size), ...parts, bytes.subarray(end)]);
}

export function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const one of parts) {
    all.set(one, at);
    at += one.length;
  }
  return all;
}

/** The whole module of a hot one and of the cold file: the stub, then the bodies that have a stub in the hot module, in its order. */
export function whole(hot, cold) {
  let at = 0;
  const next = () => {
    const [size, first] = leb(cold, at), from = at;
    at = first + size;
    return cold.subarray(from, at);
  };
  const stub = next();
  const isStub = (from, end) => end - from === stub.length && stub.every((byte, i) => hot[from + i] === byte);
  return withBodies(hot, (number, from, start, end) => (isStub(from, end) ? next() : hot.subarray(from, end)));
}
