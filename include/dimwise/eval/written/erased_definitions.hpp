// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/written/erased_definitions.hpp -- the end of formulas behind an `expr`, and the table of their values.
//
// Layer: eval. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/eval/written/
#pragma once

#include <dimwise/eval/written/erased.hpp>

#include <algorithm>
#include <atomic>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY std::uint64_t next_formula_number() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

DIMWISE_DETAIL_LIBRARY void destroy_formula(const counted_formula* e) {
  struct waiting_list {
    const counted_formula* first;
    bool is_emptied;
  };
  static thread_local waiting_list waiting{nullptr, false};
  e->next_ = waiting.first;
  waiting.first = e;
  if (waiting.is_emptied) { return; }  // by a caller further out
  waiting.is_emptied = true;
  while (waiting.first != nullptr) {
    const counted_formula* const next = waiting.first;
    waiting.first = next->next_;
    delete next;
  }
  waiting.is_emptied = false;
}

// The thread's values.
DIMWISE_DETAIL_LIBRARY erased_values*& current_erased_values() {
  static thread_local erased_values* current = nullptr;
  return current;
}

DIMWISE_DETAIL_LIBRARY erased_values::erased_values(bool keeps_all, bool is_current)
    : keeps_all_(keeps_all), is_current_(is_current) {
  if (!is_current_) { return; }
  outer_ = current_erased_values();
  current_erased_values() = this;
}
DIMWISE_DETAIL_LIBRARY erased_values::~erased_values() {
  if (is_current_) { current_erased_values() = outer_; }
}
DIMWISE_DETAIL_LIBRARY erased_values* erased_values::current() { return current_erased_values(); }

DIMWISE_DETAIL_LIBRARY std::vector<erased_values::entry>::const_iterator erased_values::place_of(std::uint64_t number,
                                                                                                 bool in_double) const {
  return std::lower_bound(entries_.begin(), entries_.end(), number, [&](const entry& a, std::uint64_t b) {
    return a.number != b ? a.number < b : a.in_double < in_double;
  });
}
DIMWISE_DETAIL_LIBRARY const kept_value* erased_values::find(std::uint64_t number, bool in_double) const {
  const auto at = place_of(number, in_double);
  return at != entries_.end() && at->number == number && at->in_double == in_double ? at->value.get() : nullptr;
}
DIMWISE_DETAIL_LIBRARY void erased_values::add(std::uint64_t number, bool in_double, kept_owner value) {
  entries_.insert(place_of(number, in_double), entry{number, in_double, static_cast<kept_owner&&>(value)});
}

DIMWISE_DETAIL_LIBRARY std::vector<const erased_base*> erased_values::missing_below(std::vector<erased_use> held,
                                                                                    bool in_double) const {
  constexpr unsigned deepest = 32;
  std::vector<const erased_base*> order;
  // The largest number first: all that hold a formula have larger ones, so all its uses are known when it comes.
  const auto before = [](const erased_use& a, const erased_use& b) {
    return a.formula->number() < b.formula->number();
  };
  std::make_heap(held.begin(), held.end(), before);
  const auto take = [&] {
    std::pop_heap(held.begin(), held.end(), before);
    const erased_use use = held.back();
    held.pop_back();
    return use;
  };
  std::vector<erased_use> below;
  while (!held.empty()) {
    erased_use use = take();
    unsigned uses = 1;
    for (; !held.empty() && held.front().formula == use.formula; ++uses) {
      use.depth = std::max(use.depth, take().depth);
    }
    if (find(use.formula->number(), in_double) != nullptr) { continue; }
    const bool is_kept = keeps_all_ || uses > 1 || use.depth >= deepest;
    if (is_kept) { order.push_back(use.formula); }
    below.clear();
    use.formula->list_held(below, is_kept ? 1 : use.depth + 1);
    for (const erased_use& next : below) {
      held.push_back(next);
      std::push_heap(held.begin(), held.end(), before);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace dimwise::detail
