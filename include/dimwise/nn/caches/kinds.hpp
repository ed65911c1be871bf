// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/caches/kinds.hpp -- how long KV caches in one buffer keep positions, and the windows that fit them.
//
// Layer: nn.
// Tests: tests/nn/cache/cache.test.cpp, tests/compile_fail/cache/
#pragma once

#include <dimwise/nn/cache_sides.hpp>

#include <type_traits>

namespace dimwise::nn {

/// A cache that keeps all positions, up to `Positions`; more positions throw `extent_error`.
template <extent_t Positions = at_run_time>
struct capacity {};
/// A cache that keeps the last `Window` positions, the query's own included. Keys stay contiguous: they fill a buffer
/// of twice the window and move to its front once per window.
template <extent_t Window>
struct sliding {};
/// A cache whose window `keep_window` sets at run time: it keeps what the queries of that window see, and without a
/// window all positions. The extent of Key in its constructor is the buffer. Next to a window, it has room for
/// `at_once()` new positions.
struct windowed {};

}  // namespace dimwise::nn

namespace dimwise::detail {

template <class Kind>
struct cache_kind;
template <extent_t N>
struct cache_kind<nn::capacity<N>> {
  static constexpr bool slides = false;
  static constexpr bool at_run_time_window = false;
  static constexpr extent_t buffer = N;
};
template <extent_t W>
struct cache_kind<nn::sliding<W>> {
  static_assert(W > 0 && W <= at_run_time / 4,
                "dimwise: the window of a cache has at least one position, and twice as many can be counted");
  static constexpr bool slides = true;
  static constexpr bool at_run_time_window = false;
  static constexpr extent_t window = W;
  static constexpr extent_t buffer = 2 * W;
};
template <>
struct cache_kind<nn::windowed> {
  static constexpr bool slides = false;
  static constexpr bool at_run_time_window = true;
  static constexpr extent_t buffer = at_run_time;
};

// Rejects members that only caches of another kind have (R10); a cache's own members hide them. `Windowed` and
// `Adopts`: what the kind of a cache in one buffer decides.
template <class Key, bool Windowed = false, bool Adopts = false>
class members_of_other_kinds {
  template <class Member>
  using error = ERROR_R10_cache_of_another_kind_has_this_member<Member, over<about_t<Key>>>;

 public:
  template <class... Given, class Error = error<op::keep_window>>
    requires(!Windowed)
  Error keep_window(const Given&... given) const;
  template <class... Given, class Error = error<op::kept_window>>
    requires(!Windowed)
  Error kept_window(const Given&... given) const;
  template <class... Given, class Error = error<op::at_once>>
    requires(!Windowed)
  Error at_once(const Given&... given) const;
  template <class... Given, class Error = error<op::adopt>>
    requires(!Adopts)
  Error adopt(const Given&... given) const;
  template <class... Given, class Error = error<op::limit>>
  Error limit(const Given&... given) const;
  template <class... Given, class Error = error<op::restart>>
  Error restart(const Given&... given) const;
  template <class... Given, class Error = error<op::keys_of>>
  Error keys_of(const Given&... given) const;
  template <class... Given, class Error = error<op::values_of>>
  Error values_of(const Given&... given) const;
  template <class... Given, class Error = error<op::page_count>>
  Error page_count(const Given&... given) const;
  template <class... Given, class Error = error<op::shared_pages>>
  Error shared_pages(const Given&... given) const;
};

// The maximum number of positions of Key that a window shows, including the query's own; 0 for other masks.
template <class Key, class M>
extent_t most_shown(const M&) {
  return 0;
}
template <class Key, class Q>
extent_t most_shown(const window<Q, Key>& w) {
  return w.left() < 0 ? 0 : static_cast<extent_t>(w.left()) + 1;
}
template <class Key, class A, class B>
extent_t most_shown(const mask_pair<all_of, A, B>& both) {
  const extent_t a = most_shown<Key>(both.left());
  const extent_t b = most_shown<Key>(both.right());
  return a == 0 || b == 0 ? a + b : (a < b ? a : b);
}
template <class Key, class A, class B>
extent_t most_shown(const mask_pair<any_of, A, B>& either) {
  const extent_t a = most_shown<Key>(either.left());
  const extent_t b = most_shown<Key>(either.right());
  return a == 0 || b == 0 ? 0 : (a < b ? b : a);
}

// Throws if a mask in the scores shows more positions than the cache keeps.
template <class Key, class E>
void check_windows(const E&, extent_t) {}
template <class Key, class Op, class Shape, class T, class... X>
void check_windows(const node<Op, Shape, T, X...>& scores, extent_t kept) {
  scores.each_child([kept](const auto& x) {
    if constexpr (mask_like<std::remove_cvref_t<decltype(x)>>) {
      const extent_t shown = most_shown<Key>(x);
      if (shown > kept) {
        raise<extent_error>(error{} << "attend: the window shows " << shown << " positions of " << dimension_name<Key>()
                                    << ", and the cache keeps " << kept << "; sliding<W> keeps what a window of "
                                    << "W - 1 positions to the left shows (R10)");
      }
    } else {
      check_windows<Key>(x, kept);
    }
  });
}

// A function that returns the scores of keys; not a tensor or a mask.
template <class F>
concept scores_function =
    !operand<F> && !refused_operand<F> && !mask_like<F> && (std::is_class_v<F> || std::is_function_v<F>);

// In place of the scores that a function does not return: its `return` is missing, or clang 14 continues without a
// value because the function captures a variable of a rejected type.
template <class F, class From>
auto no_scores(const From&) {  // deduced: clang instantiates it at once, and says where
  static_assert(holds<was_raised<refused_type, F>, ERROR_R1_operation_takes_other_arguments<op::attend, over<>>>,
                "R1: the function that attend takes returns scores");
  return already_refused{};
}

}  // namespace dimwise::detail
