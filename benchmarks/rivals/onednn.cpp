// SPDX-License-Identifier: BSL-1.0
// benchmarks/rivals/onednn.cpp -- the workloads with oneDNN 2: matmul, softmax, matmul, with stored scores.
//
// In bfloat16 all of them are stored in 16 bits, scores, too.
// A causal mask is added to the scores, as graphs do that are given a mask. Weights are packed as the library likes
// them, once; heads are made contiguous, because its fast path wants that. W5 and W4_1h_n6 are left out.
#include "workloads.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <cmath>
#include <cstdint>
#include <unordered_map>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace {

using dnnl::memory;
using dims = memory::dims;
constexpr auto f32 = memory::data_type::f32;
constexpr auto bf16 = memory::data_type::bf16;

// The primitives of one workload, in order.
class program {
 public:
  explicit program(memory::data_type type) : type_(type) {}

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};

  memory plain(const dims& extents) { return plain(extents, type_); }
  memory floats(const dims& extents) { return plain(extents, f32); }
  memory filled(const dims& extents, unsigned seed, float scale = 1) {
    memory m = floats(extents);
    bench::fill(static_cast<float*>(m.get_data_handle()), m.get_desc().get_size() / sizeof(float), scale, seed);
    if (type_ == f32) { return m; }
    memory stored = plain(extents);
    dnnl::reorder(m, stored).execute(stream, m, stored);
    stream.wait();
    return stored;
  }
  // The same elements with other strides, from element `first` on.
  memory look(const memory& m, const dims& extents, const dims& strides, std::size_t first = 0) {
    looked_at_.push_back(m);  // the look does not own it
    return memory({extents, type_, strides}, engine,
                  static_cast<char*>(m.get_data_handle()) + first * (type_ == f32 ? 4 : 2));
  }

  memory packed_weight(const memory& x, const dims& extents, const memory& y, unsigned seed) {
    const memory::desc any(extents, type_, memory::format_tag::any);
    const dnnl::matmul::primitive_desc wanted({x.get_desc(), any, y.get_desc()}, engine);
    memory source = filled(extents, seed, 0.05F);
    memory packed(wanted.weights_desc(), engine);
    dnnl::reorder(source, packed).execute(stream, source, packed);
    stream.wait();
    return packed;
  }

  void multiply(const memory& a, const memory& b, const memory& c, float scale = 1) {
    dnnl::primitive_attr attributes;
    if (scale != 1) { attributes.set_output_scales(0, {scale}); }
    const dnnl::matmul::primitive_desc d({a.get_desc(), b.get_desc(), c.get_desc()}, attributes, engine);
    steps_.push_back({dnnl::matmul(d), {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}}});
  }
  void add(const memory& to, const memory& what) {
    const dnnl::binary::primitive_desc d({dnnl::algorithm::binary_add, to.get_desc(), what.get_desc(), to.get_desc()},
                                         engine);
    steps_.push_back({dnnl::binary(d), {{DNNL_ARG_SRC_0, to}, {DNNL_ARG_SRC_1, what}, {DNNL_ARG_DST, to}}});
  }
  void softmax(const memory& s) {
    const dnnl::softmax_forward::primitive_desc d({dnnl::prop_kind::forward_inference, s.get_desc(), 2}, engine);
    steps_.push_back({dnnl::softmax_forward(d), {{DNNL_ARG_SRC, s}, {DNNL_ARG_DST, s}}});
  }
  void copy(const memory& from, const memory& to) {
    steps_.push_back({dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}});
  }

  void run() {
    for (auto& s : steps_) { s.what.execute(stream, s.on); }
    stream.wait();
  }

 private:
  memory plain(const dims& extents, memory::data_type type) {
    return memory({extents, type, extents.size() == 3 ? memory::format_tag::abc : memory::format_tag::ab}, engine);
  }

  struct step {
    dnnl::primitive what;
    std::unordered_map<int, memory> on;
  };
  std::vector<step> steps_;
  std::vector<memory> looked_at_;
  memory::data_type type_;
};

void attend(program& p, const bench::workload& w, const memory& q, const memory& k, const memory& v, const memory& y) {
  const dims rows = q.get_desc().dims();
  const auto keys = static_cast<std::int64_t>(w.keys);
  const auto d_k = static_cast<std::int64_t>(w.d_k);
  const memory transposed = p.look(k, {rows[0], d_k, keys}, {keys * d_k, 1, d_k});
  const memory s = p.plain({rows[0], rows[1], keys});
  p.multiply(q, transposed, s, 1.0F / std::sqrt(static_cast<float>(w.d_k)));
  if (w.causal) {
    const memory mask = p.floats({1, rows[1], keys});
    auto* const numbers = static_cast<float*>(mask.get_data_handle());
    for (std::int64_t i = 0; i < rows[1]; ++i) {
      for (std::int64_t j = 0; j < keys; ++j) { numbers[i * keys + j] = j > i ? -1e30F : 0.0F; }
    }
    p.add(s, mask);
  }
  p.softmax(s);
  p.multiply(s, v, y);
}

void run_in(const bench::workload& w, const char* name, memory::data_type type, bench::report& to) {
  program p(type);
  const auto i = [](std::size_t x) { return static_cast<std::int64_t>(x); };
  const std::int64_t n = i(w.queries);
  const std::int64_t d = i(w.d_k);
  const std::int64_t heads = i(w.heads);
  if (w.kind == 2 || w.kind == 3) {
    const std::int64_t rows = w.kind == 3 ? i(w.heads / w.key_heads) : n;
    attend(p, w, p.filled({i(w.key_heads), rows, d}, 1), p.filled({i(w.key_heads), i(w.keys), d}, 2),
           p.filled({i(w.key_heads), i(w.keys), d}, 3), p.plain({i(w.key_heads), rows, d}));
  } else {
    const std::int64_t width = i(w.d_model);
    const memory x = p.filled({n, width}, 1);
    const memory qkv = p.plain({n, 3 * heads * d});
    const memory z = p.plain({n, heads * d});
    const memory y = p.plain({n, width});
    p.multiply(x, p.packed_weight(x, {width, 3 * heads * d}, qkv, 2), qkv);
    memory parts[3] = {p.plain({heads, n, d}), p.plain({heads, n, d}), p.plain({heads, n, d})};
    for (int part = 0; part < 3; ++part) {
      p.copy(p.look(qkv, {heads, n, d}, {d, 3 * heads * d, 1}, static_cast<std::size_t>(part * heads * d)),
             parts[part]);
    }
    const memory by_head = p.plain({heads, n, d});
    attend(p, w, parts[0], parts[1], parts[2], by_head);
    p.copy(by_head, p.look(z, {heads, n, d}, {d, heads * d, 1}));
    p.multiply(z, p.packed_weight(z, {heads * d, width}, y, 3), y);
  }
  to.line(name, w, [&] { p.run(); });
}
void run(const bench::workload& w, const bench::options& o, bench::report& to) {
  if (w.kind == 5 || w.name == "W4_1h_n6" || (w.kind == 4 && o.threads > 1)) { return; }
#if defined(_OPENMP)
  omp_set_num_threads(static_cast<int>(o.threads));
#endif
  run_in(w, "onednn", f32, to);
  if (o.bfloat16 && (w.kind == 1 || w.kind == 2)) { run_in(w, "onednn_bfloat16", bf16, to); }
}

}  // namespace

int main(int count, char** arguments) { return bench::run_all(count, arguments, bench::compiled_architecture(), run); }
