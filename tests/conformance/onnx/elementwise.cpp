// tests/conformance/onnx/elementwise.cpp -- functions of single elements, of any rank: all axes are one dimension.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/case.hpp"

#include <stdexcept>

namespace conformance {
namespace {

struct all : dimwise::batch_dim<> {};

// The first operand, in the element type that the case computes in.
template <class F>
void unary(run& r, F f) {
  const all n{r.extents(0, 0, r.rank(0))};
  if (r.dtype(0) == "float64") {
    r.expect(0, f(r.grouped<double>(0, n)));
  } else {
    r.expect(0, f(r.grouped<float>(0, n)));
  }
}

template <bool Whole = true, class F>
void binary(run& r, F f) {
  // Up to five axes, named from the right; the suite stretches extents of 1.
  struct a : dimwise::batch_dim<> {};
  struct b : dimwise::batch_dim<> {};
  struct c : dimwise::batch_dim<> {};
  struct d : dimwise::batch_dim<> {};
  struct e : dimwise::batch_dim<> {};
  const std::size_t rank = std::max(r.rank(0), r.rank(1));
  const auto extent = [&](std::size_t from_right) {
    std::size_t n = 1;
    for (const int operand : {0, 1}) {
      if (from_right < r.rank(operand)) {
        const std::size_t own = r.extent(operand, r.rank(operand) - 1 - from_right);
        n = own == 1 ? n : own;
      }
    }
    return n;
  };
  if (rank > 5) { throw std::runtime_error("more than five axes"); }
  const auto apply = [&]<class T>(std::type_identity<T>) {
    const auto operand = [&](int slot) {
      return r.stretched<T>(slot, a{extent(4)}, b{extent(3)}, c{extent(2)}, d{extent(1)}, e{extent(0)});
    };
    r.expect(0, f(operand(0), operand(1)));
  };
  if (r.dtype(0) == "float64") {
    apply(std::type_identity<double>{});
  } else if (r.dtype(0) == "float32" || r.dtype(0) == "float16") {
    apply(std::type_identity<float>{});
  } else if constexpr (Whole) {
    apply(std::type_identity<std::int64_t>{});
  }
}

const family relu_cases{"Relu", [](run& r) { unary(r, [](const auto& x) { return dimwise::relu(x); }); }};
const family sigmoid_cases{"Sigmoid", [](run& r) { unary(r, [](const auto& x) { return dimwise::sigmoid(x); }); }};
const family tanh_cases{"Tanh", [](run& r) { unary(r, [](const auto& x) { return tanh(x); }); }};
const family erf_cases{"Erf", [](run& r) { unary(r, [](const auto& x) { return erf(x); }); }};
const family exp_cases{"Exp", [](run& r) { unary(r, [](const auto& x) { return exp(x); }); }};
const family log_cases{"Log", [](run& r) { unary(r, [](const auto& x) { return log(x); }); }};
const family sqrt_cases{"Sqrt", [](run& r) { unary(r, [](const auto& x) { return sqrt(x); }); }};
const family abs_cases{"Abs", [](run& r) { unary(r, [](const auto& x) { return abs(x); }); }};
const family neg_cases{"Neg", [](run& r) { unary(r, [](const auto& x) { return -x; }); }};
const family sin_cases{"Sin", [](run& r) { unary(r, [](const auto& x) { return sin(x); }); }};
const family cos_cases{"Cos", [](run& r) { unary(r, [](const auto& x) { return cos(x); }); }};

const family gelu_cases{"Gelu", [](run& r) {
  const bool by_tanh = r.text("approximate", "none") == "tanh";
  if (by_tanh) {
    unary(r, [](const auto& x) { return dimwise::gelu_tanh(x); });
  } else {
    unary(r, [](const auto& x) { return dimwise::gelu(x); });
  }
}};
// x σ(αx); α is 1 unless given, and silu then.
const family swish_cases{"Swish", [](run& r) {
  const double alpha = r.number("alpha", 1.0);
  if (alpha == 1) {
    unary(r, [](const auto& x) { return dimwise::silu(x); });
  } else {
    unary(r, [&](const auto& x) { return x * dimwise::sigmoid(x * alpha); });
  }
}};
const family swiglu_cases{"SwiGLU", [](run& r) {
  const double alpha = r.number("alpha", 1.0);
  binary<false>(r, [&](const auto& x, const auto& gate) { return x * dimwise::sigmoid(x * alpha) * gate; });
}};

const family add_cases{"Add", [](run& r) { binary(r, [](const auto& x, const auto& y) { return x + y; }); }};
const family sub_cases{"Sub", [](run& r) { binary(r, [](const auto& x, const auto& y) { return x - y; }); }};
const family mul_cases{"Mul", [](run& r) { binary(r, [](const auto& x, const auto& y) { return x * y; }); }};
// Whole numbers are divided by a user-defined function: `/` takes real ones (R13).
const family div_cases{"Div", [](run& r) {
  binary(r, [](const auto& x, const auto& y) {
    if constexpr (requires { x / y; }) {
      return x / y;
    } else {
      return dimwise::map([](auto a, auto b) { return static_cast<decltype(a)>(a / b); }, x, y);
    }
  });
}};

}  // namespace
}  // namespace conformance
