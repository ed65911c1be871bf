// The models of bench_generation with ONNX Runtime, from the package onnxruntime-node; they are those of onnx_generation_models.py.
//
//   NODE_PATH=<folder>/node_modules node onnxruntime_generation.js <folder of models> <threads> <seconds>
//
// Prints the same lines as the other programs. A word through JavaScript costs some hundredths of a millisecond more.
'use strict';
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');

const [folder, threads, seconds] = [process.argv[2], ...process.argv.slice(3).map(Number)];
console.log(`# onnxruntime-node ${require('onnxruntime-node/package.json').version}`);

function now() {
  if (threads > 1) return performance.now();
  const used = process.cpuUsage();
  return (used.user + used.system) * 1e-3;
}

async function measure(workload, words, f, library = 'onnxruntime') {
  await f();
  const begin = performance.now();
  await f();
  const rounds = Math.min(501, Math.max(5, Math.floor(seconds * 1e3 / (performance.now() - begin))));
  const each = [];
  for (let r = 0; r < rounds; ++r) {
    const before = now();
    await f();
    each.push(now() - before);
  }
  each.sort((a, b) => a - b);
  const [median, low, high] = [0.5, 0.25, 0.75].map((share) => each[Math.floor(rounds * share)]);
  console.log(`${library} ${workload} ${threads} ${median.toFixed(6)} ${(words / median * 1e3).toFixed(2)} 0 ${low.toFixed(6)} ${high.toFixed(6)}`);
}

const int64 = (numbers) => new ort.Tensor('int64', BigInt64Array.from(numbers, BigInt), [1, numbers.length]);
const int32 = (number) => new ort.Tensor('int32', Int32Array.of(number), [1]);

// Texts of 8 to 125 tokens with padding: in the order of their lengths, so many at once. The fastest number counts.
async function runTexts(m, session) {
  const texts = Array.from({length: 32}, (_, i) => Array.from({length: 8 + i * 37 % 121}, (_, k) => k * 7919 % m.words));
  texts.sort((a, b) => a.length - b.length);
  const tokens = texts.reduce((sum, text) => sum + text.length, 0);
  for (const size of [1, 2, 4, 8, 32]) {
    const batches = [];
    for (let i = 0; i < texts.length; i += size) {
      const batch = texts.slice(i, i + size);
      const n = Math.max(...batch.map((text) => text.length));
      const each = (f) => batch.flatMap((text) => Array.from({length: n}, (_, k) => f(text, k)));
      batches.push({
        ids: new ort.Tensor('int64', BigInt64Array.from(each((text, k) => BigInt(k < text.length ? text[k] : 0))), [batch.length, n]),
        at: new ort.Tensor('int64', BigInt64Array.from(each((_, k) => BigInt(k))), [batch.length, n]),
        lengths: new ort.Tensor('int32', Int32Array.from(batch.map((text) => text.length)), [batch.length]),
        shares: new ort.Tensor('float32', Float32Array.from(each((text, k) => k < text.length ? 1 / text.length : 0)), [batch.length, 1, n]),
      });
    }
    await measure(`${m.name}${m.suffix}`, tokens, async () => {
      for (const batch of batches) await session.run(batch);
    }, `onnxruntime_by${size}`);
  }
}

async function run(m, session) {
  if (m.suffix === '_texts') return runTexts(m, session);
  const prompt = Array.from({length: m.prompt}, (_, i) => i * 7919 % m.words);
  if (m.kind === 'bert') return measure(`${m.name}${m.suffix}`, m.prompt, () => session.run({ids: int64(prompt)}));
  const room = [1, m.heads, m.prompt + m.written, m.width / m.heads];
  const cache = {};
  const fetches = {logits: null};
  for (let layer = 0; layer < m.layers; ++layer) {
    for (const part of 'kv') {
      const numbers = new ort.Tensor('float32', new Float32Array(room.reduce((a, b) => a * b)), room);
      cache[`past_${part}${layer}`] = fetches[`present_${part}${layer}`] = numbers;
    }
  }
  const next = async (ids, at) => {
    const end = at + ids.length;
    const feeds = {...cache, ids: int64(ids), last: int32(end - 1), length: int32(end)};
    if (session.inputNames.includes('at')) feeds.at = int64(ids.map((_, i) => at + i));
    const logits = (await session.run(feeds, fetches)).logits.data;
    let best = 0;
    for (let i = 1; i < logits.length; ++i) if (logits[i] > logits[best]) best = i;
    return best;
  };
  await measure(`${m.name}_prefill${m.prompt}${m.suffix}`, m.prompt, () => next(prompt, 0));
  let at = m.prompt;
  let word = await next(prompt, 0);
  await measure(`${m.name}_decode${m.suffix}`, 1, async () => {
    if (at === m.prompt + m.written) at = m.prompt;
    word = await next([word], at++);
  });
}

(async () => {
  for (const m of JSON.parse(fs.readFileSync(path.join(folder, 'models.json')))) {
    try {
      const session = await ort.InferenceSession.create(path.join(folder, `${m.name}${m.suffix}.onnx`), {
        intraOpNumThreads: threads, interOpNumThreads: 1, graphOptimizationLevel: 'all', logSeverityLevel: 3,
      });
      await run(m, session);
      await session.release();
    } catch (problem) {
      console.log(`# onnxruntime ${m.name}${m.suffix}: ${String(problem.message || problem).split('\n')[0]}`);
    }
  }
})();
