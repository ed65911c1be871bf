// The texts of bench_embeddings with ONNX Runtime; embeddings.py makes the folder.
//   node benchmarks/rivals/onnxruntime_embeddings.js FOLDER THREADS SECONDS       (NODE_PATH reaches onnxruntime-node)
const fs = require('fs'), path = require('path');
const [folder, threads, budget] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const ort = require('onnxruntime-node');
const wall = () => Number(process.hrtime.bigint()) * 1e-6;
const processor = () => { const used = process.cpuUsage(); return (used.user + used.system) * 1e-3; };
const now = threads === 1 ? processor : wall;

async function main() {
  const session = await ort.InferenceSession.create(path.join(folder, 'model.onnx'), {
    intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all', enableCpuMemArena: true});
  const feeds = ids => {
    const most = Math.max(...ids.map(text => text.length)), extents = [ids.length, most];
    const table = of => new ort.Tensor('int32', Int32Array.from(ids.flatMap(text => Array.from({length: most}, (_, i) => of(text, i)))), extents);
    return {ids: table((text, i) => text[i] ?? 0), segments: table(() => 0), mask: table((text, i) => i < text.length ? 1 : 0)};
  };
  for (const batch of JSON.parse(fs.readFileSync(path.join(folder, 'batches.json')))) {
    for (const [peer, calls] of [['onnxruntime', [feeds(batch.ids)]], ['onnxruntime_single', batch.ids.map(text => feeds([text]))]]) {
      if (peer === 'onnxruntime_single' && calls.length === 1) continue;
      const first = (await session.run(calls[0])).vectors.data[0];
      const times = [], end = wall() + budget * 1e3;
      while (times.length < 3 || wall() < end) {
        const begin = now();
        for (const call of calls) await session.run(call);
        times.push(now() - begin);
      }
      times.sort((a, b) => a - b);
      console.log(`${peer} ${batch.name} ${threads} ${times[times.length >> 1].toFixed(3)} ${first.toFixed(5)}`);
    }
  }
}
main().catch(problem => { console.error(String(problem)); process.exit(1); });
