// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/paged_cache.hpp -- a cache in pages: it grows without moving, and its copies share what they have in common.
//
// Layer: nn. A copy of the cache is a fork: it shares all pages, and the first of the two that writes to a page that is
// not full copies this page alone (Kwon et al. 2023, PagedAttention).
// Attention goes page by page and is merged by log-sum-exp.
// Tests: tests/nn/cache_paged.test.cpp
//
//   nn::kv_cache<key, nn::paged<64>, nn::keys<float, kv_heads, key, d_k>, nn::values<float, kv_heads, key, d_v>> cache;
//   auto draft = cache;                                              // a fork: nothing is copied
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include <dimwise/eval/partial_attention.hpp>
#include <dimwise/nn/cache.hpp>

namespace dimwise::nn {

/// Keeps everything in pages of so many positions, up to `Positions` where it is said.
template <extent_t Page, extent_t Positions = at_run_time>
struct paged {};

template <class Key, extent_t Page, extent_t Positions, class KeyElement, class... KeyDims, class ValueElement, class... ValueDims>
class kv_cache<Key, paged<Page, Positions>, keys<KeyElement, KeyDims...>, values<ValueElement, ValueDims...>> {
  using keys_shape = detail::make_shape_t<detail::dims_t<shape<KeyDims...>>, detail::marks_t<shape<KeyDims...>>>;
  using values_shape = detail::make_shape_t<detail::dims_t<shape<ValueDims...>>, detail::marks_t<shape<ValueDims...>>>;
  using verdict = rule::cache<Key, keys_shape, values_shape, detail::cache_element<KeyElement>::packed, detail::cache_element<ValueElement>::packed>;
  static_assert(detail::holds<allowed<verdict>, verdict>, "R9, R10, R19: a cache holds keys and values that grow together, values not rotated");
  static_assert(Page > 0);

  using key_side = detail::cache_side<Key, KeyElement, keys_shape>;
  using value_side = detail::cache_side<Key, ValueElement, values_shape>;
  using all_extents = typename detail::cache_extents<Key, keys_shape, values_shape, false>::type;
  using extents_type = detail::extents_of<detail::union_t<typename key_side::extents_type::atoms, typename value_side::extents_type::atoms>>;

 public:
  using key_dimension = Key;
  using key_scale = typename key_side::scale_type;
  using value_scale = typename value_side::scale_type;

 private:
  struct page {
    key_side keys;
    value_side values;
    page(const extents_type& e, const key_scale& of_keys, const value_scale& of_values)
        : keys(detail::carry<typename key_side::extents_type::atoms>("kv_cache", e), of_keys),
          values(detail::carry<typename value_side::extents_type::atoms>("kv_cache", e), of_values) {}
    page(const page& other, std::size_t count) : keys(other.keys, 0, count), values(other.values, 0, count) {}
  };

 public:
  /// An empty cache with these run-time extents.
  template <class... Extents>
    requires(!key_side::scaled && !value_side::scaled && detail::gives_extents<all_extents, Extents...>)
  explicit kv_cache(const Extents&... given) : kv_cache(key_scale{}, value_scale{}, given...) {}
  template <class... Extents, class Error = ERROR_R15_run_time_extents_are_given_once<all_extents, over<Extents...>>>
    requires((dimension_type<Extents> && ...) && !detail::gives_extents<all_extents, Extents...>)
  explicit kv_cache(const Extents&... given) = delete;
  /// The same with the scales of keys and values that are stored as whole numbers.
  template <class... Extents>
    requires(detail::gives_extents<all_extents, Extents...>)
  kv_cache(const key_scale& of_keys, const value_scale& of_values, const Extents&... given) : kv_cache(gathered(given...), of_keys, of_values) {}

  /// A copy is a fork; what was moved from is empty.
  kv_cache(const kv_cache& other) : extents_(other.extents_), blank_(other.blank_, 0), pages_(other.pages_), held_(other.held_) {}
  kv_cache(kv_cache&& other) noexcept
      : extents_(other.extents_), blank_(static_cast<page&&>(other.blank_)), pages_(std::exchange(other.pages_, {})), held_(std::exchange(other.held_, 0)) {}
  /// Takes the other's pages, or a fork of them; where that has no memory, the cache stays as it was.
  kv_cache& operator=(kv_cache other) noexcept {
    extents_ = other.extents_;
    blank_ = static_cast<page&&>(other.blank_);
    pages_.swap(other.pages_);
    held_ = other.held_;
    return *this;
  }
  ~kv_cache() = default;

  /// As `append` of a cache in one buffer; throws and refuses the same.
  template <operand K, operand V, class Verdict = rule::append<Key, keys_shape, values_shape, detail::shape_of<K>, detail::shape_of<V>>>
    requires allowed<Verdict>
  void append(const K& k, const V& v) {
    const extent_t n = detail::check_appended<Key, key_side, value_side>(blank_.keys, blank_.values, k.extents(), v.extents(), end());
    if constexpr (Positions != at_run_time) {
      if (n > Positions - held_) {
        detail::raise<extent_error>(error{} << "append: " << n << " positions of " << detail::dimension_name<Key>() << " do not fit, the cache holds " << held_
                                            << " and takes " << Positions << " (R10)");
      }
    }
    const typename key_side::floats new_keys = k;
    const typename value_side::floats new_values = v;
    // Everything that may throw comes before the first write.
    auto pages = pages_;
    pages.reserve((held_ + n + Page - 1) / Page);
    if (n > 0 && held_ % Page != 0) {
      auto& last = pages[held_ / Page];
      if (pages_[held_ / Page].use_count() > 2) { last = std::make_shared<page>(*last, held_ % Page); }  // this copy's own, and the one above
      std::atomic_thread_fence(std::memory_order_acquire);
    }
    while (pages.size() * Page < held_ + n) { pages.push_back(new_page()); }
    const typename key_side::floats_view all_keys(new_keys);
    const typename value_side::floats_view all_values(new_values);
    for (extent_t done = 0; done < n;) {
      const extent_t at = (held_ + done) % Page;
      const extent_t count = n - done < Page - at ? n - done : Page - at;
      const page& here = *pages[(held_ + done) / Page];
      here.keys.write(at, all_keys.within(done, Key{count}));
      here.values.write(at, all_values.within(done, Key{count}));
      done += count;
    }
    pages_.swap(pages);
    held_ += n;
  }
  template <operand K, operand V, class Verdict = rule::append<Key, keys_shape, values_shape, detail::shape_of<K>, detail::shape_of<V>>>
    requires refused<Verdict>
  Verdict append(const K& k, const V& v);
  template <operand X, class Error = ERROR_R10_keys_and_values_grow_together<op::append, over<detail::about_t<Key>>, detail::operand_t<detail::shape_of<X>>>>
  Error append(const X& x);

  /// The keys, the values of one page, read where they lie; of no positions behind the last page.
  [[nodiscard]] auto keys_of(std::size_t number) const { return page_at(number).keys.read(0, positions_of(number)); }
  [[nodiscard]] auto values_of(std::size_t number) const { return page_at(number).values.read(0, positions_of(number)); }
  /// All keys, all values, copied together: for what does not go page by page, as a mask by lengths.
  [[nodiscard]] typename key_side::floats keys() const {
    return together<typename key_side::floats>([&](std::size_t i) { return keys_of(i); });
  }
  [[nodiscard]] typename value_side::floats values() const {
    return together<typename value_side::floats>([&](std::size_t i) { return values_of(i); });
  }

  [[nodiscard]] extent_t length() const { return held_; }
  [[nodiscard]] std::size_t page_count() const { return pages_.size(); }
  /// How many pages another cache holds, too.
  [[nodiscard]] std::size_t shared_pages() const {
    std::size_t n = 0;
    for (const auto& p : pages_) { n += p.use_count() > 1 ? 1 : 0; }
    return n;
  }
  [[nodiscard]] std::ptrdiff_t end() const { return static_cast<std::ptrdiff_t>(held_); }
  template <class D>
  [[nodiscard]] D next(const D& count) const {
    return starting_at(count, end());
  }
  /// Forgets the last `count` positions; throws `extent_error` where there are fewer.
  void forget(extent_t count) {
    if (count > held_) {
      detail::raise<extent_error>(error{} << "forget: the cache holds " << held_ << " positions of " << detail::dimension_name<Key>() << ", not " << count
                                          << " (R10)");
    }
    held_ -= count;
    pages_.resize((held_ + Page - 1) / Page);
  }

 private:
  kv_cache(const extents_type& e, const key_scale& of_keys, const value_scale& of_values) : extents_(e), blank_(e, of_keys, of_values) {}
  template <class... Extents>
  static extents_type gathered(const Extents&... given) {
    extents_type e;
    (e.set(given), ...);
    e.set(Key{0});
    return e;
  }
  [[nodiscard]] std::shared_ptr<page> new_page() const {
    extents_type e = extents_;
    e.set(Key{Page});
    return std::make_shared<page>(e, blank_.keys.scale(), blank_.values.scale());
  }
  [[nodiscard]] const page& page_at(std::size_t number) const { return number < pages_.size() ? *pages_[number] : blank_; }
  [[nodiscard]] Key positions_of(std::size_t number) const {
    const extent_t first = number * Page;
    const extent_t left = held_ < first ? 0 : held_ - first;
    return starting_at(Key{left < Page ? left : Page}, static_cast<std::ptrdiff_t>(first));
  }
  template <class Floats, class PageOf>
  [[nodiscard]] Floats together(const PageOf& page_of) const {
    auto e = detail::carry<typename Floats::extents_type::atoms>("kv_cache", extents_);
    e.set(starting_at(Key{held_}, 0));
    Floats all = Floats::for_overwriting(e);
    typename detail::of_shape<typename Floats::value_type, typename Floats::shape_type>::view_type to(all);
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      auto part = to.within(i * Page, positions_of(i));
      part = page_of(i);
    }
    all.seal();
    return all;
  }

  extents_type extents_;  // of Key: none
  page blank_;            // without positions; knows the scales
  std::vector<std::shared_ptr<page>> pages_;
  extent_t held_ = 0;
};

/// Attention over a cache in pages: each page by itself, in the bits that it is stored in, merged by log-sum-exp.
/// `scores_of` is called for the keys of each page; masks by position see the positions that they stand at.
template <class Key, extent_t Page, extent_t Positions, class Keys, class Values, class ScoresOf>
[[nodiscard]] auto attend(const kv_cache<Key, paged<Page, Positions>, Keys, Values>& cache, const ScoresOf& scores_of) {
  auto whole = partial_attention<Key>(scores_of(cache.keys_of(0)), cache.values_of(0));
  for (std::size_t i = 1; i < cache.page_count(); ++i) { whole = merge(whole, partial_attention<Key>(scores_of(cache.keys_of(i)), cache.values_of(i))); }
  return whole.output;
}

}  // namespace dimwise::nn
