// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/fast_attention.hpp -- the fused plan: softmax of scores contracted with values, head by head.
//
// Layer: eval. Gives the kernel the strides of every role, and one entry for every head.
// Tests: tests/eval/plan.test.cpp, tests/eval/attention.test.cpp
#pragma once

#include <dimwise/eval/execution.hpp>
#include <dimwise/eval/match_attention.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <string_view>

namespace dimwise::detail {

template <class E>
inline constexpr bool is_tanh = false;
template <class Shape, class T, class E>
inline constexpr bool is_tanh<elementwise<Shape, T, fn::tanh, E>> = true;

// What the chain of scores says, in numbers: what every kernel understands.
template <class Self>
struct score_pieces {
  float scale = 1;
  float cap = 0;
  bool in_order = true;  // what is done to scores gives the same in the kernel's order: the scale first, the mask last
  kernels::key_window window;

  // Queries times a scale that is no number, or so small that they vanish, are not scores times it: the plain loops take over.
  [[nodiscard]] bool fit() const {
    return in_order && (scale == 0 || std::isnormal(scale)) && (cap == 0 || std::isnormal(cap));
  }

  // Factors that are not 0 may vanish together.
  void scale_by(float c, float product) {
    in_order = in_order && (product != 0 || scale == 0 || c == 0);
    scale = product;
  }

  Self& self() { return static_cast<Self&>(*this); }

  // Shows the keys from `first` to `last` places after the place of a query, of those that it has shown. No window reaches
  // further than `unbounded`, and positions are no further than 2^60 from 0: nothing here overflows.
  static constexpr std::ptrdiff_t all = kernels::key_window::unbounded;
  void narrow(std::ptrdiff_t first, std::ptrdiff_t last) {
    const auto within = [](std::ptrdiff_t place) { return place < -all ? -all : place > all ? all : place; };
    window.before = std::min(window.before, -within(first));
    window.after = std::min(window.after, within(last));
  }

  template <class Q, class K, class E>
  void take(const causal<Q, K>& m, const E& e) {
    narrow(-all, m.query_origin(e, "causal") - m.key_origin(e, "causal"));
  }
  template <class Q, class K, class E>
  void take(const dimwise::window<Q, K>& m, const E& e) {
    const std::ptrdiff_t place = m.query_origin(e, "window") - m.key_origin(e, "window");
    // A limit that reaches from one end of the positions to the other is none.
    narrow(m.left() < 0 || m.left() > 4 * all ? -all : place - m.left(),
           m.right() < 0 || m.right() > 4 * all ? all : place + m.right());
  }
  template <class A, class B, class E>
  void take(const mask_pair<all_of, A, B>& m, const E& e) {
    self().take(m.left(), e);
    self().take(m.right(), e);
  }

  template <class Shape, class Over, class A, class B>
  void collect(const contraction<Shape, Over, A, B>&) {}
  template <class Shape, class E>
  void collect(const with_marks<Shape, E>& n) {
    self().collect(n.template child<0>());
  }
  template <class Shape, class T, class E, class U>
  void collect(const elementwise<Shape, T, fn::multiply, E, constant<U>>& n) {
    times(n.template child<0>(), static_cast<float>(n.template child<1>().op().value));
  }
  template <class Shape, class T, class E, class U>
  void collect(const elementwise<Shape, T, fn::multiply, constant<U>, E>& n) {
    times(n.template child<1>(), static_cast<float>(n.template child<0>().op().value));
  }
  template <class E>
  void times(const E& n, float c) {
    if constexpr (is_tanh<E>) {
      // c · tanh(s): the kernel's cap divides by c before tanh.
      self().collect(n.template child<0>());
      cap = c;
      in_order = in_order && c != 0;
    } else {
      self().collect(n);
      in_order = in_order && (!is_masked<E> || c > 0);  // what is masked stays −∞
    }
    scale_by(c, scale * c);
  }
  template <class Shape, class T, class E, class U>
  void collect(const elementwise<Shape, T, fn::divide, E, constant<U>>& n) {
    const float c = static_cast<float>(n.template child<1>().op().value);
    self().collect(n.template child<0>());
    in_order = in_order && (!is_masked<E> || c > 0);
    scale_by(1 / c, scale / c);
  }
  template <class Shape, class E, class M>
  void collect(const masked_node<Shape, E, M>& n) {
    self().collect(n.template child<0>());
    self().take(n.template child<1>(), n.extents());
  }
};
struct plain_score_pieces : score_pieces<plain_score_pieces> {};

// A function of the user's own to each of some numbers; in groups of a constant count, which compilers turn into vectors.
template <class F>
[[gnu::always_inline]] inline void change_each_inline(const F& f, float* numbers, std::size_t count) {
  constexpr std::size_t group = 64;
  for (; count >= group; numbers += group, count -= group) {
    for (std::size_t i = 0; i < group; ++i) { numbers[i] = static_cast<float>(f(numbers[i])); }
  }
  for (std::size_t i = 0; i < count; ++i) { numbers[i] = static_cast<float>(f(numbers[i])); }
}
template <class F>
void change_each(const F& f, float* numbers, std::size_t count) {
  change_each_inline(f, numbers, count);
}
// Compiled kernels run on more than the user's flags allow: so does the user's function beside them.
#if defined(DIMWISE_COMPILED_KERNELS) && (defined(__x86_64__) || defined(__i386__))
template <class F>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] void change_each_avx512(const F& f, float* numbers,
                                                                                       std::size_t count) {
  change_each_inline(f, numbers, count);
}
template <class F>
[[gnu::target("avx2,fma")]] void change_each_avx2(const F& f, float* numbers, std::size_t count) {
  change_each_inline(f, numbers, count);
}
template <class F>
auto change_each_of(const F&) -> void (*)(const F&, float*, std::size_t) {
  const std::string_view architecture = kernels::active().architecture;
  if (architecture.find("avx512") != std::string_view::npos) { return &change_each_avx512<F>; }
  if (architecture.find("avx2") != std::string_view::npos) { return &change_each_avx2<F>; }
  return &change_each<F>;
}
#else
template <class F>
auto change_each_of(const F&) -> void (*)(const F&, float*, std::size_t) {
  return &change_each<F>;
}
#endif

// A function of the user's own, called back by kernels, which throw nothing: what it throws is kept until they are done.
class own_function {
 public:
  template <class F>
  void call(const F& f) {
    using function = void (*)(const F&, float*, std::size_t);
    function_ = &f;
    change_ = reinterpret_cast<void (*)()>(change_each_of(f));
    apply_ = [](void* self, float* scores, std::size_t count) noexcept {
      auto& own = *static_cast<own_function*>(self);
      const running_with serial(kernels::runner{});  // what it evaluates is its own business
      try {
        reinterpret_cast<function>(own.change_)(*static_cast<const F*>(own.function_), scores, count);
      } catch (...) {
        if (!own.failed_.test_and_set()) { own.thrown_ = std::current_exception(); }
      }
    };
  }
  void describe(kernels::score_function& to) {
    to.own = apply_;
    to.context = this;
  }
  void rethrow() const {
    if (thrown_ != nullptr) { std::rethrow_exception(thrown_); }
  }

 private:
  const void* function_ = nullptr;
  void (*change_)() = nullptr;
  void (*apply_)(void*, float*, std::size_t) noexcept = nullptr;
  std::atomic_flag failed_;
  std::exception_ptr thrown_;
};

// Where both the mask `a` and the mask `b` are true; `to` becomes the axes of the result.
template <class Axes>
lowered<bool> both_masks(const axis* a_axes, const bool* a, const axis* b_axes, const bool* b, axis* to) {
  constexpr std::size_t rank = Axes::size;
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < rank; ++i) {
    strides[1][i] = a_axes[i].stride;
    strides[2][i] = b_axes[i].stride;
  }
  for (std::size_t i = 0; i < rank; ++i) { to[i].extent = a_axes[i].extent == 1 ? b_axes[i].extent : a_axes[i].extent; }
  lowered<bool> result;
  result.buffer.resize(checked_contiguous<Axes>(to, 1, "masked"));
  for (std::size_t i = 0; i < rank; ++i) { strides[0][i] = to[i].stride; }
  bool* const out = result.buffer.data();
  kernels::for_each_row(nest_over(rank, to, strides),
                        [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      out[o[0] + j * s[0]] = a[o[1] + j * s[1]] && b[o[2] + j * s[2]];
    }
  });
  for (std::size_t i = 0; i < rank; ++i) {
    if (to[i].extent == 1) { to[i].stride = 0; }
  }
  result.data = out;
  return result;
}

// The same, and what lies in memory: biases and masks of elements live here as long as the call.
template <class Roles>
struct attention_pieces : score_pieces<attention_pieces<Roles>> {
  using base = score_pieces<attention_pieces<Roles>>;
  using base::collect;
  using base::take;
  using w_axes = typename Roles::w_axes;

  lowered<float> bias;
  std::ptrdiff_t bias_strides[max_rank] = {};
  lowered<bool> allow;
  std::ptrdiff_t allow_strides[max_rank] = {};
  axis allow_axes[max_rank];  // of the weights; 1 element where the mask is the same for all
  int given_masks = 0;
  aligned_vector<std::ptrdiff_t> lengths;
  std::ptrdiff_t length_strides[max_rank] = {};
  aligned_vector<float> slopes;
  std::ptrdiff_t slope_strides[max_rank] = {};
  std::ptrdiff_t distance = 0;
  own_function function;
  lowered<float> factor;
  std::ptrdiff_t factor_strides[max_rank] = {};
  kernels::operation by_factor = kernels::operation::multiply;
  float least_factor = 1;
  float largest_factor = 1;

  // The scales together are ordinary numbers, too.
  [[nodiscard]] bool fit() const {
    const bool divides = by_factor == kernels::operation::divide;
    const float least = divides ? this->scale / largest_factor : this->scale * least_factor;
    const float largest = divides ? this->scale / least_factor : this->scale * largest_factor;
    return base::fit() && (this->scale == 0 || (std::isnormal(least) && std::isnormal(largest)));
  }
  segments query_documents;
  segments key_documents;

  template <class Q, class K, class E>
  void take(const document<Q, K>&, const E& e) {
    query_documents = e.template documents<Q>();
    key_documents = e.template documents<K>();
  }
  template <class K, class L, class E>
  void take(const padding_mask<K, L>& m, const E& e) {
    const auto x = lower<working_t<L>>(m.lengths());
    using axes = axes_for<shape_of<L>>;
    const extent_t keys = e.template extent<K>();
    axis dense[max_rank];
    for (std::size_t i = 0; i < axes::size; ++i) { dense[i] = x.axes[i]; }
    lengths.resize(checked_contiguous<axes>(dense, sizeof(std::ptrdiff_t), "padding"));
    copy_axes<std::ptrdiff_t>(axes::size, dense, dense, x.axes, lengths.data(), x.data);
    for (const std::ptrdiff_t n : lengths) {
      if (n < 0 || static_cast<std::size_t>(n) > keys) {
        raise<extent_error>(error{} << "padding: length " << static_cast<long long>(n) << " is outside dimension "
                                    << dimension_name<K>() << " of extent " << keys << " (R7)");
      }
    }
    align<w_axes, axes>(dense, length_strides);
  }
  template <class Q, class... P, class E>
  void take(const causal<Q, summed<P...>>& m, const E& e) {
    const std::ptrdiff_t first = m.query_origin(e, "causal") - m.key_origin(e, "causal");
    if (first < -1) { return take_given(m, e); }
    this->narrow(-base::all, first + m.in_front(e));
  }
  template <class M, class E>
  void take(const M& m, const E& e) {
    take_given(m, e);
  }
  template <class M, class E>
  void take_given(const M& m, const E& e) {
    lowered<bool> given = lower_mask(m, e);
    axis own[max_rank];
    for (std::size_t i = 0; i < w_axes::size; ++i) {
      const short at = places<w_axes, mask_axes<M>>::at[i];
      own[i] = at < 0 ? axis{1, 0} : given.axes[at];
    }
    if (given_masks++ > 0) {
      axis both[max_rank];
      given = both_masks<w_axes>(allow_axes, allow.data, own, given.data, both);
      for (std::size_t i = 0; i < w_axes::size; ++i) { own[i] = both[i]; }
    }
    allow = static_cast<lowered<bool>&&>(given);
    for (std::size_t i = 0; i < w_axes::size; ++i) {
      allow_axes[i] = own[i];
      allow_strides[i] = own[i].stride;
    }
  }

  template <class Shape, class F, class E, class X>
    requires((std::is_same_v<F, fn::multiply> || std::is_same_v<F, fn::divide>) && !is_constant<X> && !is_constant<E>)
  void collect(const elementwise<Shape, float, F, E, X>& n) {
    constexpr std::size_t at = scores_place<elementwise<Shape, float, F, E, X>>;
    collect(n.template child<at>());
    factor = lower<float>(n.template child<1 - at>());
    using scale_type = std::conditional_t<at == 0, X, E>;
    align<typename Roles::q_axes, axes_for<shape_of<scale_type>>>(factor.axes, factor_strides);
    constexpr bool after_mask = is_masked<std::conditional_t<at == 0, E, X>>;
    std::ptrdiff_t strides[1][max_rank] = {};
    for (std::size_t i = 0; i < axes_for<shape_of<scale_type>>::size; ++i) { strides[0][i] = factor.axes[i].stride; }
    kernels::for_each_row(nest_over(axes_for<shape_of<scale_type>>::size, factor.axes, strides),
                          [&](const std::ptrdiff_t(&o)[1], std::size_t m, const std::ptrdiff_t(&s)[1]) {
      for (std::size_t i = 0; i < m; ++i) {
        const float c = factor.data[o[0] + static_cast<std::ptrdiff_t>(i) * s[0]];
        const bool ordinary = c == 0 ? std::is_same_v<F, fn::multiply> : std::isnormal(c) && std::isnormal(1 / c);
        this->in_order = this->in_order && ordinary && (!after_mask || c > 0);
        if (c != 0) {
          least_factor = std::min(least_factor, std::abs(c));
          largest_factor = std::max(largest_factor, std::abs(c));
        }
      }
    });
    if constexpr (std::is_same_v<F, fn::divide>) { by_factor = kernels::operation::divide; }
  }
  template <class Shape, class F, class E>
  void collect(const elementwise<Shape, float, F, E>& n) {
    collect(n.template child<0>());
    function.call(n.op().f);
  }
  template <class Shape, class E, class B>
  void collect(const biased_node<Shape, E, B>& n) {
    collect(n.template child<0>());
    bias = lower<float>(n.template child<1>());
    align<w_axes, axes_for<shape_of<B>>>(bias.axes, bias_strides);
  }
  template <class Shape, class E, class B>
  void collect(const position_biased_node<Shape, E, B>& n) {
    collect(n.template child<0>());
    bias = lower_bias<float>(n.template child<1>(), n.extents());
    align<w_axes, bias_axes<B>>(bias.axes, bias_strides);
  }
  template <class Shape, class E, class Q, class K, class H>
  void collect(const position_biased_node<Shape, E, alibi<Q, K, H>>& n) {
    collect(n.template child<0>());
    const auto& e = n.extents();
    slopes.resize(e.template extent<H>());
    for (std::size_t h = 0; h < slopes.size(); ++h) { slopes[h] = static_cast<float>(alibi_slope(h, slopes.size())); }
    const axis along{slopes.size(), 1};
    align<w_axes, list<H>>(&along, slope_strides);
    distance = n.template child<1>().key_origin(e, "alibi") - n.template child<1>().query_origin(e, "alibi");
  }
};

// Queries times a scale of their own, in a buffer: far fewer numbers than the scores, and no score costs a multiplication more.
template <class Axes>
void scale_queries(lowered<float>& q, kernels::operation f, const lowered<float>& factor,
                   const std::ptrdiff_t* factor_strides) {
  lowered<float> scaled;
  for (std::size_t i = 0; i < Axes::size; ++i) { scaled.axes[i].extent = q.axes[i].extent; }
  scaled.buffer.resize(checked_contiguous<Axes>(scaled.axes, sizeof(float), "scaled"));
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < Axes::size; ++i) {
    strides[0][i] = scaled.axes[i].stride;
    strides[1][i] = q.axes[i].stride;
    strides[2][i] = factor_strides[i];
  }
  const kernels::table& table = kernels::active();
  float* const to = scaled.buffer.data();
  kernels::for_each_row(nest_over(Axes::size, scaled.axes, strides),
                        [&](const std::ptrdiff_t(&o)[3], std::size_t n, const std::ptrdiff_t(&s)[3]) {
    const bool in_one = s[0] == 1 && s[1] == 1 && (s[2] == 0 || s[2] == 1);
    const std::size_t many = in_one ? n : 1;
    for (std::size_t i = 0; i < n; i += many) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      table.zip(f, many, q.data + o[1] + j * s[1], 1, factor.data + o[2] + j * s[2], in_one ? s[2] : 0,
                to + o[0] + j * s[0]);
    }
  });
  q = static_cast<lowered<float>&&>(scaled);
  q.data = q.buffer.data();
}

template <class Axis, class Axes>
std::ptrdiff_t stride_along(const std::ptrdiff_t* strides) {
  if constexpr (Axis::size == 0) {
    return 0;
  } else if constexpr (is_in<first_t<Axis>, Axes>) {
    return strides[index_in<first_t<Axis>, Axes>];
  } else {
    return 0;
  }
}
template <class Axis, class Axes>
constexpr axis axis_of(const axis* axes) {
  if constexpr (Axis::size == 0) {
    return {};
  } else if constexpr (is_in<first_t<Axis>, Axes>) {
    return axes[index_in<first_t<Axis>, Axes>];
  } else {
    return {};
  }
}

// Strides of one role along the loops over heads.
template <class Loops, class Axes>
void along_loops(const axis* axes, std::ptrdiff_t* strides) {
  align<Loops, Axes>(axes, strides);
}
template <class Loops, class Axes>
void along_loops(const std::ptrdiff_t* from, std::ptrdiff_t* strides) {
  constexpr const short* at = places<Loops, Axes>::at;
  for (std::size_t i = 0; i < Loops::size; ++i) { strides[i] = at[i] < 0 ? 0 : from[at[i]]; }
}

// Extents and strides of every role.
template <class Roles, class ResultAxes>
constexpr kernels::attention_layout layout_of(const axis* q, const axis* k, const axis* v, const axis* to) {
  using key_axis = list<typename Roles::key>;
  const axis rows = axis_of<typename Roles::row, typename Roles::q_axes>(q);
  const axis keys = axis_of<key_axis, typename Roles::k_axes>(k);
  const axis features = axis_of<typename Roles::features, typename Roles::q_axes>(q);
  const axis values = axis_of<typename Roles::values, typename Roles::v_axes>(v);
  kernels::attention_layout layout;
  layout.queries = rows.extent;
  layout.keys = keys.extent;
  layout.head_dim = features.extent;
  layout.value_dim = values.extent;
  layout.q_row = rows.stride;
  layout.k_row = keys.stride;
  layout.v_row = axis_of<key_axis, typename Roles::v_axes>(v).stride;
  layout.out_row = axis_of<typename Roles::row, ResultAxes>(to).stride;
  layout.q_feature = features.stride;
  layout.k_feature = axis_of<typename Roles::features, typename Roles::k_axes>(k).stride;
  layout.v_feature = values.stride;
  layout.out_feature = axis_of<typename Roles::values, ResultAxes>(to).stride;
  return layout;
}

// A few queries are bound by reading the keys once; more are bound by arithmetic.
constexpr bool few_queries(std::size_t queries, std::size_t group) { return queries <= 4 && queries * group <= 32; }

// How much one call computes: what runs depends on nothing else.
struct attention_size {
  std::size_t heads = 1;
  std::size_t group = 1;  // heads that share keys and values
  std::size_t queries = 1;
  std::size_t values = 1;

  [[nodiscard]] constexpr bool empty() const { return heads == 0 || queries == 0 || values == 0; }
  [[nodiscard]] constexpr plan_kind kind() const {
    return few_queries(queries, group) ? plan_kind::decode : plan_kind::attention;
  }
};
// `loops` are the extents of the loops over heads.
template <class Roles>
constexpr attention_size size_of_attention(const axis* loops, const axis* q, const axis* v) {
  attention_size size;
  for (std::size_t i = 0; i < Roles::loops::size; ++i) {
    size.heads *= loops[i].extent;
    if (i >= Roles::shared_heads::size) { size.group *= loops[i].extent; }
  }
  size.queries = axis_of<typename Roles::row, typename Roles::q_axes>(q).extent;
  size.values = axis_of<typename Roles::values, typename Roles::v_axes>(v).extent;
  return size;
}

// Keys or values as the kernel reads them: floats, or the bits that they are stored in.
template <class N, class Key>
struct attended_rows {
  using scale_axes = list<>;
  lowered<float> rows;

  explicit attended_rows(const N& n) : rows(lower<float>(n)) {}
  [[nodiscard]] const axis* axes() const { return rows.axes; }
  [[nodiscard]] const axis* scale_at() const { return rows.axes; }  // nobody looks
  void point(const float*& to, kernels::stored_numbers&, std::ptrdiff_t offset, std::ptrdiff_t, std::ptrdiff_t) const {
    to = rows.data + offset;
  }
};
template <class Shape, class Packed, class X, class... Scale, class Key>
struct attended_rows<widened_node<Shape, Packed, X, Scale...>, Key> {
  using all = axes_for<Shape>;
  using element = value_of<X>;
  static constexpr bool scaled = sizeof...(Scale) == 1;
  using scale_axes = join_t<axes_for<shape_of<Scale>>...>;
  // Features lie side by side in memory, and the scale is one for all keys.
  static constexpr std::size_t last = all::size - 1;
  lowered<element> stored;
  lowered<float> scale;
  lowered<float> widened;
  bool direct;

  // Whether the kernel reads what is stored with these axes.
  static bool reads_stored(const axis* axes) {
    constexpr bool whole = std::is_same_v<Packed, nothing> || std::is_same_v<element_t<last, all>, Packed>;
    return whole && is_disjoint<scale_axes, list<Key>> && is_feature<element_t<last, all>> && axes[last].stride == 1;
  }
  explicit attended_rows(const widened_node<Shape, Packed, X, Scale...>& n)
      : stored(lower<float>(n.template child<0>())), direct(reads_stored(stored.axes)) {
    if constexpr (!std::is_same_v<Packed, nothing>) {
      stored.axes[last].extent = n.extents().template extent<Packed>();
    }
    if (!direct) {
      widened = lower<float>(n);
    } else if constexpr (scaled) {
      scale = lower<float>(n.template child<1>());
    }
  }
  [[nodiscard]] const axis* axes() const { return direct ? stored.axes : widened.axes; }
  void point(const float*& to, kernels::stored_numbers& bits, std::ptrdiff_t offset, std::ptrdiff_t row,
             std::ptrdiff_t scale_offset) const {
    if (!direct) {
      to = widened.data + offset;
      return;
    }
    bits.data = stored.data + offset;
    bits.format = format_of<element>;
    bits.row = row;
    if constexpr (scaled) {
      bits.scale = scale.data + scale_offset;
      if constexpr (is_in<element_t<last, all>, scale_axes>) {
        bits.scale_feature = scale.axes[index_in<element_t<last, all>, scale_axes>].stride;
      }
    }
  }
  [[nodiscard]] const axis* scale_at() const { return scale.axes; }
};

// Some queries and the keys that they may see: all, or one document of each.
struct attended_part {
  std::size_t first_query;
  std::size_t queries;
  std::size_t first_key;
  std::size_t keys;
};

// Calls f for every document of the queries with that of the same number of the keys; once where there are none. Never
// beyond `all`: whatever the lengths say, that is where the memory ends.
template <class F>
void each_document(const segments& queries, const segments& keys, const attended_part& all, F f) {
  if (!queries.known()) {
    f(all);
    return;
  }
  attended_part part{0, 0, 0, 0};
  for (std::size_t i = 0; i < queries.size(); ++i) {
    part.queries = std::min(queries.begin()[i], all.queries - part.first_query);
    part.keys = i < keys.size() ? std::min(keys.begin()[i], all.keys - part.first_key) : 0;
    f(part);
    part.first_query += part.queries;
    part.first_key += part.keys;
  }
}

// False, and nothing done, where the kernel would give something else. `sums`, where it is given, takes log Σ exp of every row
// of scores.
template <class Over, class ResultAxes, class SumAxes = list<>, class N, class W, class V>
bool attend(const N& n, const W& weights, const V& values, target<float> to, const target<float>* sums = nullptr) {
  using roles = attention_roles<Over, ResultAxes, W, V>;
  using key_axis = list<typename roles::key>;
  const auto& softmax = roles::chain::find(weights);
  attention_pieces<roles> pieces;
  pieces.collect(softmax.template child<0>());
  if (!pieces.fit()) { return false; }
  const auto& product = score_chain<typename roles::chain::scores>::find(softmax.template child<0>());
  auto q = lower<float>(roles::query_of(product));
  if constexpr (roles::chain::counts.factors > 0) {
    scale_queries<typename roles::q_axes>(q, pieces.by_factor, pieces.factor, pieces.factor_strides);
  }
  using k_rows = attended_rows<typename roles::key_type, typename roles::key>;
  using v_rows = attended_rows<V, typename roles::key>;
  const k_rows k(roles::key_of(product));
  const v_rows v(values);

  kernels::attention_call call;
  auto& layout = call.layout;
  layout = layout_of<roles, ResultAxes>(q.axes, k.axes(), v.axes(), to.axes);
  using w_axes = typename roles::w_axes;
  layout.bias_query = stride_along<typename roles::row, w_axes>(pieces.bias_strides);
  layout.bias_key = stride_along<key_axis, w_axes>(pieces.bias_strides);
  layout.allow_query = stride_along<typename roles::row, w_axes>(pieces.allow_strides);
  layout.allow_key = stride_along<key_axis, w_axes>(pieces.allow_strides);
  layout.scale = pieces.scale;
  layout.window = pieces.window;

  using loops = typename roles::loops;
  axis extents[max_rank];
  axis_extents<loops>::write(n.extents(), extents);
  std::ptrdiff_t strides[11][max_rank] = {};
  along_loops<loops, typename roles::q_axes>(q.axes, strides[0]);
  along_loops<loops, typename roles::k_axes>(k.axes(), strides[1]);
  along_loops<loops, typename roles::v_axes>(v.axes(), strides[2]);
  along_loops<loops, ResultAxes>(to.axes, strides[3]);
  along_loops<loops, w_axes>(pieces.bias_strides, strides[4]);
  along_loops<loops, w_axes>(pieces.allow_strides, strides[5]);
  along_loops<loops, w_axes>(pieces.length_strides, strides[6]);
  along_loops<loops, w_axes>(pieces.slope_strides, strides[7]);
  along_loops<loops, typename k_rows::scale_axes>(k.scale_at(), strides[8]);
  along_loops<loops, typename v_rows::scale_axes>(v.scale_at(), strides[9]);
  if (sums != nullptr) {
    layout.lse_query = axis_of<typename roles::row, SumAxes>(sums->axes).stride;
    along_loops<loops, SumAxes>(sums->axes, strides[10]);
  }
  const attention_size size = size_of_attention<roles>(extents, q.axes, v.axes());
  if (size.empty()) { return true; }
  aligned_vector<kernels::attention_head> heads;
  aligned_vector<float> slopes;
  heads.resize(size.heads);
  if (!pieces.slopes.empty()) { slopes.resize(size.heads); }
  call.heads = heads.data();
  call.count = size.heads;
  call.group = size.group;
  const kernels::table& table = kernels::active();
  count_plan(size.kind());
  each_document(pieces.query_documents, pieces.key_documents, {0, layout.queries, 0, layout.keys},
                [&](const attended_part& part) {
    const auto i0 = static_cast<std::ptrdiff_t>(part.first_query);
    const auto j0 = static_cast<std::ptrdiff_t>(part.first_key);
    layout.queries = part.queries;
    layout.keys = part.keys;
    layout.window.offset = pieces.window.offset + i0 - j0;
    call.few_queries = few_queries(layout.queries, call.group);
    std::size_t at = 0;
    kernels::for_each_row(nest_over(loops::size, extents, strides),
                          [&](const std::ptrdiff_t(&o)[11], std::size_t many, const std::ptrdiff_t(&s)[11]) {
      for (std::size_t i = 0; i < many; ++i, ++at) {
        const auto j = static_cast<std::ptrdiff_t>(i);
        kernels::attention_head& h = heads[at];
        h = kernels::attention_head{};
        h.q = q.data + o[0] + j * s[0] + i0 * layout.q_row;
        k.point(h.k, h.k_stored, o[1] + j * s[1] + j0 * layout.k_row, layout.k_row, o[8] + j * s[8]);
        v.point(h.v, h.v_stored, o[2] + j * s[2] + j0 * layout.v_row, layout.v_row, o[9] + j * s[9]);
        h.out = to.data + o[3] + j * s[3] + i0 * layout.out_row;
        if (sums != nullptr) { h.lse = sums->data + o[10] + j * s[10] + i0 * layout.lse_query; }
        if (pieces.bias.data != nullptr) {
          h.bias = pieces.bias.data + o[4] + j * s[4] + i0 * layout.bias_query + j0 * layout.bias_key;
        }
        if (pieces.allow.data != nullptr) {
          h.allow = pieces.allow.data + o[5] + j * s[5] + i0 * layout.allow_query + j0 * layout.allow_key;
        }
        if (!pieces.lengths.empty()) {
          const auto length = static_cast<std::size_t>(pieces.lengths[static_cast<std::size_t>(o[6] + j * s[6])]);
          h.visible_keys = length < part.first_key ? 0 : length - part.first_key;
        }
        if (!slopes.empty()) { slopes[at] = pieces.slopes[static_cast<std::size_t>(o[7] + j * s[7])]; }
      }
    });
    call.score.soft_cap = pieces.cap;
    call.score.slopes = slopes.empty() ? nullptr : slopes.data();
    call.score.distance = pieces.distance + j0 - i0;
    pieces.function.describe(call.score);
    if (layout.queries == 0 || table.attention_small(call)) { return; }
    table.attention(call, scratch(table.attention_bytes(call, current_runner.worker_count())).data(), current_runner);
  });
  pieces.function.rethrow();
  return true;
}

}  // namespace dimwise::detail
