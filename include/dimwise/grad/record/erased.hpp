// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/erased.hpp -- the gradients that arrive at formulas behind an `expr`, in the backward pass of
// a statement.
//
// Layer: grad. A formula sends its gradient when all of it has arrived: those with larger numbers send first. Its value
// is computed once for all adjoints that read it.
// Tests: tests/grad/written.test.cpp
#pragma once

#include <dimwise/eval/written/erased.hpp>
#include <dimwise/grad/record/partial_sums.hpp>
#include <dimwise/tensor/memory/owner.hpp>

#include <optional>
#include <vector>

namespace dimwise::detail {

// The gradients that have arrived at one formula.
class arrived_gradient {
 public:
  explicit arrived_gradient(std::uint64_t number) : number_(number) {}
  arrived_gradient(const arrived_gradient&) = delete;
  arrived_gradient& operator=(const arrived_gradient&) = delete;
  virtual ~arrived_gradient() = default;
  virtual void send() = 0;
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  std::uint64_t number_;
};

// The gradients of one backward pass: the thread's current ones while it lives.
class erased_gradients {
 public:
  erased_gradients() : outer_(current_gradients) { current_gradients = this; }
  erased_gradients(const erased_gradients&) = delete;
  erased_gradients& operator=(const erased_gradients&) = delete;
  ~erased_gradients() { current_gradients = outer_; }
  [[nodiscard]] static erased_gradients* current() { return current_gradients; }

  // The gradients of the formula with this number, or null.
  [[nodiscard]] arrived_gradient* find(std::uint64_t number) const {
    const auto at = place_of(number);
    return at != arrived_.end() && (*at)->number() == number ? at->get() : nullptr;
  }
  void add(owner<arrived_gradient> first) {
    arrived_.insert(place_of(first->number()), static_cast<owner<arrived_gradient>&&>(first));
  }
  // Until nothing is left to send.
  void send() {
    while (!arrived_.empty()) {
      const owner<arrived_gradient> last = static_cast<owner<arrived_gradient>&&>(arrived_.back());
      arrived_.pop_back();
      last->send();
    }
  }

 private:
  using list = std::vector<owner<arrived_gradient>>;
  [[nodiscard]] list::const_iterator place_of(std::uint64_t number) const {
    auto at = arrived_.end();
    while (at != arrived_.begin() && (*(at - 1))->number() >= number) { --at; }
    return at;
  }

  inline static thread_local erased_gradients* current_gradients = nullptr;
  erased_gradients* outer_;
  erased_values values_{true, true};
  list arrived_{};  // sorted
};

// send(), as one statement: of a value with these mesh axes (null if it is whole), so that what is whole and meets its
// shards has one term of its gradient on each rank. What arrives behind an `expr` is sent at the end.
template <class Send>
void send_as_statement(const axes_of_mesh* mesh, bool holds_erased, const Send& send) {
  std::optional<gradient_ranks::root> on_ranks;
  if (mesh != nullptr) { on_ranks.emplace(mesh); }
  if (!holds_erased) { return send(); }
  erased_gradients all;
  send();
  all.send();
}

}  // namespace dimwise::detail
