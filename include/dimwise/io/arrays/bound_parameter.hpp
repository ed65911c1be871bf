// SPDX-License-Identifier: BSL-1.0
// dimwise/io/arrays/bound_parameter.hpp -- a parameter of any type, bound to an array of a file: how it is read and
// written.
//
// Layer: io. Reading makes a new tensor, which `commit` moves into the parameter when all arrays have been read.
// Tests: tests/io/checkpoint.test.cpp
#pragma once

#include <dimwise/io/arrays/elements.hpp>
#include <dimwise/nn/weight.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimwise::io::detail {

// A parameter of any type with its array and arrangement.
class bound_parameter {
 public:
  bound_parameter() = default;
  bound_parameter(const bound_parameter&) = delete;
  bound_parameter& operator=(const bound_parameter&) = delete;
  virtual ~bound_parameter() = default;

  [[nodiscard]] virtual std::string unreadable(const stored_array&, rounding) const = 0;
  virtual void read(const stored_array&) = 0;  // into a new tensor
  virtual void commit() noexcept = 0;          // moves the new tensor into the parameter
  virtual void write(std::byte* array) const = 0;
  [[nodiscard]] virtual element_type type() const = 0;
  [[nodiscard]] virtual bool has_extents() const = 0;  // whether the parameter has the bound extents

  std::vector<std::string> names{};  // names of the array; the first one in the file counts
  const void* parameter = nullptr;
  bool prefixed = true;  // whether the optional prefix applies to these names
  arrangement how{};
  double added = 0;
  bool widened = false;  // whether `how` was made part of a larger array by `stack`
};

template <class Parameter, class Extents>
bool same_extents(const Extents& a, const Extents& b) {
  using axes = axes_for<shape_of<Parameter>>;
  axis mine[axes::size + 1];
  axis given[axes::size + 1];
  axis_extents<axes>::write(a, mine);
  axis_extents<axes>::write(b, given);
  return std::equal(mine, mine + axes::size, given, [](const axis& x, const axis& y) { return x.extent == y.extent; });
}

template <class Tensor>
class bound_tensor final : public bound_parameter {
  using T = typename Tensor::value_type;
  using extents_type = typename Tensor::extents_type;

 public:
  bound_tensor(Tensor& to, const extents_type& extents) : to_(to), extents_(extents) { parameter = &to; }

  [[nodiscard]] std::string unreadable(const stored_array& from, rounding r) const override {
    return detail::unreadable<T>(from, r);
  }
  void read(const stored_array& from) override {
    fresh_ = Tensor::for_overwriting(extents_);
    read_elements(from, how, fresh_.overwrite(), added);
  }
  void commit() noexcept override { to_ = static_cast<Tensor&&>(fresh_); }
  void write(std::byte* array) const override { write_elements(std::as_const(to_).data(), how, array, added); }
  [[nodiscard]] element_type type() const override { return element_type_of<T>; }
  [[nodiscard]] bool has_extents() const override { return same_extents<Tensor>(to_.extents(), extents_); }

 private:
  Tensor& to_;
  Tensor fresh_{};
  extents_type extents_;
};

// A quantized weight: reads floating-point arrays as floats and quantizes them; writes dequantized floats.
template <class Weight>
class bound_blocks final : public bound_parameter {
  using extents_type = typename Weight::extents_type;

 public:
  bound_blocks(Weight& to, const extents_type& extents) : to_(to), extents_(extents) { parameter = &to; }

  [[nodiscard]] std::string unreadable(const stored_array& from, rounding) const override {
    return detail::unreadable<float>(from, rounding::allowed);
  }
  void read(const stored_array& from) override {
    std::vector<float> values(how.size());
    read_elements(from, how, values.data(), added);
    fresh_.assign(values.data(), extents_);
  }
  void commit() noexcept override { to_ = static_cast<Weight&&>(fresh_); }
  void write(std::byte* array) const override {
    const tensor values = std::as_const(to_).dequantised();
    write_elements(values.data(), how, array, added);
  }
  [[nodiscard]] element_type type() const override { return element_type::f32; }
  [[nodiscard]] bool has_extents() const override { return same_extents<Weight>(to_.extents(), extents_); }

 private:
  Weight& to_;
  Weight fresh_;
  extents_type extents_;
};
template <class Parameter>
using bound_as =
    std::conditional_t<nn::detail::is_block_weight<Parameter>, bound_blocks<Parameter>, bound_tensor<Parameter>>;

}  // namespace dimwise::io::detail
