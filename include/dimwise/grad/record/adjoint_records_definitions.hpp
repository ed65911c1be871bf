// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/adjoint_records_definitions.hpp -- the records that adjoints make, and how they are sent on.
//
// Layer: grad. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/
#pragma once

#include <dimwise/eval/kernels/backward_definitions.hpp>

#include <initializer_list>
#include <optional>

namespace dimwise::detail {

// ---- the records that adjoints make ---------------------------------------------------------------------------------

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

// `g`, in memory if several of the operands get it.
template <class C>
class gradient_of_several {
  std::optional<record_in_memory<C>> kept_{};

 public:
  const record<C>& g;

  gradient_of_several(walk& w, const record<C>& arrived, std::initializer_list<const record<C>*> operands)
      : g(is_read_often(arrived, operands) ? kept_.emplace(w, arrived).r : arrived) {}

 private:
  static bool is_read_often(const record<C>& arrived, std::initializer_list<const record<C>*> operands) {
    std::size_t tracked = 0;
    for (const record<C>* const x : operands) { tracked += x != nullptr && x->send != nullptr ? 1 : 0; }
    return tracked > 1 && arrived.kind() != record_kind::leaf;
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

// ---- sending --------------------------------------------------------------------------------------------------------

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

// The same for an operand that may lack dimensions of `g`: it was the same along them.
template <class C>
void send_reduced(walk& w, const record<C>& x, const record<C>& g) {
  if (x.send == nullptr) { return; }
  const axis_names over(g.shape->axes, x.shape->axes, false);
  if (over.size == 0) { return send_to(w, x, g); }
  const name_list names = over.names();
  adjoint_record<C> sum(records::total<C, totals::sum>, x);
  sum.r.facts = &names;
  sum.r.child[0] = &g;
  send_to(w, x, sum.r);
}

}  // namespace dimwise::detail
