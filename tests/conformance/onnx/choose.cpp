// tests/conformance/onnx/choose.cpp -- Where, comparisons, Clip, Pow, Max, Min: of operands that ONNX stretches.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/case.hpp"

#include <cmath>
#include <stdexcept>

namespace conformance {
namespace {

// Up to five axes, named from the right; the suite stretches extents of 1.
struct a : dimwise::batch_dim<> {};
struct b : dimwise::batch_dim<> {};
struct c : dimwise::batch_dim<> {};
struct d : dimwise::batch_dim<> {};
struct e : dimwise::batch_dim<> {};

class operands {
 public:
  operands(const run& r, int count) : run_(r) {
    for (int slot = 0; slot < count; ++slot) {
      if (r.rank(slot) > 5) { throw std::runtime_error("more than five axes"); }
      for (std::size_t i = 0; i < r.rank(slot); ++i) {
        const std::size_t own = r.extent(slot, r.rank(slot) - 1 - i);
        if (own != 1) { extent_[i] = own; }
      }
    }
  }
  template <class T>
  [[nodiscard]] dimwise::tensor<T, a, b, c, d, e> get(int slot) const {
    return run_.stretched<T>(slot, a{extent_[4]}, b{extent_[3]}, c{extent_[2]}, d{extent_[1]}, e{extent_[0]});
  }

 private:
  const run& run_;
  std::size_t extent_[5] = {1, 1, 1, 1, 1};
};

template <class T>
inline constexpr std::type_identity<T> type{};

// f(type) with the type in which elements like those of an operand are computed.
template <class F>
void by_type(const run& r, int slot, const F& f) {
  const std::string& name = r.dtype(slot);
  if (name == "float64") {
    f(type<double>);
  } else if (name == "float32" || name == "float16") {
    f(type<float>);
  } else {
    f(type<std::int64_t>);
  }
}

const family where_cases{"Where", [](run& r) {
  const operands x(r, 3);
  const auto chosen = [&]<class T>(std::type_identity<T>) {
    r.expect(0, dimwise::where(x.get<bool>(0), x.get<T>(1), x.get<T>(2)));
  };
  if (r.dtype(1) == "bool") {
    chosen(type<bool>);
  } else {
    by_type(r, 1, chosen);
  }
}};

template <class F>
void compare(run& r, const F& f) {
  const operands x(r, 2);
  by_type(r, 0, [&]<class T>(std::type_identity<T>) { r.expect(0, f(x.get<T>(0), x.get<T>(1))); });
}
const family less_cases{"Less", [](run& r) { compare(r, [](const auto& x, const auto& y) { return x < y; }); }};
const family less_equal_cases{"LessOrEqual",
                              [](run& r) { compare(r, [](const auto& x, const auto& y) { return x <= y; }); }};
const family greater_cases{"Greater", [](run& r) { compare(r, [](const auto& x, const auto& y) { return x > y; }); }};
const family greater_equal_cases{"GreaterOrEqual",
                                 [](run& r) { compare(r, [](const auto& x, const auto& y) { return x >= y; }); }};
const family equal_cases{"Equal", [](run& r) {
  if (r.dtype(0) == "bool") {
    const operands x(r, 2);
    return r.expect(0, x.get<bool>(0) == x.get<bool>(1));
  }
  compare(r, [](const auto& x, const auto& y) { return x == y; });
}};

// Bounds are inputs, or were attributes once; each may be absent.
const family clip_cases{"Clip", [](run& r) {
  by_type(r, 0, [&]<class T>(std::type_identity<T>) {
    const auto x = operands(r, 1).get<T>(0);
    const auto bound = [&](int slot, const char* attribute, T otherwise) {
      if (r.has(slot)) { return T(r.get<T>(slot)); }
      return static_cast<T>(r.number(attribute, static_cast<double>(otherwise)));
    };
    constexpr bool real = std::numeric_limits<T>::has_infinity;
    const T low = bound(1, "min", real ? -std::numeric_limits<T>::infinity() : T(-(std::int64_t{1} << 52)));
    const T high = bound(2, "max", real ? std::numeric_limits<T>::infinity() : T(std::int64_t{1} << 52));
    r.expect(0, dimwise::clamp(x, low, high));
  });
}};

// The result has the type of the base; whole powers of whole numbers are a user-defined function.
const family pow_cases{"Pow", [](run& r) {
  const operands x(r, 2);
  const bool whole = r.dtype(1).find("int") != std::string::npos;
  by_type(r, 0, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      r.expect(0, dimwise::pow(x.get<T>(0), x.get<T>(1)));
    } else {
      const auto power = [](auto base, auto by) {
        return static_cast<std::int64_t>(std::pow(static_cast<double>(base), static_cast<double>(by)));
      };
      if (whole) {
        r.expect(0, dimwise::map(power, x.get<T>(0), x.get<std::int64_t>(1)));
      } else {
        r.expect(0, dimwise::map(power, x.get<T>(0), x.get<double>(1)));
      }
    }
  });
}};

template <class F>
void fold(run& r, const F& f) {
  int count = 0;
  while (r.has(count)) { ++count; }
  const operands x(r, count);
  by_type(r, 0, [&]<class T>(std::type_identity<T>) {
    dimwise::tensor<T, a, b, c, d, e> best = x.get<T>(0);
    for (int slot = 1; slot < count; ++slot) { best = f(best, x.get<T>(slot)); }
    r.expect(0, best);
  });
}
const family max_cases{"Max", [](run& r) { fold(r, [](const auto& x, const auto& y) { return dimwise::max(x, y); }); }};
const family min_cases{"Min", [](run& r) { fold(r, [](const auto& x, const auto& y) { return dimwise::min(x, y); }); }};

}  // namespace
}  // namespace conformance
