// The language models of bench_generation with llama.cpp, as the package node-llama-cpp brings it; the models are those of gguf_models.py.
//
//   node llama_cpp.mjs <folder with node_modules> <threads> <words to read> <words to write> <rounds> <model.gguf> ...
//
// Prints the same lines as the other programs. One thread: CPU time of the process, or llama.cpp's own clock of its evaluation where that
// says less, because a token through JavaScript costs some tenths of a millisecond more.
import {createRequire} from 'module';
import path from 'path';
import {pathToFileURL} from 'url';

const [home, threads, read, written, rounds] = [process.argv[2], ...process.argv.slice(3, 7).map(Number)];
const require = createRequire(path.join(path.resolve(home), 'any.js'));
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(require.resolve('node-llama-cpp')));

const own = {};  // milliseconds for a word, by what llama.cpp calls the work
const llama = await getLlama({gpu: false, build: 'never', maxThreads: threads, logLevel: LlamaLogLevel.info, logger: (level, text) => {
  const found = /(prompt eval|eval) time =.*\(\s*([\d.]+) ms per token/.exec(text);
  if (found) own[found[1]] = Number(found[2]);
}});
console.log(`# node-llama-cpp ${llama.llamaCppRelease?.release ?? ''}`.trim());

function now() {
  if (threads > 1) return performance.now();
  const used = process.cpuUsage();
  return (used.user + used.system) * 1e-3;
}

function quartiles(each) {
  each.sort((a, b) => a - b);
  return [0.5, 0.25, 0.75].map((share) => each[Math.floor(each.length * share)]);
}

function print(name, words, ms) {
  console.log(`llama_cpp ${name} ${threads} ${ms[0].toFixed(6)} ${(words / ms[0] * 1e3).toFixed(2)} 0 ${ms[1].toFixed(6)} ${ms[2].toFixed(6)}`);
}

for (const file of process.argv.slice(7)) {
  const [, name, storage] = /^(.*?)((?:_f16|_bf16|_int8|_int4)?)\.gguf$/.exec(path.basename(file));
  try {
    const model = await llama.loadModel({modelPath: file, gpuLayers: 0, ignoreMemorySafetyChecks: true});
    const context = await model.createContext({contextSize: Math.max(256, read + written + 8), batchSize: read, sequences: 1, threads,
                                               performanceTracking: true, ignoreMemorySafetyChecks: true});
    const sequence = context.getSequence();
    const prompt = Array.from({length: read}, (_, i) => i * 7919 % 30000);
    const reading = [];
    const writing = [];
    for (let round = 0; round <= rounds; ++round) {  // the first one warms up
      await sequence.clearHistory();
      let begin = now();
      await sequence.evaluateWithoutGeneratingNewTokens(prompt);
      const taken = now() - begin;
      let made = 0;
      for await (const _ of sequence.evaluate([500], {temperature: 0, yieldEogToken: true})) {
        if (made === 0) begin = now();
        if (made++ === written) break;
      }
      if (round === 0) continue;
      reading.push(taken);
      writing.push((now() - begin) / written);
    }
    await context.printTimings();
    const decode = quartiles(writing);
    const less = Math.min(0, (own.eval ?? Infinity) - decode[0]);
    print(`${name}_prefill${read}${storage}`, read, quartiles(reading));
    print(`${name}_decode${storage}`, 1, decode.map((ms) => ms + less));
    await context.dispose();
    await model.dispose();
  } catch (problem) {
    console.log(`# llama_cpp ${name}${storage}: ${String(problem.message ?? problem).split('\n')[0]}`);
  }
}
process.exit(0);
