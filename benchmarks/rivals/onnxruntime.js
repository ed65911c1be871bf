// The workloads with ONNX Runtime, from the package onnxruntime-node; the models are those of onnxruntime_models.py.
//
//   NODE_PATH=<folder>/node_modules node onnxruntime.js <folder of models> <threads> <seconds> <peak GFLOP/s>
//
// The binding is called directly with outputs that are there already; a call costs some microseconds all the same, which
// only W4 feels.
'use strict';
const fs = require('fs');
const path = require('path');
const { Tensor } = require('onnxruntime-common');
const home = path.dirname(require.resolve('onnxruntime-node/package.json'));
const { binding, initOrt } = require(path.join(home, 'dist/binding.js'));

const [folder, threads, seconds, peak] = [process.argv[2], ...process.argv.slice(3).map(Number)];
console.log(`# onnxruntime-node ${require('onnxruntime-node/package.json').version}`);
initOrt();

function now() {
  if (threads > 1) return Number(process.hrtime.bigint()) * 1e-6;
  const used = process.cpuUsage();
  return (used.user + used.system) * 1e-3;
}

function measure(f) {
  f();
  const begin = Number(process.hrtime.bigint());
  f();
  const once = Math.max(1e-4, (Number(process.hrtime.bigint()) - begin) * 1e-6);
  const inner = Math.max(1, Math.floor(4 / once));  // the clock of one process counts in microseconds
  const rounds = Math.min(501, Math.max(5, Math.floor(seconds * 1e3 / (once * inner))));
  const each = [];
  for (let r = 0; r < rounds; ++r) {
    const before = now();
    for (let i = 0; i < inner; ++i) f();
    each.push((now() - before) / inner);
  }
  each.sort((a, b) => a - b);
  return [0.5, 0.25, 0.75].map((share) => each[Math.floor(rounds * share)]);
}

function tensor(extents, value) {
  const numbers = new Float32Array(extents.reduce((a, b) => a * b, 1));
  for (let i = 0; i < numbers.length; ++i) numbers[i] = value(i);
  return new Tensor('float32', numbers, extents);
}

for (const model of JSON.parse(fs.readFileSync(path.join(folder, 'models.json')))) {
  try {
    const session = new binding.InferenceSession();
    session.loadModel(path.join(folder, `${model.name}.onnx`), {
      intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all', logSeverityLevel: 3,
    });
    const inputs = {};
    const outputs = {};
    for (const [name, extents] of Object.entries(model.inputs)) inputs[name] = tensor(extents, (i) => Math.sin(i * 12.9898 + name.charCodeAt(0)));
    for (const [name, extents] of Object.entries(model.outputs)) outputs[name] = tensor(extents, () => 0);
    const [median, low, high] = measure(() => session.run(inputs, outputs, {}));
    const gflops = model.flops / median * 1e-6;
    console.log(`onnxruntime ${model.name} ${threads} ${median.toFixed(6)} ${gflops.toFixed(2)} ${(100 * gflops / (threads * peak)).toFixed(1)} ` +
                `${low.toFixed(6)} ${high.toFixed(6)}`);
    if (session.dispose) session.dispose();
  } catch (problem) {
    console.log(`# onnxruntime ${model.name}: ${String(problem.message || problem).split('\n')[0]}`);
  }
}
