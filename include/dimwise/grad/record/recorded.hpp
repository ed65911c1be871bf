// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/recorded.hpp -- the record of a stored value, and of a call of `value_and_gradient`.
//
// Layer: grad. It knows no shapes: the gradient and the formula of a value are in derived classes and behind pointers.
// Tests: tests/grad/tracked.test.cpp
#pragma once

#include <dimwise/grad/record/partial_sums.hpp>
#include <dimwise/support/library.hpp>
#include <dimwise/tensor/memory/counted.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace dimwise::detail {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // never copied: an origin_pointer holds it
// The record of one stored value: the gradient that arrives, in derived classes, and what it was computed from
// (`kept`), which is deleted after its gradient was sent. `kept` is known to one function per formula only: a class per
// formula would be ten functions and the long names of its type.
class recorded : public gradient_sums {
 public:
  // Sends the gradient of `value` on from `kept`, if `value` is not null, and deletes `kept`.
  using action = void (*)(void* kept, recorded* value);

  DIMWISE_DETAIL_LIBRARY explicit recorded(std::uint64_t record, const axes_of_mesh* own = nullptr);
  recorded(const recorded&) = delete;
  recorded& operator=(const recorded&) = delete;
  DIMWISE_DETAIL_LIBRARY virtual ~recorded();
  /// Takes what the value was computed from.
  void keep(void* kept, action act) noexcept {
    kept_ = kept;
    act_ = act;
  }
  /// Sends the gradient that has arrived to what the value was computed from, and forgets both.
  DIMWISE_DETAIL_LIBRARY virtual void send();
  [[nodiscard]] std::uint64_t record() const { return record_; }
  /// The number of its owners: tensors, formulas that a record holds, lists.
  [[nodiscard]] long owners() const { return owners_.count(); }

 private:
  friend class origin_pointer;
  owner_count owners_{};
  std::uint64_t record_;
  void* kept_ = nullptr;
  action act_ = nullptr;
};
#pragma GCC diagnostic pop

template <class C>
struct record;  // eval/records/record.hpp
// A gradient in one of the two types in which records are computed; the other is null.
struct gradient_in_record {
  const record<float>* in_float;
  const record<double>* in_double;
};
// A recorded value to which the adjoints of the library send.
class recorded_gradient : public recorded {
 public:
  using recorded::recorded;
  /// Adds `g`; `extents` are those of the value, in the order of its memory.
  virtual void add_record(const gradient_in_record& g, const axis* extents) = 0;
};

// An owner of a recorded value. Linked programs do not inline its functions: each formula copies and destroys dozens of
// them, and a std::shared_ptr is a page of code each time.
class origin_pointer {
 public:
  origin_pointer() = default;
  /// Takes a new value.
  explicit origin_pointer(recorded* made) noexcept : value_(made) {}
  origin_pointer(const origin_pointer& other) noexcept : value_(other.value_) {
    if (value_ != nullptr) { add(value_); }
  }
  origin_pointer(origin_pointer&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  origin_pointer& operator=(origin_pointer other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~origin_pointer() {
    if (value_ != nullptr) { drop(value_); }
  }
  [[nodiscard]] recorded* get() const { return value_; }
  [[nodiscard]] recorded& operator*() const { return *value_; }
  [[nodiscard]] recorded* operator->() const { return value_; }

 private:
  DIMWISE_DETAIL_LIBRARY static void add(recorded* value) noexcept;
  DIMWISE_DETAIL_LIBRARY static void drop(recorded* value) noexcept;
  recorded* value_ = nullptr;
};
template <class Recorded, class... Kept>
origin_pointer new_recorded(const Kept&... kept) {
  return origin_pointer(new Recorded(kept...));
}

// The values stored by one call of `value_and_gradient`, in order. It is the thread's current one while the loss is
// computed.
class gradient_record {
 public:
  DIMWISE_DETAIL_LIBRARY gradient_record();
  gradient_record(const gradient_record&) = delete;
  gradient_record& operator=(const gradient_record&) = delete;
  DIMWISE_DETAIL_LIBRARY ~gradient_record();
  [[nodiscard]] static gradient_record* current() { return current_record; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  DIMWISE_DETAIL_LIBRARY void add(const origin_pointer& value);
  /// Nothing is recorded any more.
  DIMWISE_DETAIL_LIBRARY void close();
  /// From the last value to the first: all that arrives at a value comes from later ones.
  DIMWISE_DETAIL_LIBRARY void send_all();
  /// The same; calls `after()` each time that a value has sent.
  template <class After>
  void send_all(const After& after) {
    while (send_last()) { after(); }
  }

 private:
  // False where no value is left.
  DIMWISE_DETAIL_LIBRARY bool send_last();

  inline static thread_local gradient_record* current_record = nullptr;
  gradient_ranks::scope ranks_{};
  gradient_record* outer_;
  std::uint64_t number_;
  bool open_ = true;
  std::vector<origin_pointer> values_{};
};

// Whether something that was recorded by `own` is part of a record; throws where it is part of another one.
DIMWISE_DETAIL_LIBRARY bool belongs_to(std::uint64_t own, std::uint64_t record);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/grad/record/recorded_definitions.hpp>
#endif
