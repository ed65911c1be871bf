// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/stored_formula_definitions.hpp -- a formula computed, recorded and sent by its records.
//
// Layer: grad. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/tracked.test.cpp, tests/grad/operations/attention.test.cpp
#pragma once

#include <dimwise/eval/attention/gradient.hpp>
#include <dimwise/grad/record/adjoints_definitions.hpp>
#include <dimwise/grad/record/erased.hpp>
#include <dimwise/grad/record/stored_formula.hpp>

#include <vector>

namespace dimwise::detail {

template <class T>
class formed_records {
 public:
  formed_records(const formula_type<T>& type, const void* formula) : all_(type.records), root_(form(type, formula)) {}
  formed_records(const formed_records&) = delete;
  formed_records& operator=(const formed_records&) = delete;

  [[nodiscard]] const record<T>& root() const { return *root_; }
  // All are looked at: each may be part of another record.
  [[nodiscard]] bool has_origin(std::uint64_t number) const {
    bool any = false;
    for (const record<T>& r : all_) {
      if (r.origin != nullptr) { any = belongs_to(r.origin->record(), number) || any; }
      if (r.has_origin != nullptr) { any = r.has_origin(r.node, number) || any; }
    }
    return any;
  }

 private:
  const record<T>* form(const formula_type<T>& type, const void* formula) {
    record_stack<T> stack{all_.data()};
    return type.form(stack, formula);
  }

  std::vector<record<T>> all_;  // zeros where an operation sets nothing
  const record<T>* root_;
};

// The memory of a value: its axes in their order, and in that of the root of its formula, whose extents are known.
struct axes_in_memory {
  name_list names;
  axis in_order[max_rank] = {};
  axis of_root[max_rank] = {};

  template <class T>
  axes_in_memory(const value_axes& of, const record<T>& root) : names(of.names) {
    axis extents[max_rank];
    root.write_extents(extents);
    const name_list given = root.shape->axes;
    for (std::size_t i = 0; i < names.size; ++i) { in_order[i] = extents[given.place_of(names.at[i])]; }
    make_contiguous(in_order, names.size);
    for (std::size_t i = 0; i < given.size; ++i) { of_root[i] = in_order[names.place_of(given.at[i])]; }
  }
  template <class T>
  [[nodiscard]] named_memory_of<T> memory(T* data) const {
    return named_memory_at(data, in_order, names);
  }
  static void write(const void* of, axis* to) {
    const auto& all = *static_cast<const axes_in_memory*>(of);
    for (std::size_t i = 0; i < all.names.size; ++i) { to[i] = all.in_order[i]; }
  }
};

// What the gradient of a value is sent to.
template <class T>
struct kept_formula {
  const formula_type<T>& type;
  void* formula;
  bool is_attention = false;  // that a kernel has computed: its value and its sums
  shared_storage<T> value{};
  attention_sums<T> sums{};

  kept_formula(const formula_type<T>& of, const void* original) : type(of), formula(of.copy(original)) {}
  kept_formula(const kept_formula&) = delete;
  kept_formula& operator=(const kept_formula&) = delete;
  ~kept_formula() { type.destroy(formula); }
};

template <class T>
void send_records(kept_formula<T>& kept, const value_axes& of, const shared_storage<T>& g) {
  const formed_records<T> all(kept.type, kept.formula);
  const record<T>& root = all.root();
  const axes_in_memory axes(of, root);
  walk w{current_context(), nullptr};
  if constexpr (kernels::available) {
    if (kept.is_attention && !w.cx.reference_forced()) {
      attention_back<T> back;
      back.out = axes.memory(const_cast<T*>(kept.value.read()));  // is read
      back.sums = kept.sums.memory();
      back.g = axes.memory(g.read());
      if (send_attention(w, root, back)) { return; }
    }
  }
  const record_shape shape{of.names, of.facts, nullptr, &axes_in_memory::write, false};
  record<T> gradient{};
  gradient.operation = &records::shared_leaf<T>;
  gradient.shape = &shape;
  gradient.extents = &axes;
  gradient.name = "gradient";
  gradient.node = &g;
  gradient.leaves_out = kernels::left_out::nothing;
  gradient.is_float = std::is_same_v<T, float>;
  gradient.has_kernels = kernels::available;
  send_to(w, root, gradient);
}
// The action of a value of T that was computed by a formula.
template <class T>
void send_formula(void* kept, recorded* value) {
  const owner<kept_formula<T>> owned(static_cast<kept_formula<T>*>(kept));
  if (value == nullptr) { return; }
  auto& from = static_cast<recorded_value<T>&>(*value);
  const shared_storage<T> g = from.taken();
  send_as_statement(from.axes().mesh, owned->type.holds_erased, [&] { send_records(*owned, from.axes(), g); });
}

// Attention that a kernel computes and keeps the sums of; false where none does.
template <class T>
bool store_attention(walk& w, const record<T>& root, const stored_elements_of<T>& to, const axes_in_memory& axes,
                     attention_sums<T>& sums) {
  return root.kind() == record_kind::product && !w.cx.reference_forced() &&
         attend_for_gradient(w, root, target<T>{to.first, axes.of_root}, sums);
}

template <class T>
origin_pointer store_formula(const formula_type<T>& type, const void* formula, const stored_elements_of<T>& to) {
  gradient_record* const record = gradient_record::current();
  const formed_records<T> all(type, formula);
  const bool recorded = all.has_origin(record == nullptr ? 0 : record->number());
  const axes_in_memory axes(to.axes, all.root());
  walk w{current_context(), nullptr};
  // By one kernel whether it is recorded or not: a recomputed layer has the same bits as before.
  attention_sums<T> sums;
  bool is_attention = false;
  if constexpr (kernels::available) {
    is_attention = !to.are_computed && to.count > 0 && store_attention(w, all.root(), to, axes, sums);
  }
  if (!to.are_computed && !is_attention) { write_record(w, all.root(), target<T>{to.first, axes.of_root}); }
  if (!recorded) { return {}; }
  owner<kept_formula<T>> kept(new kept_formula<T>(type, formula));
  if (is_attention) {
    kept->is_attention = true;
    kept->sums = static_cast<attention_sums<T>&&>(sums);
    kept->value = to.shared != nullptr ? *to.shared : shared_copy<T>(to.first, to.count);
  }
  origin_pointer origin = new_recorded_value<T>(record->number(), to.axes);
  origin->keep(kept.release(), &send_formula<T>);
  record->add(origin);
  return origin;
}

#if DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_COMPILED_IN(T) \
  template origin_pointer store_formula<T>(const formula_type<T>&, const void*, const stored_elements_of<T>&);
DIMWISE_DETAIL_COMPILED_IN(float)
DIMWISE_DETAIL_COMPILED_IN(double)
#undef DIMWISE_DETAIL_COMPILED_IN
#endif

}  // namespace dimwise::detail
