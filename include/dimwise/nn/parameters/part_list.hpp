// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters/part_list.hpp -- the parameters of a model as a list of pointers, with their names.
//
// Layer: nn. A model type is walked by one function per module type, `list_parts`. What is done with the parameters is
// a loop over the list, which is compiled once and not once per layer: optimisers and norms (grad), files (io).
// Tests: tests/grad/training/optimiser.test.cpp, tests/io/checkpoint.test.cpp
#pragma once

#include <dimwise/nn/parameters.hpp>
#include <dimwise/support/library.hpp>

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace dimwise::nn::detail {

// Valid while the model has the same layers.
class part_list {
 public:
  /// The number of parameters.
  [[nodiscard]] std::size_t count() const { return parts_.size(); }
  /// The name of a parameter: members and numbers of layers, joined by dots.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY std::string name(std::size_t i) const;
  /// A list that is a member of the model, such as the layers.
  struct member_list {
    const char* member;
    std::size_t length;
  };
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY std::vector<member_list> member_lists() const;
  /// The name, if the numbers of these lists begin with `first`.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY std::string name(std::size_t i, const std::vector<std::size_t>& first) const;
  /// The member of the model that it is or is in; null if this has a number.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY const char* member(std::size_t i) const;
  /// The parameter and what was said about it.
  [[nodiscard]] void* at(std::size_t i) const { return parts_[i].at; }
  [[nodiscard]] const void* facts(std::size_t i) const { return parts_[i].facts; }
  [[nodiscard]] bool flag(std::size_t i) const { return parts_[i].flag; }
  /// Throws `extent_error` unless sequences of layers are as long as those of `other`.
  DIMWISE_DETAIL_LIBRARY void check_same_lengths(const part_list& other) const;

  // For `list_parts`: the path from the model to a part.
  DIMWISE_DETAIL_LIBRARY void enter(const char* member);
  DIMWISE_DETAIL_LIBRARY void enter(std::size_t number);
  void leave() { here_ = path_[here_].outer; }
  DIMWISE_DETAIL_LIBRARY void add_sequence(std::size_t length);
  DIMWISE_DETAIL_LIBRARY void add(const void* parameter, const void* facts, bool flag);

 private:
  static constexpr std::size_t outermost = static_cast<std::size_t>(-1);
  struct place {
    std::size_t outer;
    const char* member;  // null: a number
    std::size_t number;
  };
  struct part {
    void* at;
    const void* facts;
    bool flag;
    std::size_t path;
  };
  struct sequence {
    std::size_t length;
    std::size_t path;
  };
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY std::string path(std::size_t to,
                                                        const std::vector<std::size_t>* first = nullptr) const;
  [[nodiscard]] bool is_member(std::size_t of) const { return of != outermost && path_[of].outer == outermost; }

  std::vector<part> parts_{};
  std::vector<sequence> sequences_{};
  std::vector<place> path_{};
  std::size_t here_ = outermost;
};

// `Walked::is<P>` says whether P is a parameter, `Walked::facts<P>()` points to an object about P, and
// `Walked::flag<Owner, P>` is a flag of the parameters P of the module Owner.
template <class Walked, class Owner, class M>
void list_parts(part_list& to, const M& m);
template <class Walked, class Owner, class M, std::size_t... I>
[[gnu::always_inline]] inline void list_each_part(part_list& to, const M& m, std::index_sequence<I...>) {
  if constexpr (is_tuple<M>) {
    ((to.enter(I), list_parts<Walked, Owner>(to, std::get<I>(m)), to.leave()), ...);
  } else {
    ((to.enter(members_of<M>::template name<I>), list_parts<Walked, M>(to, part_at<I>(m)), to.leave()), ...);
  }
}
template <class Walked, class Owner, class M>
void list_parts(part_list& to, const M& m) {
  if constexpr (is_sequence<M>) {
    to.add_sequence(m.size());
    for (std::size_t i = 0; i < m.size(); ++i) {
      to.enter(i);
      list_parts<Walked, Owner>(to, m[i]);
      to.leave();
    }
  } else if constexpr (is_tuple<M> || module<M>) {
    list_each_part<Walked, Owner>(to, m, std::make_index_sequence<part_count<M>()>());
  } else if constexpr (Walked::template is<M>) {
    to.add(&m, Walked::template facts<M>(), Walked::template flag<Owner, M>);
  } else {
    static_assert(is_any_parameter<M> || is_a_setting<M>::value);
  }
}

}  // namespace dimwise::nn::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/nn/parameters/part_list_definitions.hpp>
#endif
