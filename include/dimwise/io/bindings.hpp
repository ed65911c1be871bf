// SPDX-License-Identifier: BSL-1.0
// dimwise/io/bindings.hpp -- bindings of parameters to arrays of a file, with their axis order and conventions.
//
// Layer: io. A binding names the parameter object and specifies the file's axis order by type; only extents are
// run-time values. All bindings are compared with an archive before the first array is read.
// Tests: tests/io/checkpoint.test.cpp, tests/compile_fail/io/
//
//   bindings file(vocab{50257});                                       // run-time extents, once for the whole model
//   file.bind<stored<vocab, d_model>>("wte.weight", model.words.table);
//   const auto block = file.in("h.0.");
//   block.linear<in_out>("mlp.c_fc", model.layers[0].up);              // .weight, and .bias if the map has one
//   block.fused<thirds, in_out>("attn.c_attn", attention.query, attention.key, attention.value);
//   block.fused<equal_parts, out_in>("gate_up", feed.gate, feed.up);
#pragma once

#include <dimwise/io/arrays/bound_parameter.hpp>
#include <dimwise/io/arrays/elements.hpp>
#include <dimwise/nn/layers/linear.hpp>
#include <dimwise/nn/layers/norm.hpp>
#include <dimwise/support/library.hpp>

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace dimwise::io {

namespace detail {

// The dimension whose bound extent D has: a map from D to D has inputs and outputs of one extent.
template <class D>
struct bound_like {
  using type = D;
};
template <class D>
struct bound_like<out<D>> {
  using type = D;
};

// The pairs or halves that replace an output dimension in the file.
template <class D, class... Turned>
struct turned_dimension {
  using type = D;
};
template <class D, class First, class... Rest>
struct turned_dimension<D, First, Rest...> : turned_dimension<D, Rest...> {};
template <class D, class... Rest>
struct turned_dimension<D, pairs_as_halves<D>, Rest...> {
  using type = pairs_as_halves<D>;
};
template <class D, class... Rest>
struct turned_dimension<D, halves_as_pairs<D>, Rest...> {
  using type = halves_as_pairs<D>;
};
// The output dimensions as stored. A replaced dimension that is not an output stays in the list, so that the order is
// rejected.
template <class Outputs, class... Turned>
struct turned_outputs;
template <class... O, class... Turned>
struct turned_outputs<list<O...>, Turned...> {
  using stored_outputs = list<typename turned_dimension<O, Turned...>::type...>;
  using type = join_t<stored_outputs, list_if<!is_in<Turned, stored_outputs>, Turned>...>;
};

// The outputs of the I-th of N maps in one array.
template <class Parts, std::size_t I, std::size_t N, class Outputs>
struct fused_outputs;
template <std::size_t I, std::size_t N, class... O>
struct fused_outputs<equal_parts, I, N, list<O...>> {
  using type = list<part<I, N>, O...>;
};
template <std::size_t I, std::size_t N, class... O>
struct fused_outputs<thirds, I, N, list<O...>> : fused_outputs<equal_parts, I, N, list<O...>> {
  static_assert(N == 3, "dimwise: thirds are three maps; another number of maps is fused in equal_parts");
};
template <std::size_t I, std::size_t N, class H, class F>
struct fused_outputs<by_heads, I, N, list<H, F>> {
  using type = list<H, part<I, N>, F>;
};

template <class Convention, class Inputs, class Outputs>
struct weight_order;
template <class... I, class... O>
struct weight_order<in_out, list<I...>, list<O...>> {
  using type = stored<together<I...>, together<O...>>;
};
template <class... I, class... O>
struct weight_order<out_in, list<I...>, list<O...>> {
  using type = stored<together<O...>, together<I...>>;
};
template <class Outputs>
struct bias_order;
template <class... O>
struct bias_order<list<O...>> {
  using type = stored<together<O...>>;
};

// The dimensions of a linear map in its weight and in its bias.
template <class Linear>
struct linear_dims;
template <class... I, class... O, class Bias, class T>
struct linear_dims<nn::linear<nn::from<I...>, nn::to<O...>, Bias, T>> {
  using inputs = list<I...>;
  using outputs = list<nn::detail::output_side<O, I...>...>;
  using bias_outputs = list<typename nn::detail::result_side<O, I...>::type...>;
};
template <class X>
concept linear_map = requires { typename linear_dims<X>::inputs; };

// Undefined for other modules, so that a call with one gives a single error.
template <class Convention, class Linear, class... Turned>
struct stored_linear {
  using verdict = accepted<shape<>>;
};
template <class Convention, linear_map Linear, class... Turned>
struct stored_linear<Convention, Linear, Turned...> {
  using of = linear_dims<Linear>;
  using weight = typename weight_order<Convention, typename of::inputs,
                                       typename turned_outputs<typename of::outputs, Turned...>::type>::type;
  using bias = typename bias_order<typename turned_outputs<typename of::bias_outputs, Turned...>::type>::type;
  using verdict = order_verdict<weight, shape_of<typename Linear::weight_type>>;
};
template <class Parts, std::size_t I, std::size_t N, class Convention, class Linear>
struct stored_part {
  using of = linear_dims<Linear>;
  using weight = typename weight_order<Convention, typename of::inputs,
                                       typename fused_outputs<Parts, I, N, typename of::outputs>::type>::type;
  using bias = typename bias_order<typename fused_outputs<Parts, I, N, typename of::bias_outputs>::type>::type;
};

// The type-erased bindings of a model.
class binding_list {
 public:
  template <class... D>
  explicit binding_list(const D&... extents) {
    (extents_.insert_or_assign(&dimension_key<D>, extents.extent()), ...);
  }
  binding_list(binding_list&&) = default;

  template <class Order, class Parameter>
  void add(Parameter& to, std::vector<std::string> names, bool prefixed, double added = 0) {
    auto extents = to.extents();
    [&]<class... A>(list<A...>) { (take_extent<A>(extents), ...); }(typename Parameter::extents_type::atoms{});
    auto one = std::make_unique<bound_as<Parameter>>(to, extents);
    one->names = std::move(names);
    one->prefixed = prefixed;
    one->how = arranged<Order>::template in<shape_of<Parameter>>(extents);
    for (sharded_step& s : one->how.shards) {
      if (const auto found = extents_.find(s.whole_key); s.whole_extent == at_run_time && found != extents_.end()) {
        s.whole_extent = found->second;
      }
    }
    one->added = added;
    all.push_back(std::move(one));
  }

  // Places the parameters bound from `first` on in turn along an axis of the file: 1 for the weights of maps stored
  // `in_out`, else 0. With `in_blocks` they take turns for each index of their first output dimension.
  void stack(std::size_t first, std::size_t weight_axis, bool in_blocks);

  // Parameters that share an array, bound from `first` on, agree in its extents.
  void check_parts(std::size_t first);

  // Makes the arrays those of the whole dimensions, in which the k-th parameter has its parts at `places[k]`; those
  // without places stay as they are.
  void place_in_whole(const std::vector<std::vector<shard_place>>& places) const;

  std::vector<std::unique_ptr<bound_parameter>> all{};
  std::set<std::string> ignored{};
  std::vector<std::string> ignored_beginnings{};
  std::map<std::string, std::string> same{};
  std::vector<std::string> prefixes{};

 private:
  struct stack_of_maps {
    std::size_t first;
    std::size_t end;
    std::size_t weight_axis;
    bool in_blocks;
  };
  std::vector<stack_of_maps> stacks_{};
  // The parameters from `first` to before `end` whose array is that of `all[one]`.
  void stack_like(const stack_of_maps& maps, std::size_t one) const;
  template <class D, class Extents>
  void take_extent(Extents& extents) const {
    if constexpr (D::static_extent == at_run_time) {
      const void* const keys[] = {&dimension_key<D>, &dimension_key<typename bound_like<D>::type>};
      for (const void* const key : keys) {
        if (const auto found = extents_.find(key); found != extents_.end()) {
          extents.set(D{found->second});
          break;
        }
      }
    }
  }
  std::map<const void*, std::size_t> extents_{};
};

}  // namespace detail

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
/// Binds parameters to arrays whose names share a prefix.
class names_within {
 public:
  /// Made by `bindings` and `in`.
  names_within(detail::binding_list& all, std::string prefix, bool prefixed = true)
      : all_(&all), prefix_(std::move(prefix)), prefixed_(prefixed) {}
  /// `file.in("h.0.")` adds "h.0." to the prefix of every name.
  [[nodiscard]] names_within in(const std::string& prefix) const { return {*all_, prefix_ + prefix, prefixed_}; }
  /// Binds names without the optional prefix of `may_begin_with`: those of layers outside the prefixed model.
  [[nodiscard]] names_within without_prefix() const { return {*all_, prefix_, false}; }

  /// Binds `to` to the array of this name or one of the other names, stored in this order (R3).
  template <class Order, class T, class... D, std::convertible_to<std::string>... Names>
    requires(file_element<T> && allowed<detail::order_verdict<Order, shape<D...>>>)
  void bind(const std::string& name, tensor<T, D...>& to, const Names&... other_names) const {
    all_->add<Order>(to, {prefix_ + name, prefix_ + other_names...}, prefixed_);
  }
  template <class Order, class T, class... D, class... Names, class Verdict = detail::order_verdict<Order, shape<D...>>>
    requires refused<Verdict>
  Verdict bind(const std::string& name, tensor<T, D...>& to, const Names&... other_names) const;

  /// Binds a quantized weight, which is read from a floating-point array of any type.
  template <class Order, class Kind, class O, class I, std::convertible_to<std::string>... Names>
    requires(allowed<detail::order_verdict<Order, detail::shape_of<nn::block_weight<Kind, O, I>>>>)
  void bind(const std::string& name, nn::block_weight<Kind, O, I>& to, const Names&... other_names) const {
    all_->add<Order>(to, {prefix_ + name, prefix_ + other_names...}, prefixed_);
  }

  /// Binds a linear map: `name.weight`, stored `in_out` or `out_in`, and `name.bias` if the map has a bias. Turned
  /// replaces output dimensions: `pairs_as_halves<d_k>` (R3).
  template <class Convention, class... Turned, detail::linear_map Linear>
    requires(allowed<typename detail::stored_linear<Convention, Linear, Turned...>::verdict>)
  void linear(const std::string& name, Linear& to) const {
    using order = detail::stored_linear<Convention, Linear, Turned...>;
    linear_as<order>(name, to);
  }
  template <class Convention, class... Turned, detail::linear_map Linear,
            class Verdict = typename detail::stored_linear<Convention, Linear, Turned...>::verdict>
    requires refused<Verdict>
  Verdict linear(const std::string& name, Linear& to) const;

  /// Binds linear maps to one array, in `equal_parts`, `thirds` or `by_heads` order: queries, keys and values; keys and
  /// values; gate and up of a feed-forward. Maps with different outputs are `stacked` or stored `by_groups`. Throws
  /// `extent_error` if the maps differ in their inputs or in the outputs that they share.
  template <class Parts, class Convention, detail::linear_map... Maps>
    requires(sizeof...(Maps) > 1)
  void fused(const std::string& name, Maps&... maps) const {
    fuse<Parts, Convention>(name, std::index_sequence_for<Maps...>{}, maps...);
  }

  /// Binds a norm: `name.weight` and `name.bias`, or the older `name.gamma` and `name.beta`.
  template <class F, class... More>
  void norm(const std::string& name, nn::layer_norm<F, More...>& to) const {
    bind<stored<F, More...>>(name + ".weight", to.gamma, name + ".gamma");
    bind<stored<F, More...>>(name + ".bias", to.beta, name + ".beta");
  }
  /// Binds a norm without a bias; the scale is stored `as_is` or `less_one`.
  template <class Scale = as_is, class F, class... More>
  void norm(const std::string& name, nn::rms_norm<F, More...>& to) const {
    scale<Scale>(name + ".weight", to.gamma);
  }
  /// Binds the scale of a norm, stored `as_is` or `less_one`, to the array of this name or one of the other names.
  template <class Scale, class T, class... F, std::convertible_to<std::string>... Names>
  void scale(const std::string& name, tensor<T, F...>& to, const Names&... other_names) const {
    static_assert(dimwise::detail::is_any_of<Scale, as_is, less_one>, "dimwise: a scale is as_is or less_one");
    all_->add<typename own_order<tensor<T, F...>>::type>(to, {prefix_ + name, prefix_ + other_names...}, prefixed_,
                                                         std::is_same_v<Scale, less_one> ? 1 : 0);
  }

  /// Ignores an array that is not a parameter, such as a mask or frequencies.
  void ignore(const std::string& name) const { all_->ignored.insert(prefix_ + name); }
  /// Ignores all arrays with this prefix: layers on top of the model.
  void ignore_all(const std::string& beginning) const { all_->ignored_beginnings.push_back(prefix_ + beginning); }
  /// Accepts an optional array that duplicates another, such as a tied output layer.
  void same(const std::string& name, const std::string& as) const { all_->same[prefix_ + name] = prefix_ + as; }

 private:
  template <class Parts, class Convention, std::size_t... I, class... Maps>
  void fuse(const std::string& name, std::index_sequence<I...>, Maps&... maps) const {
    const std::size_t first = all_->all.size();
    if constexpr (dimwise::detail::is_any_of<Parts, stacked, by_groups>) {
      (linear<Convention>(name, maps), ...);
      all_->stack(first, std::is_same_v<Convention, in_out> ? 1 : 0, std::is_same_v<Parts, by_groups>);
    } else {
      (linear_as<detail::stored_part<Parts, I, sizeof...(Maps), Convention, Maps>>(name, maps), ...);
      all_->check_parts(first);
    }
  }
  template <class Order, class Linear>
  void linear_as(const std::string& name, Linear& to) const {
    all_->add<typename Order::weight>(to.weight, {prefix_ + name + ".weight"}, prefixed_);
    if constexpr (operand<typename Linear::bias_type>) {
      all_->add<typename Order::bias>(to.bias, {prefix_ + name + ".bias"}, prefixed_);
    } else if constexpr (requires { to.bias.empty(); }) {
      for (auto& bias : to.bias) { all_->add<typename Order::bias>(bias, {prefix_ + name + ".bias"}, prefixed_); }
    }
  }

  detail::binding_list* all_;
  std::string prefix_;
  bool prefixed_;
};
#pragma GCC diagnostic pop

namespace detail {

// A base class, so that the list is constructed before the objects that refer to it.
struct holds_list {
  binding_list held;
};

}  // namespace detail

/// The bindings of a model's parameters to the arrays of a file. The model must outlive it.
class bindings : detail::holds_list, public names_within {
 public:
  /// Takes the run-time extents of the model's dimensions, except those that its parameters already have.
  template <dimension_type... D>
  explicit bindings(const D&... extents) : holds_list{detail::binding_list(extents...)}, names_within(held, "") {}
  bindings(const bindings&) = delete;
  bindings& operator=(const bindings&) = delete;
  ~bindings() = default;

  /// An optional prefix of every name in the file: "transformer.".
  void may_begin_with(std::string prefix) { held.prefixes.push_back(std::move(prefix)); }

  /// The collected bindings, for `load`.
  [[nodiscard]] detail::binding_list& list() { return held; }
  [[nodiscard]] const detail::binding_list& list() const { return held; }
};

}  // namespace dimwise::io

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/io/bindings_definitions.hpp>
#endif
