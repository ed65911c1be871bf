// src/programs/predict/predict.cpp -- dimwise-predict: the time of a step and the memory of a rank, for models,
// machines and numbers of ranks that are not at hand.
//
//   dimwise-predict llama-3.1-8b --task decode --machine a100 --ranks 1,2,4,8
//   dimwise-predict folder --batch 64 --context 2048 --link 100g          on ranks like this one
//   mpirun -n 2 dimwise-predict gpt2 --measure this.json                  the rates of this machine, for --machine
// SPDX-License-Identifier: BSL-1.0
#include "files.hpp"
#include "measure.hpp"
#include <dimwise/ranks/run.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <system_error>

namespace {

using namespace programs;
using namespace prediction;

struct predict_options {
  std::string model_name;
  std::map<std::string, std::int64_t> sizes;  // by the names of options
  bool gated = false;
  bool untied = false;
  std::string task_name = "train";
  std::int64_t batch = 1;
  std::int64_t context = 1024;
  std::string elements = "f32";
  std::vector<std::int64_t> ranks{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  std::vector<std::string> places;
  std::int64_t micro_batch = 0;
  bool zero_1 = false;
  std::string again = "none";
  std::string machine_name = "this";
  std::string far;
  std::string near;
  std::int64_t ranks_per_machine = 0;
  double memory = 0;  // GB
  bool overlaps_data = false;
  std::string measured;  // a file
  double seconds = 0.2;
  bool parts = false;
  bool json = false;
};

double number_of(std::int64_t n) { return static_cast<double>(n); }

model chosen_model(const predict_options& o) {
  model m;
  if (!o.model_name.empty()) {
    m = find_model(o.model_name);
  } else {
    m.name = "model";
    for (const char* needed : {"layers", "d-model", "heads", "hidden", "vocab"}) {
      if (!o.sizes.contains(needed)) {
        refuse(std::string("a folder or the name of a model was expected, or its sizes: --") + needed + " is missing");
      }
    }
  }
  const auto set = [&](const char* name, double& to) {
    if (const auto found = o.sizes.find(name); found != o.sizes.end()) { to = number_of(found->second); }
    return o.sizes.contains(name);
  };
  set("layers", m.layers);
  set("d-model", m.d_model);
  set("vocab", m.vocab);
  if (set("hidden", m.hidden)) { m.stored_hidden = m.hidden; }
  const bool heads = set("heads", m.heads);
  if (!set("kv-heads", m.kv_heads) && heads) { m.kv_heads = m.heads; }
  if (!set("d-k", m.d_k) && (heads || o.sizes.contains("d-model"))) { m.d_k = std::floor(m.d_model / m.heads); }
  m.gated = m.gated || o.gated;
  m.tied = m.tied && !o.untied;
  if (std::fmod(m.heads, m.kv_heads) != 0) {
    refuse(std::to_string(static_cast<std::int64_t>(m.heads)) + " heads are not divisible by " +
           std::to_string(static_cast<std::int64_t>(m.kv_heads)) + " key heads");
  }
  return m;
}

task chosen_task(const predict_options& o) {
  task t{.batch = number_of(o.batch), .context = number_of(o.context)};
  if (o.task_name == "prefill") { t.kind = task_kind::prefill; }
  if (o.task_name == "decode") { t.kind = task_kind::decode; }
  if (o.elements == "bf16") {  // mixed precision: a copy of the weights in 32 bits beside two moments
    t.weight_bytes = 2;
    t.gradient_bytes = 2;
    t.activation_bytes = 2;
    t.state_bytes = 12;
  }
  return t;
}

recomputation chosen_recomputation(const predict_options& o) {
  if (o.again == "selective") { return recomputation::selective; }
  return o.again == "full" ? recomputation::full : recomputation::none;
}

/// A link by its name, or as MICROSECONDS:GB/s.
connection chosen_link(const std::string& name) {
  if (const auto found = find_link(name)) { return *found; }
  const std::size_t colon = name.find(':');
  if (colon != std::string::npos) {
    double latency = 0;
    double bandwidth = 0;
    const char* const end = name.data() + name.size();
    const auto first = std::from_chars(name.data(), name.data() + colon, latency);
    const auto second = std::from_chars(name.data() + colon + 1, end, bandwidth);
    if (first.ec == std::errc() && first.ptr == name.data() + colon && second.ec == std::errc() && second.ptr == end &&
        std::isfinite(latency) && latency >= 0 && std::isfinite(bandwidth) && bandwidth > 0) {
      return {.latency = latency * 1e-6,
              .bandwidth = bandwidth * 1e9,
              .reduce_bandwidth = bandwidth * 1e9,
              .gap = latency * 0.25e-6};
    }
  }
  std::string names;
  for (const named_link& one : known_links()) { names += (names.empty() ? "" : ", ") + one.name; }
  refuse("link " + name + ": " + names + " or MICROSECONDS:GB/s was expected, such as 50:1.25");
}

/// The place of the ranks as `dp=2,tp=4,micro=1`.
placement place_of(const std::string& text, const predict_options& o) {
  placement p{.micro_batch = number_of(o.micro_batch), .zero_1 = o.zero_1, .again = chosen_recomputation(o)};
  const std::map<std::string, double*> axes{
      {"dp", &p.dp}, {"tp", &p.tp}, {"sp", &p.sp}, {"pp", &p.pp}, {"micro", &p.micro_batch}, {"chunks", &p.chunks}};
  std::istringstream all(text);
  for (std::string part; std::getline(all, part, ',');) {
    const std::size_t equal = part.find('=');
    const auto axis = axes.find(part.substr(0, equal));
    std::int64_t n = 0;
    if (equal != std::string::npos) {
      const char* const end = part.data() + part.size();
      const auto [last, wrong] = std::from_chars(part.data() + equal + 1, end, n);
      if (wrong != std::errc() || last != end || n > 65536) { n = 0; }
    }
    if (axis == axes.end() || n < 1) {
      refuse("placement " + text +
             ": dp=N, tp=N, sp=N, pp=N, micro=N and chunks=N were expected, each N from 1 to 65536");
    }
    *axis->second = number_of(n);
  }
  return p;
}

struct found_machine {
  machine on{};
  bool speaks = true;  // false on all processes of mpirun but the first
  int code = 0;
};

/// The machine by its name or file; this one is measured, with the ranks that run the program.
found_machine chosen_machine(const predict_options& o, const model& m) {
  found_machine found;
  if (o.machine_name == "a100") {
    found.on = a100();
  } else if (o.machine_name == "a100-2021") {
    found.on = a100_2021();
  } else if (o.machine_name == "node200") {
    found.on = node_200();
  } else if (o.machine_name != "this") {
    if (!std::filesystem::is_regular_file(o.machine_name)) {
      refuse(o.machine_name + ": neither a file nor one of the machines this, a100, a100-2021, node200");
    }
    found.on = machine_in(o.machine_name);
  } else {
    found.code = dimwise::ranks::run([&](const dimwise::ranks::communicator& world) {
      const machine measured = measure_machine(m, world, o.seconds);
      if (world.rank() == 0) {
        found.on = measured;
      } else if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr) {
        found.speaks = false;  // a process of its own
      }
    }, {.checks = false});
    if (!o.far.empty()) { found.on.ranks_per_machine = 1; }
  }
  machine& on = found.on;
  if (!o.far.empty()) { on.far = chosen_link(o.far); }
  if (!o.near.empty()) { on.near = chosen_link(o.near); }
  if (o.ranks_per_machine > 0) { on.ranks_per_machine = number_of(o.ranks_per_machine); }
  if (o.memory > 0) { on.memory = o.memory * 1e9; }
  on.overlaps_data = on.overlaps_data || o.overlaps_data;
  return found;
}

// --- output -----------------------------------------------------------------------------------------------------

nlohmann::json to_json(const forecast& f, const machine& on) {
  const step_seconds& s = f.time;
  const rank_bytes& b = f.memory;
  return {{"ranks", f.where.ranks()},
          {"dp", f.where.dp},
          {"tp", f.where.tp},
          {"sp", f.where.sp},
          {"pp", f.where.pp},
          {"micro_batch", f.where.micro_batch},
          {"chunks", f.where.chunks},
          {"seconds",
           {{"total", s.total()},
            {"products", s.products},
            {"attention", s.attention},
            {"pointwise", s.pointwise},
            {"optimiser", s.optimiser},
            {"bubble", s.bubble},
            {"tensor", s.tensor},
            {"ring", s.ring},
            {"pipeline", s.pipeline},
            {"data", s.data},
            {"hidden", s.hidden()}}},
          {"bytes",
           {{"total", b.total()},
            {"weights", b.weights},
            {"gradients", b.gradients},
            {"state", b.state},
            {"activations", b.activations},
            {"cache", b.cache}}},
          {"operations_per_second_and_rank", f.operations / s.total() / f.where.ranks()},
          {"fits", fits(on, f)},
          {"limit", limit_of(on, f)}};
}

void print_head(const model& m, const machine& on, const task& t) {
  std::printf("%s: %.0f layers of %.0f features, %.3g billion parameters\n", m.name.c_str(), m.layers, m.d_model,
              parameters(m) / 1e9);
  constexpr const char* kinds[] = {"training step", "prompt", "token of each sequence"};
  std::printf("%s: %.0f sequences, %.0f positions\n", kinds[static_cast<std::size_t>(t.kind)], t.batch, t.context);
  std::printf("%s: products %.4g GFLOP/s, attention %.4g GFLOP/s, weights %.3g GB/s, elements %.3g GB/s\n",
              on.name.c_str(), on.product_rate / 1e9, on.attention_rate / 1e9, on.stream_bandwidth / 1e9,
              on.pointwise_bandwidth / 1e9);
  std::printf("links: in a machine %.3g us, %.3g GB/s; between machines %.3g us, %.3g GB/s\n\n", on.near.latency * 1e6,
              on.near.bandwidth / 1e9, on.far.latency * 1e6, on.far.bandwidth / 1e9);
  std::printf("%5s %4s %3s %3s %3s %5s %6s | %9s %9s %9s %9s %9s | %8s %9s | %7s %7s %7s %7s %7s %8s | %s\n", "ranks",
              "dp", "tp", "sp", "pp", "micro", "chunks", "step ms", "compute", "exposed", "hidden", "bubbles",
              "GFLOP/s", "tokens/s", "weights", "grads", "state", "saved", "cache", "GB", "limit");
}

void print_row(const forecast& f, const machine& on, const task& t) {
  const step_seconds& s = f.time;
  const rank_bytes& b = f.memory;
  const double tokens = t.batch * (t.kind == task_kind::decode ? 1 : t.context);
  const double own = t.batch / f.where.dp;
  std::printf(
      "%5.0f %4.0f %3.0f %3.0f %3.0f %5.0f %6.0f | %9.4g %9.4g %9.4g %9.4g %9.4g | %8.4g %9.4g | %7.3g %7.3g %7.3g "
      "%7.3g %7.3g %8.3g | %s%s\n",
      f.where.ranks(), f.where.dp, f.where.tp, f.where.sp, f.where.pp,
      f.where.micro_batch > 0 ? f.where.micro_batch : own, f.where.chunks, s.total() * 1e3, s.computing() * 1e3,
      s.exposed() * 1e3, s.hidden() * 1e3, s.bubble * 1e3, f.operations / s.total() / f.where.ranks() / 1e9,
      tokens / s.total(), b.weights / 1e9, b.gradients / 1e9, b.state / 1e9, b.activations / 1e9, b.cache / 1e9,
      b.total() / 1e9, limit_of(on, f).c_str(), fits(on, f) ? "" : ", does not fit");
}

/// What benchmarks/ranks/check_prediction.py compares with bench_ranks: parts of a layer on some ranks.
void print_parts(const model& m, const machine& on, const task& t, double ranks) {
  const double slow = slowdown(on, ranks);
  const double rows = t.batch * t.context;
  const double sent = rows * m.d_model * t.activation_bytes;
  const double reduced = all_reduce_seconds(on.reduction, on.near, ranks, sent);
  const auto print = [&](const char* name, double seconds) {
    std::printf("%s\n", nlohmann::json{{"step", name}, {"ranks", ranks}, {"seconds", seconds}}.dump().c_str());
  };
  print("tp feed_forward", slow * feed_forward_seconds(m, on, t, rows, ranks).total() + reduced);
  print("tp attention", slow * attention_seconds(m, on, t, t.batch, t.context, t.context, ranks).total() + reduced);
  const double matrices = feed_matrices(m, m.hidden);
  print("dp feed_forward step", slow * 3 * feed_forward_seconds(m, on, t, rows / ranks, 1).total() +
                                    all_reduce_seconds(on.reduction, on.near, ranks, matrices * t.gradient_bytes));
  const double width = m.heads * m.d_k;
  const double positions = t.context / ranks;
  const double attention = slow * t.batch * attention_operations(positions, t.context, width) / on.attention_rate;
  const ring_seconds ring = ring_attention_seconds(
      on.near, ranks, t.batch * positions * 2 * m.kv_heads * m.d_k * t.activation_bytes, attention);
  // Merges of parts read two and write one.
  const double merges =
      slow * 3 * (ranks - 1) * t.batch * positions * width * t.activation_bytes / on.pointwise_bandwidth;
  print("ring attention", attention + ring.exposed + merges);
}

int predict_all(const predict_options& o) {
  const model m = chosen_model(o);
  task t = chosen_task(o);
  std::vector<placement> places;
  for (const std::string& text : o.places) {
    places.push_back(place_of(text, o));
    if (const std::string problem = problem_of(m, t, places.back()); !problem.empty()) {
      refuse("placement " + text + ": " + problem);
    }
  }
  const found_machine found = chosen_machine(o, m);
  if (found.code != 0 || !found.speaks) { return found.code; }
  const machine& on = found.on;
  if (!o.measured.empty()) {
    const std::string text = prediction::to_json(on).dump(2) + "\n";
    if (o.measured == "-") {
      std::printf("%s", text.c_str());
      return 0;
    }
    std::ofstream file(o.measured, std::ios::binary);
    file << text;
    file.close();
    if (!file) { refuse(o.measured + ": cannot be written"); }
    return 0;
  }
  if (o.parts) {
    t.causal = false;
    for (const std::int64_t ranks : o.ranks) { print_parts(m, on, t, number_of(ranks)); }
    return 0;
  }
  std::vector<forecast> rows;
  std::string impossible;
  for (const placement& p : places) { rows.push_back(predict(m, on, t, p)); }
  if (places.empty()) {
    const search_space space{
        .zero_1 = o.zero_1, .again = chosen_recomputation(o), .micro_batch = number_of(o.micro_batch)};
    for (const std::int64_t ranks : o.ranks) {
      const std::vector<forecast> all = search(m, on, t, number_of(ranks), space);
      if (all.empty()) {
        impossible += (impossible.empty() ? "" : ", ") + std::to_string(ranks);
      } else {
        rows.push_back(all.front());
      }
    }
    if (rows.empty()) {
      refuse("no placement on " + impossible + " ranks divides heads, layers, sequences or positions");
    }
  }
  if (!o.json) { print_head(m, on, t); }
  for (const forecast& f : rows) {
    if (o.json) {
      std::printf("%s\n", to_json(f, on).dump().c_str());
    } else {
      print_row(f, on, t);
    }
  }
  if (!impossible.empty() && !o.json) {
    std::printf("no placement on %s ranks divides heads, layers, sequences or positions\n", impossible.c_str());
  }
  return 0;
}

void add_options(CLI::App& app, predict_options& o) {
  const auto count = whole_numbers(1, "a whole number of 1 or more");
  const auto ranks = numbers_in<std::int64_t>(1, 65536, "a whole number from 1 to 65536");
  app.add_option("model", o.model_name, "a folder with config.json, or the name of a model");
  for (const char* name : {"layers", "d-model", "heads", "kv-heads", "d-k", "hidden", "vocab"}) {
    app.add_option_function<std::int64_t>(std::string("--") + name, [&o, name](std::int64_t n) { o.sizes[name] = n; },
                                          "instead of the model's")
        ->check(numbers_in<std::int64_t>(1, std::int64_t{1} << 40, "a whole number from 1 to 2^40"));
  }
  app.add_flag("--gated", o.gated, "the feed-forward layers have a gate");
  app.add_flag("--untied", o.untied, "the output has a matrix of its own");
  app.add_option("--task", o.task_name, "what a step is")
      ->check(CLI::IsMember({"train", "prefill", "decode"}))
      ->capture_default_str();
  app.add_option("--batch", o.batch, "sequences of all ranks")->check(count)->capture_default_str();
  app.add_option("--context", o.context, "positions of a sequence; when decoding, of the cache")
      ->check(count)
      ->capture_default_str();
  app.add_option("--elements", o.elements, "f32, or bf16 with an optimiser in 32 bits")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
  app.add_option("--ranks", o.ranks, "numbers of ranks; the best placement of each is shown")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(ranks)
      ->capture_default_str();
  auto* const place = app.add_option("--place", o.places, "a placement, such as dp=2,tp=4,sp=1,pp=2,micro=1,chunks=2")
                          ->allow_extra_args(false);
  app.add_option("--micro-batch", o.micro_batch, "sequences that a pipeline computes at once")->check(count);
  app.add_flag("--zero-1", o.zero_1, "the optimiser's state is divided along dp and sp");
  app.add_option("--recompute", o.again, "what the backward pass computes again")
      ->check(CLI::IsMember({"none", "selective", "full"}))
      ->capture_default_str();
  auto* const machine_option =
      app.add_option("--machine", o.machine_name,
                     "this, which is measured; a100, a100-2021, node200, or a file of --measure")
          ->capture_default_str();
  app.add_option("--link", o.far, "each link between machines: 10g, 100g, infiniband, nvlink or MICROSECONDS:GB/s");
  app.add_option("--near", o.near, "inside a machine, in the same way");
  app.add_option("--ranks-per-machine", o.ranks_per_machine, "ranks that --near connects")->check(ranks);
  app.add_option("--memory", o.memory, "GB of a rank")->check(numbers_in(1e-6, 1e9, "a number of GB above 0"));
  app.add_flag("--overlap", o.overlaps_data, "gradients are reduced while the backward pass goes on");
  app.add_option("--measure", o.measured, "write the rates of this machine to a file; - is standard output")
      ->excludes(place);
  app.add_option("--seconds", o.seconds, "how long each rate is measured")
      ->check(numbers_in(0.001, 60.0, "a number from 0.001 to 60"))
      ->excludes(machine_option)
      ->capture_default_str();
  app.add_flag("--parts", o.parts, "seconds of parts of one layer, for benchmarks/ranks/check_prediction.py")
      ->excludes(place);
  app.add_flag("--json", o.json, "JSON lines");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The time of a step and the memory of a rank, for a model on up to 65,536 ranks.", "dimwise-predict");
  predict_options o;
  add_options(app, o);
  return guarded(app, argc, argv, [&] { return predict_all(o); });
}
