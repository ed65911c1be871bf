// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/paged_cache.hpp -- a paged KV cache: it grows without moving elements, and copies share pages.
//
// Layer: nn. A copy of the cache is a fork that shares all pages. The first append to a shared, partly filled page
// copies only that page (Kwon et al. 2023, PagedAttention). Attention runs per page and merges the results by
// log-sum-exp.
// Tests: tests/nn/cache/paged.test.cpp
//
//   nn::kv_cache<key, nn::paged<64>, nn::keys<float, kv_heads, key, d_k>, nn::values<float, kv_heads, key, d_v>> cache;
//   auto draft = cache;                                              // a fork: nothing is copied
#pragma once

#include <dimwise/eval/attention/partial.hpp>
#include <dimwise/nn/cache.hpp>
#include <dimwise/tensor/memory/counted.hpp>

#include <utility>
#include <vector>

namespace dimwise::nn {

/// A cache in pages of `Page` positions that keeps all positions, up to `Positions` if given.
template <extent_t Page, extent_t Positions = at_run_time>
struct paged {};

template <class Key, extent_t Page, extent_t Positions, class KeyElement, class... KeyDims, class ValueElement,
          class... ValueDims>
  requires allowed<typename detail::cache_sides<Key, keys<KeyElement, KeyDims...>,
                                                values<ValueElement, ValueDims...>>::verdict>
class kv_cache<Key, paged<Page, Positions>, keys<KeyElement, KeyDims...>, values<ValueElement, ValueDims...>>
    : public detail::cache_base<
          kv_cache<Key, paged<Page, Positions>, keys<KeyElement, KeyDims...>, values<ValueElement, ValueDims...>>, Key,
          detail::cache_sides<Key, keys<KeyElement, KeyDims...>, values<ValueElement, ValueDims...>>>,
      public detail::members_of_other_kinds<Key> {
  static_assert(Page > 0 && Page <= at_run_time / 4,
                "dimwise: a page has at least one position, and so many can be counted");
  using page = detail::cache_sides<Key, nn::keys<KeyElement, KeyDims...>, nn::values<ValueElement, ValueDims...>>;
  using base = detail::cache_base<kv_cache, Key, page>;
  friend base;
  using settings = typename page::settings;

 public:
  /// Constructs an empty cache with these run-time extents; the scales of quantized sides come first, keys before
  /// values.
  template <class... Given>
    requires(page::template gives<false, Given...>)
  explicit kv_cache(const Given&... given)
      : settings_(settings(given...).with(Key{Page})), blank_(settings_.with(Key{0})) {}
  template <class... Given, class Error = typename page::template given_error<false, Given...>>
    requires((detail::cache_setting<Given> && ...) && !page::template gives<false, Given...>)
  explicit kv_cache(const Given&... given) DIMWISE_DETAIL_REFUSED(Error);

  /// A copy is a fork; a moved-from cache is empty.
  kv_cache(const kv_cache& other)
      : settings_(other.settings_), blank_(other.blank_, 0, 0), pages_(other.pages_), held_(other.held_) {}
  kv_cache(kv_cache&& other) noexcept
      : settings_(other.settings_),
        blank_(static_cast<page&&>(other.blank_)),
        pages_(std::exchange(other.pages_, {})),
        held_(std::exchange(other.held_, 0)) {}
  /// Takes the other cache's pages, or a fork of them; if allocation throws, the cache does not change.
  kv_cache& operator=(kv_cache other) noexcept {
    settings_ = other.settings_;
    blank_ = static_cast<page&&>(other.blank_);
    pages_.swap(other.pages_);
    held_ = other.held_;
    return *this;
  }
  ~kv_cache() = default;

  /// The keys or values of one page, read in place; empty for a page number past the end.
  [[nodiscard]] auto keys_of(std::size_t number) const { return page_at(number).keys.read(0, positions_of(number)); }
  [[nodiscard]] auto values_of(std::size_t number) const {
    return page_at(number).values.read(0, positions_of(number));
  }
  /// All keys or values in one copy, for operations that do not run per page, such as masks by lengths.
  [[nodiscard]] typename page::key_side::floats keys() const {
    return together<typename page::key_side::floats>([&](std::size_t i) { return keys_of(i); });
  }
  [[nodiscard]] typename page::value_side::floats values() const {
    return together<typename page::value_side::floats>([&](std::size_t i) { return values_of(i); });
  }

  /// The number of positions and of pages.
  [[nodiscard]] extent_t length() const { return held_; }
  [[nodiscard]] std::size_t page_count() const { return pages_.size(); }
  /// The number of pages that are shared with another cache.
  [[nodiscard]] std::size_t shared_pages() const {
    std::size_t n = 0;
    for (const auto& p : pages_) { n += p.is_only() ? 0 : 1; }
    return n;
  }
  /// The position of the next key.
  [[nodiscard]] std::ptrdiff_t end() const { return static_cast<std::ptrdiff_t>(held_); }
  /// Removes the last `given` positions; throws `extent_error` if the cache holds fewer.
  void forget(detail::given_count given) {
    const extent_t count = given.checked("forget");
    detail::check_forgotten<Key>(count, held_);
    held_ -= count;
    pages_.erase(pages_.begin() + static_cast<std::ptrdiff_t>((held_ + Page - 1) / Page), pages_.end());
  }

 private:
  [[nodiscard]] const page& any_sides() const { return blank_; }
  template <class Q>
  [[nodiscard]] static auto own_mask() {
    return causal<Q, Key>{};
  }
  void check_room(extent_t n) const {
    if (Positions != at_run_time && n > Positions - held_) { base::no_room(n, held_, Positions); }
  }
  // Everything that may throw precedes the first write.
  void take_in(extent_t n, const typename page::key_floats& k, const typename page::value_floats& v) {
    if (n == 0) { return; }
    const std::size_t first = held_ / Page;
    // The pages to write: a copy of the last page if it is shared, and new pages.
    std::vector<detail::counted<page>> tail;
    tail.reserve((held_ + n + Page - 1) / Page - first);
    if (held_ % Page != 0) {
      const auto& last = pages_[first];
      tail.push_back(last.is_only() ? last : detail::counted<page>::make(*last, extent_t{0}, held_ % Page));
    }
    while ((first + tail.size()) * Page < held_ + n) { tail.push_back(detail::counted<page>::make(settings_)); }
    if (first + tail.size() > pages_.capacity()) {
      const std::size_t twice = 2 * pages_.capacity();
      pages_.reserve(twice > first + tail.size() ? twice : first + tail.size());
    }
    for (extent_t done = 0; done < n;) {
      const extent_t at = (held_ + done) % Page;
      const extent_t count = n - done < Page - at ? n - done : Page - at;
      tail[(held_ + done) / Page - first]->write(at, k.within(done, Key{count}), v.within(done, Key{count}));
      done += count;
    }
    pages_.erase(pages_.begin() + static_cast<std::ptrdiff_t>(first), pages_.end());
    for (auto& p : tail) { pages_.push_back(static_cast<detail::counted<page>&&>(p)); }
    held_ += n;
  }
  [[nodiscard]] const page& page_at(std::size_t number) const {
    return number < pages_.size() ? *pages_[number] : blank_;
  }
  [[nodiscard]] Key positions_of(std::size_t number) const {
    const extent_t first = number < pages_.size() ? number * Page : held_;
    const extent_t left = held_ - first;
    return starting_at(Key{left < Page ? left : Page}, static_cast<std::ptrdiff_t>(first));
  }
  template <class Floats, class PageOf>
  [[nodiscard]] Floats together(const PageOf& page_of) const {
    auto e = detail::merge_extents<typename Floats::extents_type::atoms>("kv_cache", settings_.extents);
    e.set(starting_at(Key{held_}, 0));
    Floats all = Floats::for_overwriting(e);
    detail::view_of<typename Floats::value_type, typename Floats::shape_type> to(all);
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      auto part = to.within(i * Page, positions_of(i));
      part = page_of(i);
    }
    all.seal();
    return all;
  }

  settings settings_;  // of a page
  page blank_;         // without positions
  std::vector<detail::counted<page>> pages_{};
  extent_t held_ = 0;
};

/// Attention over a paged cache: runs on each page in its stored type, and merges the results by log-sum-exp.
/// `scores_of` is called with the keys of each page; masks by position see the positions of that page.
template <class NoneNamed = void, class Key, extent_t Page, extent_t Positions, class Keys, class Values,
          detail::scores_function ScoresOf>
  requires std::is_void_v<NoneNamed>
[[nodiscard]] auto attend(const kv_cache<Key, paged<Page, Positions>, Keys, Values>& cache, const ScoresOf& scores_of) {
  if constexpr (std::is_void_v<decltype(scores_of(cache.keys_of(0)))>) {
    return detail::no_scores<ScoresOf>(cache);
  } else {
    auto whole = detail::functions::partial_attention<Key>(scores_of(cache.keys_of(0)), cache.values_of(0));
    if constexpr (detail::is_refusal<decltype(whole)>) {
      return detail::rejected_scores(whole);
    } else {
      for (std::size_t i = 1; i < cache.page_count(); ++i) {
        whole = merge(whole, partial_attention<Key>(scores_of(cache.keys_of(i)), cache.values_of(i)));
      }
      return whole.output;
    }
  }
}

}  // namespace dimwise::nn
