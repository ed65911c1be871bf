// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/adjoints_definitions.hpp -- from the gradient of a value to those of its operands, as records.
//
// Layer: grad. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/
#pragma once

#include <dimwise/eval/kernels/backward_definitions.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/attention/gradient_definitions.hpp>
#endif
#include <dimwise/grad/record/adjoints.hpp>
#include <dimwise/grad/record/recorded.hpp>

namespace dimwise::detail {

// ---- the records that adjoints make ----------------------------------------------------------------------------------

// The gradient of a value with the axes of `like`, which has no marks.
template <class C>
struct adjoint_record {
  record_shape shape;
  record<C> r{};

  adjoint_record(const record_operation<C>& operation, const record<C>& like) : shape(*like.shape) {
    shape.masked = false;
    r.operation = &operation;
    r.shape = &shape;
    r.extents = like.extents;
    r.name = like.name;
    r.node_extents = like.node_extents;
    r.leaves_out = kernels::left_out::nothing;
    r.is_float = like.is_float;
    r.has_kernels = like.has_kernels;
  }
  adjoint_record(const adjoint_record&) = delete;
  adjoint_record& operator=(const adjoint_record&) = delete;
};

// What is read more than once, in memory.
template <class C>
lowered<C> read_memory(walk&, const record<C>& r, bool) {
  const auto& from = *static_cast<const lowered<C>*>(r.node);
  lowered<C> x;
  static_cast<operand_layout&>(x) = from;
  x.data = from.data;
  return x;
}
namespace records {
template <class C>
inline constexpr record_operation<C> memory = {record_kind::leaf, &read_memory<C>, nullptr};
}  // namespace records
template <class C>
struct record_in_memory : adjoint_record<C> {
  lowered<C> elements;

  record_in_memory(walk& w, const record<C>& x) : record_in_memory(read_record(w, x), x) {}
  record_in_memory(lowered<C>&& at, const record<C>& like)
      : adjoint_record<C>(records::memory<C>, like), elements(static_cast<lowered<C>&&>(at)) {
    elements.data = elements.data == nullptr ? elements.buffer.data() : elements.data;
    this->r.node = &elements;
  }
};

// The value of an operand without its marks.
template <class C>
struct plain_value_of : adjoint_record<C> {
  const record<C>* value;

  explicit plain_value_of(const record<C>& x) : adjoint_record<C>(records::view<C>, x), value(&x) {
    static constexpr view_facts of_marks{view_kind::marks};
    if (!x.shape->masked) { return; }
    this->r.facts = &of_marks;
    this->r.index = 0;
    this->r.leaves_out = x.leaves_out;
    this->r.child[0] = &x;
    value = &this->r;
  }
};

// A number for every element.
template <class C>
struct record_of_number {
  record<C> r{};

  explicit record_of_number(double number) {
    static constexpr extent_source none[] = {{0, 0}};
    static constexpr record_shape without_axes = {{nullptr, 0}, nullptr, none, nullptr, false};
    r.operation = &records::number<C>;
    r.shape = &without_axes;
    r.leaves_out = kernels::left_out::nothing;
    r.is_float = true;
    r.number = number;
  }
};

// ---- sending ---------------------------------------------------------------------------------------------------------

// Types do not protect the author of an adjoint.
template <class C>
void check_gradient(const record<C>& x, const record<C>& g) {
  axis expected[max_rank] = {};
  axis given[max_rank] = {};
  x.write_extents(expected);
  g.write_extents(given);
  bool same = x.rank() == g.rank();
  for (std::size_t i = 0; same && i < g.rank(); ++i) {
    const name_of name = g.shape->axes.at[i];
    const short place = x.shape->axes.place_of(name);
    same = place >= 0;
    if (same && expected[place].extent != given[i].extent) {
      raise<extent_error>(error{} << "gradient: an adjoint gives dimension " << name() << " an extent of "
                                  << given[i].extent << " where " << expected[place].extent << " is expected (R15)");
    }
  }
  if (!same) {
    raise<gradient_error>(error{} << "gradient: an adjoint gives other dimensions than the operand of " << x.name
                                  << " has (R21)");
  }
}

template <class C>
void send_to(walk& w, const record<C>& x, const record<C>& g) {
  if (x.send == nullptr) { return; }
  check_gradient(x, g);
  x.send(w, x, g);
}

// Names of `of` that are not in `without`.
struct names_beside {
  name_of all[max_rank] = {};
  std::size_t count = 0;

  void add(name_list of, name_list without) {
    for (const name_of name : of) {
      if (without.place_of(name) < 0 && list().place_of(name) < 0) { all[count++] = name; }
    }
  }
  [[nodiscard]] name_list list() const { return {all, count}; }
};

// The same for an operand that may lack dimensions of `g`: it was the same along them.
template <class C>
void send_reduced(walk& w, const record<C>& x, const record<C>& g) {
  if (x.send == nullptr) { return; }
  names_beside over;
  over.add(g.shape->axes, x.shape->axes);
  if (over.count == 0) { return send_to(w, x, g); }
  const name_list names = over.list();
  adjoint_record<C> sum(records::total<C, totals::sum>, x);
  sum.r.facts = &names;
  sum.r.child[0] = &g;
  send_to(w, x, sum.r);
}

template <class C>
void send_leaf(walk&, const record<C>& r, const record<C>& g) {
  if (r.origin == nullptr) { return; }
  if constexpr (std::is_same_v<C, float>) {
    r.origin->add_record({&g, nullptr}, r.node_extents);
  } else {
    r.origin->add_record({nullptr, &g}, r.node_extents);
  }
}

// ---- views -----------------------------------------------------------------------------------------------------------

// A view that gives one axis another name. What is in memory and a product know their axes by their places.
template <class C>
void send_renamed(walk& w, const record<C>& x, const record<C>& g, name_of now, name_of then) {
  static constexpr view_facts of_marks{view_kind::marks};
  name_of names[max_rank] = {};
  for (std::size_t i = 0; i < g.rank(); ++i) { names[i] = g.shape->axes.at[i] == now ? then : g.shape->axes.at[i]; }
  adjoint_record<C> renamed(records::view<C>, g);
  if (g.kind() == record_kind::leaf || g.kind() == record_kind::product) {
    renamed.r = g;
    renamed.r.shape = &renamed.shape;
  } else {
    renamed.r.facts = &of_marks;
    renamed.r.index = 0;
    renamed.r.child[0] = &g;
  }
  renamed.shape.axes = {names, g.rank()};
  send_to(w, x, renamed.r);
}

// A kind that is not handled does not compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
template <class C>
void send_view(walk& w, const record<C>& r, const record<C>& g) {
  const record<C>& x = *r.child[0];
  const auto& facts = r.template facts_as<view_facts>();
  switch (facts.kind) {
    case view_kind::marks:
    case view_kind::regroup:
      return send_to(w, x, g);
    case view_kind::broadcast:
      return send_reduced(w, x, g);
    case view_kind::rename:
      if (facts.old_count == 1 && facts.new_count == 1) {
        return send_renamed(w, x, g, r.shape->axes.at[facts.first], x.shape->axes.at[facts.first]);
      }
      break;
    case view_kind::part:
    case view_kind::diagonal:
    case view_kind::at:
    case view_kind::slice:
    case view_kind::unroll:
    case view_kind::pool:
      break;
  }
  adjoint_record<C> back(records::view_back<C>, x);
  back.r.node = &r;
  back.r.child[0] = &g;
  send_to(w, x, back.r);
}

// ---- products --------------------------------------------------------------------------------------------------------

// d(a·b)/da = g·b over what only b has, d(a·b)/db = a·g over what only a has. What zeros of g meet is left out.
template <class C>
void send_product(walk& w, const record<C>& r, const record<C>& g) {
  const auto& facts = r.template facts_as<product_facts_of_record>();
  record_in_memory<C> arrived(w, g);
  name_of names[max_rank] = {};  // as the operands call them: out<D> where the result says D
  for (std::size_t i = 0; i < g.rank(); ++i) {
    names[i] = facts.result.at[r.shape->axes.place_of(g.shape->axes.at[i])];
  }
  arrived.shape.axes = {names, g.rank()};
  arrived.r.leaves_out = kernels::left_out::zeros;
  for (std::size_t k = 0; k < 2; ++k) {
    const record<C>& x = *r.child[k];
    if (x.send == nullptr) { continue; }
    const record<C>& y = *r.child[1 - k];
    names_beside sums;
    sums.add(arrived.shape.axes, x.shape->axes);
    const product_facts_of_record of_back{x.shape->axes, sums.list(), {nullptr, 0}};
    const plain_value_of<C> factor(y);
    adjoint_record<C> back(records::product<C>, x);
    back.r.facts = &of_back;
    back.r.child[0] = &arrived.r;
    back.r.child[1] = factor.value;
    send_to(w, x, back.r);
  }
}

#if !defined(DIMWISE_PLAIN_ONLY)
// The gradient of an operand: zeros, to which a kernel adds; without memory where it is not tracked.
template <class C>
lowered<C> zeros_of(walk& w, const record<C>* x) {
  if (x == nullptr || x->send == nullptr) { return {}; }
  lowered<C> zeros = make_buffer(w, *x);
  for (C& one : zeros.buffer) { one = 0; }
  return zeros;
}
inline named_memory memory_of(record_in_memory<float>& x) {
  named_memory all{x.elements.buffer.data(), {}, x.shape.axes};
  for (std::size_t i = 0; i < x.shape.axes.size; ++i) { all.axes[i] = x.elements.axes[i]; }
  return all;
}
template <class C>
bool send_attention(walk& w, const record<C>& r, const attention_back& arrived) {
  attention_of_records m;
  const record<C>* bias = nullptr;
  if (!match_attention(r, m) || !tracks_roles_alone(m, bias)) { return false; }
  record_in_memory<C> d_q(zeros_of(w, m.query), *m.query);
  record_in_memory<C> d_k(zeros_of(w, m.key), *m.key);
  record_in_memory<C> d_v(zeros_of(w, m.values), *m.values);
  record_in_memory<C> d_bias(zeros_of(w, bias), bias == nullptr ? *m.query : *bias);
  attention_back back = arrived;
  back.d_q = memory_of(d_q);
  back.d_k = memory_of(d_k);
  back.d_v = memory_of(d_v);
  if (bias != nullptr) { back.d_bias = memory_of(d_bias); }
  if (!attend_back(w, r, back)) { return false; }
  send_to(w, *m.query, d_q.r);
  send_to(w, *m.key, d_k.r);
  send_to(w, *m.values, d_v.r);
  if (bias != nullptr) { send_to(w, *bias, d_bias.r); }
  return true;
}
#endif

// ---- elements --------------------------------------------------------------------------------------------------------

template <class C>
void send_unary(walk& w, const record<C>& r, const record<C>& g) {
  const record<C>& x = *r.child[0];
  const plain_value_of<C> value(x);
  adjoint_record<C> back(records::chained<C>, g);
  back.r.index = r.index;
  back.r.child[0] = &g;
  back.r.child[1] = value.value;
  send_to(w, x, back.r);
}

// f(g, y) to x.
template <class C>
void send_zipped(walk& w, kernels::operation f, const record<C>& x, const record<C>& g, const record<C>& y) {
  if (x.send == nullptr) { return; }
  const plain_value_of<C> value(y);
  adjoint_record<C> back(records::binary<C>, g);
  back.r.index = static_cast<std::ptrdiff_t>(f);
  back.r.child[0] = &g;
  back.r.child[1] = value.value;
  send_reduced(w, x, back.r);
}
template <class C>
void send_partial(walk& w, const record<C>& r, const record<C>& g, std::size_t k) {
  const record<C>& x = *r.child[k];
  if (x.send == nullptr) { return; }
  adjoint_record<C> back(records::partial<C>, g);
  back.r.node = &r;
  back.r.index = static_cast<std::ptrdiff_t>(k);
  back.r.child[0] = &g;
  send_reduced(w, x, back.r);
}

template <class C>
void send_binary(walk& w, const record<C>& r, const record<C>& arrived) {
  const record<C>& a = *r.child[0];
  const record<C>& b = *r.child[1];
  if (a.send != nullptr && b.send != nullptr && arrived.kind() != record_kind::leaf) {
    const record_in_memory<C> once(w, arrived);
    return send_binary(w, r, once.r);
  }
  const record<C>& g = arrived;
  switch (static_cast<kernels::operation>(r.index)) {
    case kernels::operation::add:
      send_reduced(w, a, g);
      return send_reduced(w, b, g);
    case kernels::operation::subtract: {
      send_reduced(w, a, g);
      adjoint_record<C> negated(records::unary<C>, g);
      negated.r.index = static_cast<std::ptrdiff_t>(kernels::function::negate);
      negated.r.child[0] = &g;
      return send_reduced(w, b, negated.r);
    }
    case kernels::operation::multiply:
      send_zipped(w, kernels::operation::send_times, a, g, b);
      return send_zipped(w, kernels::operation::send_times, b, g, a);
    case kernels::operation::divide:
      send_zipped(w, kernels::operation::send_divided, a, g, b);
      return send_partial(w, r, g, 1);
    case kernels::operation::max:
    case kernels::operation::min:
      send_partial(w, r, g, 0);
      return send_partial(w, r, g, 1);
    case kernels::operation::hide:
    case kernels::operation::send_times:
    case kernels::operation::send_divided:
      break;  // of adjoints alone
  }
}
#pragma GCC diagnostic pop

template <class C>
void send_partials(walk& w, const record<C>& r, const record<C>& g) {
  const record_in_memory<C> once(w, g);
  for (std::size_t k = 0; k < 2; ++k) { send_partial(w, r, once.r, k); }
  if (r.operation == &records::clamped<C>) { send_partial(w, r, once.r, 2); }
}

// `g` where the condition, or the mask, of `r` takes operand `k`; `number` elsewhere.
template <class C>
void send_where(walk& w, const record<C>& r, const record<C>& g, std::size_t k, double number) {
  if (r.child[k]->send == nullptr) { return; }
  adjoint_record<C> back(records::chosen<C>, g);
  back.r.mask_facts = r.mask_facts;
  back.r.mask = r.mask;
  back.r.node_extents = r.node_extents;
  back.r.number = number;
  back.r.child[k] = &g;
  send_reduced(w, *r.child[k], back.r);
}
template <class C>
void send_chosen(walk& w, const record<C>& r, const record<C>& g) {
  const record_in_memory<C> once(w, g);
  send_where(w, r, once.r, 0, 0);
  send_where(w, r, once.r, 1, 0);
}
// What is hidden gets −0, which a product leaves out.
template <class C>
void send_masked(walk& w, const record<C>& r, const record<C>& g) {
  send_where(w, r, g, 0, -0.0);
}
template <class C>
void send_biased(walk& w, const record<C>& r, const record<C>& g) {
  const record_in_memory<C> once(w, g);
  send_reduced(w, *r.child[0], once.r);
  send_reduced(w, *r.child[1], once.r);
}

// ---- rows and totals -------------------------------------------------------------------------------------------------

template <class C, class How>
void send_rows(walk& w, const record<C>& r, const record<C>& g) {
  const record<C>& x = *r.child[0];
  adjoint_record<C> back(records::rows_back<C, How>, x);
  back.r.facts = r.facts;
  back.r.number = r.number;
  back.r.child[0] = &g;
  if constexpr (How::backward == backward_reads::result) {
    const record_in_memory<C> row(w, r);
    back.r.child[1] = &row.r;
    send_to(w, x, back.r);
  } else {
    static_assert(How::backward == backward_reads::operand);
    const plain_value_of<C> row(x);
    back.r.child[1] = row.value;
    send_to(w, x, back.r);
  }
}

template <class C>
void send_repeated(walk& w, const record<C>& x, const record<C>& g) {
  static constexpr view_facts of_broadcast{view_kind::broadcast};
  adjoint_record<C> back(records::view<C>, x);
  back.r.facts = &of_broadcast;
  back.r.index = 0;
  back.r.child[0] = &g;
  send_to(w, x, back.r);
}
template <class C>
double elements_over(const record<C>& x, name_list over) {
  axis extents[max_rank] = {};
  x.write_extents(extents);
  double count = 1;
  for (const name_of name : over) { count *= static_cast<double>(extents[x.shape->axes.place_of(name)].extent); }
  return count;
}
template <class C, class How>
void send_total(walk& w, const record<C>& r, const record<C>& g) {
  const record<C>& x = *r.child[0];
  const auto& over = r.template facts_as<name_list>();
  const plain_value_of<C> value(x);
  if constexpr (std::is_same_v<How, totals::logsumexp>) {  // g · softmax(x)
    adjoint_record<C> weights(records::rows<C, rows::softmax>, x);
    weights.r.facts = r.facts;
    weights.r.number = 0;
    weights.r.child[0] = value.value;
    adjoint_record<C> back(records::binary<C>, x);
    back.r.index = static_cast<std::ptrdiff_t>(kernels::operation::send_times);
    back.r.child[0] = &g;
    back.r.child[1] = &weights.r;
    return send_to(w, x, back.r);
  } else {
    if (!x.shape->masked) {
      if constexpr (std::is_same_v<How, totals::sum>) { return send_repeated(w, x, g); }
      if constexpr (std::is_same_v<How, totals::mean>) {
        const double count = elements_over(x, over);
        const double factor = count == 0 ? 0.0 : 1.0 / count;
        if (g.rank() == 0) {  // of one number
          const record_of_number<C> each(static_cast<double>(*read_record(w, g).data) * factor);
          return send_repeated(w, x, each.r);
        }
        const record_of_number<C> share(factor);
        adjoint_record<C> each(records::binary<C>, g);
        each.r.index = static_cast<std::ptrdiff_t>(kernels::operation::multiply);
        each.r.child[0] = &g;
        each.r.child[1] = &share.r;
        return send_repeated(w, x, each.r);
      }
    }
    adjoint_record<C> back(records::total_back<C, How>, x);
    back.r.facts = r.facts;
    back.r.index = x.shape->masked;
    back.r.child[0] = &g;
    back.r.child[1] = value.value;
    send_to(w, x, back.r);
  }
}

// ---- leaves ----------------------------------------------------------------------------------------------------------

template <class T>
void add_gradients(context& cx, std::size_t n, std::size_t given, T* to, const T* a, const T* b) {
  if (n != given) {
    raise<extent_error>(error{} << "gradient: " << given << " elements arrive where " << n << " are expected (R15)");
  }
#if !defined(DIMWISE_PLAIN_ONLY)
  if (!cx.reference_forced() && n >= least_row) {
    cx.count(plan_kind::map);
    return in_parts(cx, n, part_elements, [&](std::size_t begin, std::size_t end) {
      kernels::active_for<T>().zip(kernels::operation::add, end - begin, a + begin, 1, b + begin, 1, to + begin);
    });
  }
#endif
  cx.count(plan_kind::plain);
  for (std::size_t i = 0; i < n; ++i) { to[i] = a[i] + b[i]; }
}

template <class T>
void write_record_of_gradient(const record<T>& g, name_list names, target<T> to, const T* onto) {
  walk w{current_context(), nullptr};
  axis axes[max_rank] = {};
  for (std::size_t i = 0; i < g.rank(); ++i) { axes[i] = to.axes[names.place_of(g.shape->axes.at[i])]; }
  if (onto == nullptr) { return write_record(w, g, {to.data, axes}); }
  lowered<T> at;
  for (std::size_t i = 0; i < g.rank(); ++i) { at.axes[i] = axes[i]; }
  at.data = onto;
  const record_in_memory<T> before(static_cast<lowered<T>&&>(at), g);  // one record with `g`: a product adds
  adjoint_record<T> sum(records::binary<T>, g);
  sum.r.index = static_cast<std::ptrdiff_t>(kernels::operation::add);
  sum.r.child[0] = &g;
  sum.r.child[1] = &before.r;
  write_record(w, sum.r, {to.data, axes});
}
// A number in double met a value in float, as in the losses that `check_gradient` compiles, or the reverse.
template <class T, class C>
void write_converted(const record<C>& g, name_list names, target<T> to, const T* onto) {
  walk w{current_context(), nullptr};
  const auto x = read_record(w, g);
  const auto nest = nest_by_names<1>(names, to.axes, {g.shape->axes}, {x.axes});
  kernels::for_each_element(nest, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    to.data[t] = (onto == nullptr ? T(0) : onto[t]) + static_cast<T>(x.data[f]);
  });
}
template <class T>
void write_gradient(const gradient_in_record& g, name_list names, target<T> to, const T* onto) {
  if constexpr (std::is_same_v<T, float>) {
    if (g.in_float == nullptr) { return write_converted(*g.in_double, names, to, onto); }
    write_record_of_gradient(*g.in_float, names, to, onto);
  } else {
    if (g.in_double == nullptr) { return write_converted(*g.in_float, names, to, onto); }
    write_record_of_gradient(*g.in_double, names, to, onto);
  }
}

#if DIMWISE_DETAIL_HAS_LIBRARY
#if !defined(DIMWISE_PLAIN_ONLY)
template bool send_attention<float>(walk&, const record<float>&, const attention_back&);
#endif
#define DIMWISE_DETAIL_COMPILED_IN(C)                                                         \
  template void send_to<C>(walk&, const record<C>&, const record<C>&);                        \
  template void send_leaf<C>(walk&, const record<C>&, const record<C>&);                      \
  template void send_view<C>(walk&, const record<C>&, const record<C>&);                      \
  template void send_product<C>(walk&, const record<C>&, const record<C>&);                   \
  template void send_unary<C>(walk&, const record<C>&, const record<C>&);                     \
  template void send_binary<C>(walk&, const record<C>&, const record<C>&);                    \
  template void send_partials<C>(walk&, const record<C>&, const record<C>&);                  \
  template void send_chosen<C>(walk&, const record<C>&, const record<C>&);                    \
  template void send_masked<C>(walk&, const record<C>&, const record<C>&);                    \
  template void send_biased<C>(walk&, const record<C>&, const record<C>&);                    \
  template void write_gradient<C>(const gradient_in_record&, name_list, target<C>, const C*); \
  template void add_gradients<C>(context&, std::size_t, std::size_t, C*, const C*, const C*);
DIMWISE_DETAIL_COMPILED_IN(float)
DIMWISE_DETAIL_COMPILED_IN(double)
#undef DIMWISE_DETAIL_COMPILED_IN
#define DIMWISE_DETAIL_COMPILED_OF(function, How)                                        \
  template void function<float, How>(walk&, const record<float>&, const record<float>&); \
  template void function<double, How>(walk&, const record<double>&, const record<double>&);
#define DIMWISE_DETAIL_COMPILED_none(function, How)
#define DIMWISE_DETAIL_COMPILED_formula(function, How) DIMWISE_DETAIL_COMPILED_OF(function, How)
#define DIMWISE_DETAIL_COMPILED_operand(function, How) DIMWISE_DETAIL_COMPILED_OF(function, How)
#define DIMWISE_DETAIL_COMPILED_result(function, How) DIMWISE_DETAIL_COMPILED_OF(function, How)
#define DIMWISE_DETAIL_COMPILED_ROW(word, text, reads) DIMWISE_DETAIL_COMPILED_##reads(send_rows, rows::word)
#define DIMWISE_DETAIL_COMPILED_TOTAL(word, text, reads) DIMWISE_DETAIL_COMPILED_##reads(send_total, totals::word)
DIMWISE_DETAIL_ROWS(DIMWISE_DETAIL_COMPILED_ROW)
DIMWISE_DETAIL_COMPILED_OF(send_rows, rows::sort<false>)
DIMWISE_DETAIL_COMPILED_OF(send_rows, rows::sort<true>)
DIMWISE_DETAIL_TOTALS(DIMWISE_DETAIL_COMPILED_TOTAL)
#undef DIMWISE_DETAIL_COMPILED_TOTAL
#undef DIMWISE_DETAIL_COMPILED_ROW
#undef DIMWISE_DETAIL_COMPILED_result
#undef DIMWISE_DETAIL_COMPILED_operand
#undef DIMWISE_DETAIL_COMPILED_formula
#undef DIMWISE_DETAIL_COMPILED_none
#undef DIMWISE_DETAIL_COMPILED_OF
#endif

}  // namespace dimwise::detail
