// tests/real_tokenizers/rust.mjs -- what encode_lines.cpp does, by the Rust library `tokenizers` (npm @anush008/tokenizers).
//
//   node rust.mjs FOLDER tokenizer.json texts.json        FOLDER: where the package is installed
import fs from "fs";
import path from "path";
import { createRequire } from "module";

const [folder, file, textFile] = process.argv.slice(2);
const { Tokenizer } = createRequire(path.resolve(folder) + "/x.js")("@anush008/tokenizers");
const texts = JSON.parse(fs.readFileSync(textFile, "utf8"));
const seconds = () => { const used = process.cpuUsage(); return (used.user + used.system) / 1e6; };
let load = 1e9, encode = 1e9, ids = [];
for (let i = 0; i < 3; ++i) {
  const begin = seconds();
  const tokenizer = Tokenizer.fromFile(file);
  tokenizer.disableTruncation();
  tokenizer.disablePadding();
  const loaded = seconds();
  const all = [];
  for (const text of texts) { all.push(await tokenizer.encode(text, null, { addSpecialTokens: false })); }
  encode = Math.min(encode, seconds() - loaded);
  load = Math.min(load, loaded - begin);
  if (i === 0) { ids = all.map((one) => Array.from(one.getIds())); }
}
console.log(JSON.stringify({ load, encode, ids }));
