// A program in the fragment of the address: "#program=10_softmax_over_the_keys", or "#code=" and the text, compressed.

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

export async function fragmentOf(text) {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const code = btoa(Array.from(bytes, one => String.fromCharCode(one)).join(""));
  return `#code=${code.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** -> {program} or {text}; {} where the fragment names neither */
export async function programOf(fragment) {
  const [, kind, value] = /^#(program|code)=([\w-]+)$/.exec(fragment) ?? [];
  if (kind === "program") { return {program: value}; }
  if (kind !== "code") { return {}; }
  const bytes = Uint8Array.from(atob(value.replaceAll("-", "+").replaceAll("_", "/")), one => one.charCodeAt(0));
  return {text: new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")))};
}
