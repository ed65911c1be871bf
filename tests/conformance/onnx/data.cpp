// tests/conformance/onnx/data.cpp -- elements in other places: Transpose, Gather, Trilu, TensorScatter.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/case.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>

namespace conformance {
namespace {

using namespace dimwise;

// Calls f with the element type that holds the elements of the first operand.
template <class F>
void with_element(run& r, F f) {
  const std::string& dtype = r.dtype(0);
  if (dtype == "float64") {
    f(std::type_identity<double>{});
  } else if (dtype == "float32" || dtype == "float16") {
    f(std::type_identity<float>{});
  } else if (dtype == "bool") {
    f(std::type_identity<bool>{});
  } else {
    f(std::type_identity<std::int64_t>{});
  }
}

// Any order of axes, by swaps of two: an array seen as what stands before, between and behind them.
struct before : batch_dim<> {};
struct first : batch_dim<> {};
struct between : batch_dim<> {};
struct second : batch_dim<> {};
struct behind : batch_dim<> {};

void transpose(run& r) {
  std::vector<std::size_t> shape = r.at(0).shape;
  std::vector<std::size_t> axes(shape.size());  // which axis of the operand stands here
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  std::vector<std::int64_t> wanted(axes.rbegin(), axes.rend());
  if (r.has_attribute("perm")) { wanted = r.integers("perm"); }
  struct all : batch_dim<> {};
  with_element(r, [&]<class T>(std::type_identity<T>) {
    tensor<T, all> x = r.grouped<T>(0, all{r.at(0).size()});
    for (std::size_t to = 0; to < axes.size(); ++to) {
      const auto from = static_cast<std::size_t>(
          std::find(axes.begin(), axes.end(), static_cast<std::size_t>(wanted[to])) - axes.begin());
      if (from == to) { continue; }
      const auto count = [&](std::size_t begin, std::size_t end) {
        return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                               shape.begin() + static_cast<std::ptrdiff_t>(end), std::size_t{1}, std::multiplies<>());
      };
      const tensor<T, before, first, between, second, behind> seen(x.values(), before{count(0, to)}, first{shape[to]},
                                                                   between{count(to + 1, from)}, second{shape[from]},
                                                                   behind{count(from + 1, shape.size())});
      const tensor swapped = permute<before, second, between, first, behind>(seen);
      x.assign(swapped.values());
      std::swap(shape[to], shape[from]);
      std::swap(axes[to], axes[from]);
    }
    r.expect(0, x);
  });
}
const family transpose_cases{"Transpose", transpose};

struct entries : choice_dim<> {};
struct chosen : batch_dim<> {};

void gather_axis(run& r) {
  std::ptrdiff_t axis = r.integer("axis", 0);
  if (axis < 0) { axis += static_cast<std::ptrdiff_t>(r.rank(0)); }
  const auto at = static_cast<std::size_t>(axis);
  const std::size_t n = r.extent(0, at);
  const auto from_end = [n](std::int64_t index) {
    return id<entries>(static_cast<std::size_t>(index < 0 ? index + static_cast<std::int64_t>(n) : index));
  };
  const tensor ids = map(from_end, r.grouped<std::int64_t>(1, chosen{r.at(1).size()}));
  with_element(r, [&]<class T>(std::type_identity<T>) {
    const auto table =
        r.grouped<T>(0, before{r.extents(0, 0, at)}, entries{n}, behind{r.extents(0, at + 1, r.rank(0))});
    r.expect(0, permute<before, chosen, behind>(gather<entries>(table, ids)));
  });
}
const family gather_cases{"Gather", gather_axis};

struct row : position_dim<> {};
struct column : position_dim<> {};

// Row i keeps the columns up to i + k, or from i + k on.
void trilu(run& r) {
  const std::size_t rank = r.rank(0);
  const row rows{r.extent(0, rank - 2)};
  const column columns{r.extent(0, rank - 1)};
  const std::ptrdiff_t k = r.has(1) ? std::as_const(r).get<std::int64_t>(1)() : 0;
  const auto up_to = [&](std::ptrdiff_t offset) { return causal<row, column>(starting_at(rows, offset), columns); };
  with_element(r, [&]<class T>(std::type_identity<T>) {
    const auto x = r.grouped<T>(0, before{r.extents(0, 0, rank - 2)}, rows, columns);
    const auto keep = [&](const auto& mask) {
      r.expect(0, map([](T value, bool visible) { return visible ? value : T(0); }, x,
                      indicator<bool>(mask, rows, columns)));
    };
    if (r.flag("upper", true)) {
      keep(!up_to(k - 1));
    } else {
      keep(up_to(k));
    }
  });
}
const family trilu_cases{"Trilu", trilu};

// The present cache: a place that was written takes the update, the others what they had.
struct batch : batch_dim<> {};
struct present : position_dim<> {};
struct cached : choice_dim<> {};  // the places of the past cache, behind them those of the update

void tensor_scatter(run& r) {
  std::ptrdiff_t axis = r.integer("axis", -2);
  if (axis < 0) { axis += static_cast<std::ptrdiff_t>(r.rank(0)); }
  const auto at = static_cast<std::size_t>(axis);
  const bool circular = r.text("mode", "linear") == "circular";
  const std::size_t past = r.extent(0, at);
  const std::size_t written = r.extent(1, at);
  const batch sequences{r.extent(0, 0)};
  const between middle{r.extents(0, 1, at)};
  const behind rest{r.extents(0, at + 1, r.rank(0))};
  std::vector<std::int64_t> counted(past);
  std::iota(counted.begin(), counted.end(), std::int64_t{0});
  const tensor<std::int64_t, present> places(counted, present{past});
  const tensor<std::int64_t, batch> starts =
      r.has(2) ? r.get<std::int64_t, batch>(2) : tensor<std::int64_t, batch>(sequences);
  const auto source = [=](std::int64_t place, std::int64_t start) {
    const auto n = static_cast<std::int64_t>(past);
    const std::int64_t distance = circular ? ((place - start) % n + n) % n : place - start;
    return id<cached>(static_cast<std::size_t>(
        distance >= 0 && distance < static_cast<std::int64_t>(written) ? n + distance : place));
  };
  const tensor ids = map(source, broadcast<batch>(places, sequences), starts);
  with_element(r, [&]<class T>(std::type_identity<T>) {
    const auto cache = concat<cached>(r.grouped<T>(0, sequences, middle, cached{past}, rest),
                                      r.grouped<T>(1, sequences, middle, cached{written}, rest));
    r.expect(0, permute<batch, between, present, behind>(gather<cached>(cache, ids)));
  });
}
const family tensor_scatter_cases{"TensorScatter", tensor_scatter};

}  // namespace
}  // namespace conformance
