// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/recorded_definitions.hpp -- how recorded values send their gradients, from the last to the first.
//
// Layer: grad. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/grad/tracked.test.cpp
#pragma once

#include <dimwise/grad/record/recorded.hpp>

#include <atomic>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY recorded::recorded(std::uint64_t record, const axes_of_mesh* own)
    : gradient_sums(own), record_(record) {}
DIMWISE_DETAIL_LIBRARY recorded::~recorded() {
  if (kept_ != nullptr) { act_(kept_, nullptr); }
}
DIMWISE_DETAIL_LIBRARY void recorded::send() {
  if (kept_ == nullptr) { return; }
  void* const kept = kept_;
  kept_ = nullptr;
  act_(kept, arrived() ? this : nullptr);
}

DIMWISE_DETAIL_LIBRARY void origin_pointer::add(recorded* value) noexcept { value->owners_.add(); }
DIMWISE_DETAIL_LIBRARY void origin_pointer::drop(recorded* value) noexcept {
  if (value->owners_.drop()) { delete value; }
}

inline std::uint64_t next_record() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}
DIMWISE_DETAIL_LIBRARY gradient_record::gradient_record() : outer_(current_record), number_(next_record()) {
  current_record = this;
}
DIMWISE_DETAIL_LIBRARY gradient_record::~gradient_record() {
  close();
  // The last first: a value's origin is older than the value, and chains of owners are not unwound by recursion.
  while (!values_.empty()) { values_.pop_back(); }
}
DIMWISE_DETAIL_LIBRARY void gradient_record::add(const origin_pointer& value) { values_.push_back(value); }
DIMWISE_DETAIL_LIBRARY void gradient_record::close() {
  if (open_) { current_record = outer_; }
  open_ = false;
}
DIMWISE_DETAIL_LIBRARY bool gradient_record::send_last() {
  if (values_.empty()) { return false; }
  values_.back()->send();
  values_.pop_back();
  return true;
}
DIMWISE_DETAIL_LIBRARY void gradient_record::send_all() {
  while (send_last()) {}
}

DIMWISE_DETAIL_LIBRARY bool belongs_to(std::uint64_t own, std::uint64_t record) {
  if (own == record) { return true; }
  raise<gradient_error>(
      error{} << "a tracked tensor"
              << (record == 0 ? " was recorded by a call of value_and_gradient that has ended or runs in another thread"
                              : " was recorded by another call of value_and_gradient than the one that runs; a "
                                "gradient of a gradient is not recorded")
              << " (R21)");
}

}  // namespace dimwise::detail
