// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/partial_sums_definitions.hpp -- how the terms of a gradient are kept apart and added.
//
// Layer: grad. Compiled once if a program links the library (support/library.hpp). All ranks send the same gradients in
// the same order, so they add the same terms in the same order.
// Tests: tests/ranks/training/gradients.test.cpp
#pragma once

#include <dimwise/grad/record/partial_sums.hpp>
#include <dimwise/tensor/memory/storage.hpp>

#include <vector>

namespace dimwise::detail {

struct gradient_ranks::state {
  struct axis {
    axis_key id;
    owner<const sum_over_ranks> sum;
  };
  std::vector<axis> axes{};
};

DIMWISE_DETAIL_LIBRARY gradient_ranks::state& gradient_ranks::now() {
  if (known == nullptr) { known = new state; }
  return *known;
}
DIMWISE_DETAIL_LIBRARY void gradient_ranks::forget() noexcept {
  delete known;
  known = nullptr;
}

DIMWISE_DETAIL_LIBRARY void gradient_ranks::abandon_known() {
  for (const state::axis& one : known->axes) {
    if (one.sum.get() != nullptr) { one.sum->abandon(); }
  }
}

DIMWISE_DETAIL_LIBRARY axis_set gradient_ranks::bit_of(const named_axis& axis) {
  std::vector<state::axis>& axes = now().axes;
  std::size_t i = 0;
  while (i < axes.size() && axes[i].id != &axis) { ++i; }
  if (i == axes.size()) {
    if (i == 8 * sizeof(axis_set)) {
      raise<gradient_error>(error{} << "a gradient goes through more than " << i << " mesh axes (R21)");
    }
    axes.push_back({&axis, {}});
  }
  return axis_set{1} << i;
}
DIMWISE_DETAIL_LIBRARY bool gradient_ranks::has_sum(const named_axis& axis) {
  if (known == nullptr) { return false; }
  for (const state::axis& one : known->axes) {
    if (one.id == &axis) { return one.sum.get() != nullptr; }
  }
  return false;
}
DIMWISE_DETAIL_LIBRARY void gradient_ranks::give(const named_axis& axis, owner<const sum_over_ranks> sum) {
  const axis_set bit = bit_of(axis);
  for (std::size_t i = 0; i < now().axes.size(); ++i) {
    if (bit == axis_set{1} << i) { now().axes[i].sum = static_cast<owner<const sum_over_ranks>&&>(sum); }
  }
}
// The axes of `from` without those of `without`; either may be null.
inline axis_set bits_of(const axes_of_mesh* from, const axes_of_mesh* without) {
  axis_set bits = 0;
  for (std::size_t i = 0; from != nullptr && i < from->count; ++i) { bits |= gradient_ranks::bit_of(*from->first[i]); }
  for (std::size_t i = 0; bits != 0 && without != nullptr && i < without->count; ++i) {
    bits &= ~gradient_ranks::bit_of(*without->first[i]);
  }
  return bits;
}
DIMWISE_DETAIL_LIBRARY bool gradient_ranks::is_left(const named_axis& axis) {
  return (bits_of(left, nullptr) & bit_of(axis)) != 0;
}
DIMWISE_DETAIL_LIBRARY axis_set gradient_ranks::met_by(const axes_of_mesh* own) {
  if (own == &of_one_statement) { return 0; }
  return bits_of(sent_from, own) & ~bits_of(left, nullptr);
}

template <class T>
void gradient_ranks::add_terms(axis_set set, T* terms, std::size_t count) {
  for (std::size_t i = 0; i < now().axes.size(); ++i) {
    if ((set & axis_set{1} << i) == 0) { continue; }
    const state::axis& axis = now().axes[i];
    if (axis.sum.get() == nullptr) {
      raise<gradient_error>(error{} << "a gradient is a term of a sum along the mesh axis " << axis.id->name
                                    << ", and no collective along it was called in the loss (R23)");
    }
    axis.sum->add(terms, count);
  }
}
DIMWISE_DETAIL_LIBRARY void gradient_ranks::add(axis_set axes, float* terms, std::size_t count) {
  add_terms(axes, terms, count);
}
DIMWISE_DETAIL_LIBRARY void gradient_ranks::add(axis_set axes, double* terms, std::size_t count) {
  add_terms(axes, terms, count);
}

struct gradient_sums::by_axes {
  struct one {
    axis_set axes;
    aligned_vector<unsigned char> elements;
  };
  std::vector<one> all{};   // in the order in which they began
  std::size_t at_hand = 0;  // the one whose elements the derived class has

  [[nodiscard]] std::size_t find(axis_set axes) const {
    std::size_t i = 0;
    while (i < all.size() && all[i].axes != axes) { ++i; }
    return i;
  }
};
DIMWISE_DETAIL_LIBRARY void gradient_sums::drop() noexcept {
  delete more_;
  more_ = nullptr;
}

DIMWISE_DETAIL_LIBRARY void gradient_sums::meet_ranks() {
  const axis_set axes = gradient_ranks::met_by(own_);
  if (more_ == nullptr) {
    if (axes == 0) { return; }
    more_ = new by_axes;
    more_->all.push_back({arrived_ ? 0 : axes, {}});
    if (!arrived_) { return; }
  }
  by_axes& sums = *more_;
  const std::size_t wanted = sums.find(axes);
  if (wanted == sums.at_hand) { return; }
  const gradient_elements here = elements();
  auto* const bytes = static_cast<unsigned char*>(here.first);
  aligned_vector<unsigned char>& waiting = sums.all[sums.at_hand].elements;
  waiting = aligned_vector<unsigned char>(here.count * here.bytes, "a gradient");
  copy_elements(bytes, waiting.size(), waiting.data());
  if (wanted == sums.all.size()) {
    sums.all.push_back({axes, {}});
    arrived_ = false;  // what is added is the first of its sum
  } else {
    copy_elements(sums.all[wanted].elements.data(), here.count * here.bytes, bytes);
    sums.all[wanted].elements = {};
  }
  sums.at_hand = wanted;
}

// Adds terms over ranks, and sums of the same axes, until what is left are a whole sum and terms along `except`.
template <class T>
void gradient_sums::complete_elements(by_axes& sums, axis_set except, T* at_hand, std::size_t count) {
  const auto elements_of = [&](std::size_t i) {
    return i == sums.at_hand ? at_hand : reinterpret_cast<T*>(sums.all[i].elements.data());
  };
  // Whole gradients come first, then the terms in the order in which they began.
  std::vector<std::size_t> order;
  for (const bool whole : {true, false}) {
    for (std::size_t i = 0; i < sums.all.size(); ++i) {
      if ((sums.all[i].axes == 0) == whole) { order.push_back(i); }
    }
  }
  for (const std::size_t i : order) {
    gradient_ranks::add(sums.all[i].axes & ~except, elements_of(i), count);
    sums.all[i].axes &= except;
  }
  std::vector<std::size_t> left;
  std::size_t target_at_hand = sums.at_hand;
  for (const std::size_t i : order) {
    std::size_t k = 0;
    while (k < left.size() && sums.all[left[k]].axes != sums.all[i].axes) { ++k; }
    if (k == left.size()) {
      left.push_back(i);
      continue;
    }
    T* const to = elements_of(left[k]);
    const T* const from = elements_of(i);
    for (std::size_t j = 0; j < count; ++j) { to[j] += from[j]; }
    if (i == sums.at_hand) { target_at_hand = left[k]; }
  }
  if (target_at_hand != sums.at_hand) { copy_elements(elements_of(target_at_hand), count, at_hand); }
  by_axes rest;
  for (const std::size_t i : left) {
    if (i == target_at_hand) { rest.at_hand = rest.all.size(); }
    rest.all.push_back({sums.all[i].axes, i == target_at_hand
                                              ? aligned_vector<unsigned char>()
                                              : static_cast<aligned_vector<unsigned char>&&>(sums.all[i].elements)});
  }
  sums.all.swap(rest.all);
  sums.at_hand = rest.at_hand;
}

DIMWISE_DETAIL_LIBRARY void gradient_sums::complete_sums(axis_set except) {
  const gradient_elements here = elements();
  switch (here.of) {
    case gradient_elements::type::float32:
      complete_elements(*more_, except, static_cast<float*>(here.first), here.count);
      break;
    case gradient_elements::type::float64:
      complete_elements(*more_, except, static_cast<double*>(here.first), here.count);
      break;
    case gradient_elements::type::other:
      raise<gradient_error>(error{} << "a gradient that ranks add has elements of float or double (R21)");
  }
  if (more_->all.size() == 1 && more_->all.front().axes == 0) { drop(); }
}

DIMWISE_DETAIL_LIBRARY bool gradient_sums::holds_terms() const {
  return more_ != nullptr && more_->all[more_->at_hand].axes != 0;
}
DIMWISE_DETAIL_LIBRARY const void* gradient_sums::other_sum() const {
  if (more_ == nullptr || more_->all.size() == 1) { return nullptr; }
  return more_->all[1 - more_->at_hand].elements.data();
}

}  // namespace dimwise::detail
