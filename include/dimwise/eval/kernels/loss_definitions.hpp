// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/loss_definitions.hpp -- cross-entropy and its gradient: by vectorized kernels where rows of
// logits are contiguous, else by the reference loops.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/training/kernels.test.cpp
#pragma once

#include <dimwise/eval/kernels/elements.hpp>
#include <dimwise/eval/kernels/loss.hpp>
#include <dimwise/eval/loops/loss.hpp>
#include <dimwise/eval/records/walk_definitions.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>

namespace dimwise::detail {

// The operands of a loss in memory.
template <class C>
struct loss_of_record {
  const record<C>& loss;
  const record<C>& of_logits;
  const id_facts_of_record& facts;
  lowered<C> logits;
  lowered<C> weights;
  lowered<C> probabilities;
  lowered<std::size_t> ids;
  lowered<bool> counted;

  loss_of_record(walk& w, const record<C>& r, const record<C>& x)
      : loss(r),
        of_logits(x),
        facts(r.template facts_as<id_facts_of_record>()),
        logits(read_record(w, x)),
        weights(read_record(w, *r.child[1])) {
    if (has_ids()) {
      ids = facts.read(w, r.node);
    } else {
      probabilities = read_record(w, *r.child[2]);
    }
    if (r.mask_facts != nullptr) { counted = r.mask_facts->read(w, r.mask, r.node_extents); }
  }

  [[nodiscard]] bool has_ids() const { return facts.read != nullptr; }
  [[nodiscard]] bool has_weights() const { return loss.child[1]->kind() != record_kind::number; }
  [[nodiscard]] loss_operands<C> operands(bool divergence) const {
    return {logits.data, ids.data, probabilities.data, weights.data, counted.data, loss.number, divergence, facts.name};
  }
  // `row` is the loss of each row, or the gradient of that; `gradient` is that of the logits, where it is written.
  [[nodiscard]] loss_loops loops(name_list row_names, const axis* row, const axis* gradient) const {
    const bool masked = loss.mask_facts != nullptr;
    const name_list none{nullptr, 0};
    const name_list names[] = {of_logits.shape->axes,
                               has_ids() ? facts.id_axes : loss.child[2]->shape->axes,
                               loss.child[1]->shape->axes,
                               masked ? loss.mask_facts->axes : none,
                               row_names,
                               gradient == nullptr ? none : of_logits.shape->axes};
    const axis* const axes[] = {logits.axes, has_ids() ? ids.axes : probabilities.axes, weights.axes, counted.axes, row,
                                gradient};
    name_of rest[max_rank] = {};
    std::size_t count = 0;
    for (const name_of name : of_logits.shape->axes) {
      if (facts.dimension.place_of(name) < 0) { rest[count++] = name; }
    }
    return {nest({&rest[0], count}, names, axes), nest(facts.dimension, names, axes)};
  }

 private:
  [[nodiscard]] loss_loops::nest nest(name_list over, const name_list* names, const axis* const* axes) const {
    axis extents[max_rank];
    std::ptrdiff_t strides[loss_pointer::count][max_rank] = {};
    for (std::size_t i = 0; i < over.size; ++i) {
      extents[i] = logits.axes[of_logits.shape->axes.place_of(over.at[i])];
    }
    for (std::size_t k = 0; k < loss_pointer::count; ++k) { align_names(over, names[k], axes[k], strides[k]); }
    return nest_over(over.size, extents, strides);
  }
};

// The alternatives are contiguous, and their weights are the same for every row.
template <class C>
bool loss_rows_fit(const loss_of_record<C>& x, const loss_loops& loops, bool divergence) {
  const auto& inside = loops.alternatives;
  if (divergence || inside.rank != 1 || inside.empty() || inside.stride[loss_pointer::logits][0] != 1) { return false; }
  if (!x.has_ids() && (x.loss.number != 0 || inside.stride[loss_pointer::targets][0] != 1)) { return false; }
  if (x.has_weights()) {
    if (inside.stride[loss_pointer::weights][0] != 1) { return false; }
    for (std::size_t i = 0; i < loops.rows.rank; ++i) {
      if (loops.rows.stride[loss_pointer::weights][i] != 0) { return false; }
    }
  }
  return true;
}

// The loss of each row into `to`, or its gradient, from `factors`. An id outside throws.
template <class C>
void run_loss_rows(context& cx, const loss_of_record<C>& x, const loss_loops& loops, C* to, const C* factors) {
  using offsets = const std::ptrdiff_t(&)[loss_pointer::count];
  const std::size_t n = loops.alternatives.extent[0];
  const std::size_t rows_of_part = n >= part_elements ? 1 : part_elements / n;
  const loss_operands<C> from = x.operands(false);
  kernels::for_each_row(loops.rows, [&](offsets o, std::size_t count, offsets s) {
    const auto place = [&](std::size_t pointer, std::size_t i) {
      return o[pointer] + static_cast<std::ptrdiff_t>(i) * s[pointer];
    };
    for (std::size_t i = 0; from.ids != nullptr && i < count; ++i) {
      if (from.counted != nullptr && !from.counted[place(loss_pointer::counted, i)]) { continue; }
      (void)checked_id("cross_entropy", from.ids[place(loss_pointer::targets, i)], n, from.alternatives);
    }
    in_parts(cx, count, rows_of_part, [&](std::size_t begin, std::size_t end) {
      kernels::cross_entropy_call_of<C> part;
      part.n = n;
      part.smoothing = static_cast<C>(from.smoothing);
      if (x.has_weights()) { part.class_weight = from.weights; }
      part.rows = end - begin;
      part.logits = from.logits + place(loss_pointer::logits, begin);
      part.logits_row = s[loss_pointer::logits];
      if (from.ids != nullptr) {
        part.ids = from.ids + place(loss_pointer::targets, begin);
        part.id_step = s[loss_pointer::targets];
      } else {
        part.targets = from.probabilities + place(loss_pointer::targets, begin);
        part.targets_row = s[loss_pointer::targets];
      }
      if (from.counted != nullptr) {
        part.counted = from.counted + place(loss_pointer::counted, begin);
        part.counted_step = s[loss_pointer::counted];
      }
      if (factors == nullptr) {
        part.loss = to + place(loss_pointer::row, begin);
        part.loss_step = s[loss_pointer::row];
      } else {
        part.factor = factors + place(loss_pointer::row, begin);
        part.factor_step = s[loss_pointer::row];
        part.d_logits = to + place(loss_pointer::gradient, begin);
        part.d_logits_row = s[loss_pointer::gradient];
      }
      kernels::active_gradients_for<C>().cross_entropy(part);
    });
  });
}

template <class C>
void write_cross_entropy(walk& w, const record<C>& r, target<C> to) {
  const loss_of_record<C> x(w, r, *r.child[0]);
  const loss_loops loops = x.loops(r.shape->axes, to.axes, nullptr);
  const bool divergence = r.index != 0;
  if (runs_kernel(w, r, plan_kind::rows, loss_rows_fit(x, loops, divergence))) {
    if (w.computes()) { run_loss_rows<C>(w.cx, x, loops, to.data, nullptr); }
    return;
  }
  note(w, plan_kind::plain, r);
  if (w.computes()) { cross_entropy_by_loops(loops, to.data, x.operands(divergence)); }
}

template <class C>
void write_cross_entropy_back(walk& w, const record<C>& r, target<C> to) {
  const record<C>& g = *r.child[0];
  const auto arrived = read_record(w, g);
  const loss_of_record<C> x(w, *static_cast<const record<C>*>(r.node), *r.child[1]);
  const loss_loops loops = x.loops(g.shape->axes, arrived.axes, to.axes);
  if (runs_kernel(w, r, plan_kind::rows,
                  loss_rows_fit(x, loops, false) && loops.alternatives.stride[loss_pointer::gradient][0] == 1)) {
    if (w.computes()) { run_loss_rows<C>(w.cx, x, loops, to.data, arrived.data); }
    return;
  }
  note(w, plan_kind::plain, r);
  if (w.computes()) { cross_entropy_back_by_loops(loops, to.data, arrived.data, x.operands(false)); }
}

DIMWISE_DETAIL_COMPILED(write_cross_entropy)
DIMWISE_DETAIL_COMPILED(write_cross_entropy_back)

}  // namespace dimwise::detail
