// tests/conformance/onnx/reduce.cpp -- reductions over any set of axes: runs of axes that stay and of axes that go.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/case.hpp"

#include <stdexcept>

namespace conformance {
namespace {

using namespace dimwise;

// Axes that stay and that go, in turns; a run that an array does not have holds one element.
struct kept0 : batch_dim<> {};
struct gone0 : choice_dim<> {};
struct kept1 : batch_dim<> {};
struct gone1 : choice_dim<> {};
struct kept2 : batch_dim<> {};
struct gone2 : choice_dim<> {};

std::vector<bool> reduced_axes(const run& r) {
  const std::size_t rank = r.rank(0);
  std::vector<bool> gone(rank, false);
  std::vector<std::int64_t> axes;
  if (r.has(1)) {
    axes.resize(r.at(1).size());
    copy_elements(r.at(1), axes.data());
  } else if (r.has_attribute("axes")) {
    axes = r.integers("axes");
  }
  if (axes.empty() && !r.flag("noop_with_empty_axes", false)) { gone.assign(rank, true); }
  for (const std::int64_t axis : axes) {
    gone.at(static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis)) = true;
  }
  return gone;
}

template <class T, class F>
void reduce_as(run& r, F f) {
  const auto gone = reduced_axes(r);
  std::vector<std::size_t> runs{1};  // kept, gone, kept, …
  for (std::size_t axis = 0; axis < gone.size(); ++axis) {
    if (gone[axis] != (runs.size() % 2 == 0)) { runs.push_back(1); }
    runs.back() *= r.extent(0, axis);
  }
  if (runs.size() > 6) { throw std::runtime_error("more than three runs of reduced axes"); }
  runs.resize(6, 1);
  r.expect(0, f(r.grouped<T>(0, kept0{runs[0]}, gone0{runs[1]}, kept1{runs[2]}, gone1{runs[3]}, kept2{runs[4]},
                             gone2{runs[5]})));
}

template <class F>
void reduce(run& r, F f) {
  if (r.dtype(0) == "float64") {
    reduce_as<double>(r, f);
  } else if (r.dtype(0) == "float32" || r.dtype(0) == "float16") {
    reduce_as<float>(r, f);
  } else {
    reduce_as<std::int64_t>(r, f);
  }
}
// Of truth values: false is 0.
template <class F>
void reduce_or_bool(run& r, F f) {
  if (r.dtype(0) == "bool") {
    reduce_as<bool>(r, [&](const auto& x) { return f(map([](bool b) { return std::int64_t{b}; }, x)); });
  } else {
    reduce(r, f);
  }
}

#define OVER gone0, gone1, gone2
const family max_cases{"ReduceMax", [](run& r) { reduce_or_bool(r, [](const auto& x) { return max<OVER>(x); }); }};
const family min_cases{"ReduceMin", [](run& r) { reduce_or_bool(r, [](const auto& x) { return min<OVER>(x); }); }};
const family sum_cases{"ReduceSum", [](run& r) { reduce(r, [](const auto& x) { return sum<OVER>(x); }); }};
const family sum_square_cases{"ReduceSumSquare",
                              [](run& r) { reduce(r, [](const auto& x) { return sum<OVER>(square(x)); }); }};
const family l1_cases{"ReduceL1", [](run& r) { reduce(r, [](const auto& x) { return sum<OVER>(abs(x)); }); }};

template <class F>
void reduce_real(run& r, F f) {
  if (r.dtype(0) == "float64") {
    reduce_as<double>(r, f);
  } else {
    reduce_as<float>(r, f);
  }
}
const family mean_cases{"ReduceMean", [](run& r) { reduce_real(r, [](const auto& x) { return mean<OVER>(x); }); }};
const family l2_cases{"ReduceL2",
                      [](run& r) { reduce_real(r, [](const auto& x) { return sqrt(sum<OVER>(square(x))); }); }};
const family log_sum_cases{"ReduceLogSum",
                           [](run& r) { reduce_real(r, [](const auto& x) { return log(sum<OVER>(x)); }); }};
const family log_sum_exp_cases{"ReduceLogSumExp",
                               [](run& r) { reduce_real(r, [](const auto& x) { return logsumexp<OVER>(x); }); }};
#undef OVER

}  // namespace
}  // namespace conformance
