// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/optimiser_definitions.hpp -- the steps of optimisers over ranks (support/library.hpp).
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/training/gradients_definitions.hpp>
#include <dimwise/ranks/training/optimiser.hpp>
#include <dimwise/support/text_warning.hpp>

#include <algorithm>
#include <cstring>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::detail {

// The elements that ranks exchange at a time, of all ranks together, in bytes.
inline constexpr std::size_t bytes_of_round = std::size_t{1} << 20U;

// f(parameter, first element, number of elements, their place among the elements of the spans) for the elements from
// `begin` to `end`.
template <class F>
void each_piece(const std::vector<element_span>& spans, std::size_t begin, std::size_t end, const F& f) {
  std::size_t at = 0;
  for (const element_span& span : spans) {
    const std::size_t n = span.end - span.begin;
    const std::size_t from = std::max(at, begin);
    const std::size_t to = std::min(at + n, end);
    if (from < to) { f(span.parameter, span.begin + (from - at), to - from, from); }
    at += n;
  }
}
inline const std::byte* element_at(const parameter_list& of, std::size_t parameter, std::size_t element,
                                   std::size_t bytes_of_one) {
  return static_cast<const std::byte*>(of.data(parameter)) + element * bytes_of_one;
}
inline std::byte* element_to_write(const parameter_list& of, std::size_t parameter, std::size_t element,
                                   std::size_t bytes_of_one) {
  return static_cast<std::byte*>(of.overwrite(parameter)) + element * bytes_of_one;
}

// One round over a group: some elements of each rank, one rank after another in a buffer.
struct optimiser_round {
  optimiser_round(const optimised_group& of, std::size_t ranks, std::size_t own_rank, std::size_t number)
      : group(of), own(own_rank), counts(ranks), places(ranks), begins(ranks), ends(ranks) {
    const std::size_t some = std::max<std::size_t>(1, bytes_of_round / of.bytes_of_one / ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::size_t size = of.is_divided && r != own_rank ? 0 : of.sizes[r];
      begins[r] = std::min(size, number * some);
      ends[r] = std::min(size, begins[r] + some);
      counts[r] = ends[r] - begins[r];
      places[r] = total;
      total += counts[r];
    }
  }
  // f(parameter, first element, number of elements, place in the buffer, place among the rank's elements).
  template <class F>
  void each(std::size_t rank, const F& f) const {
    each_piece(group.spans[rank], begins[rank], ends[rank],
               [&](std::size_t parameter, std::size_t first, std::size_t n, std::size_t place) {
      f(parameter, first, n, places[rank] + (place - begins[rank]), place);
    });
  }

  const optimised_group& group;
  std::size_t own;
  std::vector<std::size_t> counts;
  std::vector<std::size_t> places;
  std::vector<std::size_t> begins;
  std::vector<std::size_t> ends;
  std::size_t total = 0;
};
// f(round) until all elements of a group had their turn.
template <class F>
void each_round_of(const optimised_group& group, const ranks::communicator& along, const F& f) {
  for (std::size_t number = 0;; ++number) {
    const optimiser_round round(group, along.size(), along.rank(), number);
    if (round.total == 0) { return; }
    f(round);
  }
}
// The elements of all ranks, of which this rank has its own in the buffer.
inline void gather_round(std::vector<std::byte>& buffer, const optimiser_round& round, const ranks::communicator& along,
                         const char* what) {
  if (round.group.is_divided || along.size() == 1) { return; }
  with_elements(round.group.bytes_of_one, buffer.data(),
                [&](auto* all) { along.all_gather(all + round.places[round.own], all, round.counts.data(), what); });
}

DIMWISE_DETAIL_LIBRARY optimiser_parts::optimiser_parts(const parameter_list& model, const ranks::communicator& along,
                                                        axis_key axis, std::size_t states)
    : along_(along) {
  const std::size_t ranks = along.size();
  for (const std::size_t bytes : {sizeof(float), sizeof(double)}) {
    for (const bool is_divided : {false, true}) {
      const auto belongs = [&](std::size_t i) {
        return model.type(i).passes->bytes == bytes && model.is_divided(i, axis) == is_divided;
      };
      std::size_t total = 0;
      for (std::size_t i = 0; i < model.count(); ++i) { total += belongs(i) ? model.size(i) : 0; }
      if (total == 0) { continue; }
      optimised_group group;
      group.bytes_of_one = bytes;
      group.is_divided = is_divided;
      group.spans.resize(ranks);
      group.sizes = is_divided ? std::vector<std::size_t>(ranks, total) : ranks::detail::shares_of(total, ranks);
      std::size_t rank = is_divided ? along.rank() : 0;
      std::size_t left = group.sizes[rank];
      for (std::size_t i = 0; i < model.count(); ++i) {
        if (!belongs(i)) { continue; }
        for (std::size_t at = 0; at < model.size(i);) {
          while (left == 0) { left = group.sizes[++rank]; }
          const std::size_t n = std::min(left, model.size(i) - at);
          group.spans[rank].push_back({i, at, at + n});
          at += n;
          left -= n;
        }
      }
      group.states.assign(states, std::vector<std::byte>(group.sizes[along.rank()] * bytes));
      groups_.push_back(static_cast<optimised_group&&>(group));
    }
  }
}

template <class F>
void optimiser_parts::each_round(const parameter_list& model, const parameter_list& gradient,
                                 const gradient_terms& terms, const F& update) {
  double factor = 1;
  if (terms.is_average) {
    double count = terms.count;
    reduce_numbers(&count, 1, along_, "count of the loss");
    factor = count == 0 ? 0.0 : 1.0 / count;
  }
  std::vector<std::byte> buffer;
  for (optimised_group& group : groups_) {
    const std::size_t bytes = group.bytes_of_one;
    const bool adds = terms.has_terms && !group.is_divided && along_.size() > 1;
    each_round_of(group, along_, [&](const optimiser_round& round) {
      buffer.resize(round.total * bytes);
      for (std::size_t r = 0; r < along_.size(); ++r) {
        if (r != round.own && !adds) { continue; }
        round.each(r, [&](std::size_t i, std::size_t first, std::size_t n, std::size_t place, std::size_t) {
          std::memcpy(buffer.data() + place * bytes, element_at(gradient, i, first, bytes), n * bytes);
        });
      }
      if (adds) {
        with_elements(bytes, buffer.data(), [&](auto* all) {
          along_.reduce_scatter(all, all + round.places[round.own], round.counts.data(), "gradients of a step");
        });
      }
      round.each(round.own, [&](std::size_t i, std::size_t first, std::size_t n, std::size_t place, std::size_t state) {
        std::byte* const g = buffer.data() + place * bytes;
        if (factor != 1) { model.type(i).passes->multiply(n, g, factor); }
        std::byte* const p = element_to_write(model, i, first, bytes);
        update(i, n, g, p, group, state * bytes);
        std::memcpy(g, p, n * bytes);  // to be sent
      });
      gather_round(buffer, round, along_, "parameters of a step");
      if (group.is_divided) { return; }
      for (std::size_t r = 0; r < along_.size(); ++r) {
        if (r == round.own) { continue; }
        round.each(r, [&](std::size_t i, std::size_t first, std::size_t n, std::size_t place, std::size_t) {
          std::memcpy(element_to_write(model, i, first, bytes), buffer.data() + place * bytes, n * bytes);
        });
      }
    });
  }
}

DIMWISE_DETAIL_LIBRARY void optimiser_parts::step_sgd(const sgd_choices& by, const parameter_list& model,
                                                      const parameter_list& gradient, const gradient_terms& terms,
                                                      tensor<std::int64_t>& step) {
  model.check_same_extents("sharded_sgd", gradient, "gradient");
  const std::vector<bool> decayed = decayed_among(model, by.decayed);
  const std::size_t made = steps_made(step);
  const double rate = checked_rate(by, made);
  (void)prepared_step(gradient, {&model});
  count_step(step);
  each_round(model, gradient, terms,
             [&](std::size_t i, std::size_t n, const void* g, void* p, optimised_group& group, std::size_t at) {
    model.type(i).passes->sgd(numbers_of(by, rate, made, decayed[i]), n, g, p, group.states[0].data() + at);
  });
}

DIMWISE_DETAIL_LIBRARY void optimiser_parts::step_adam(const adam_choices& by, const parameter_list& model,
                                                       const parameter_list& gradient, const gradient_terms& terms,
                                                       tensor<std::int64_t>& step) {
  model.check_same_extents(by.name, gradient, "gradient");
  const std::vector<bool> decayed = decayed_among(model, by.decayed);
  const std::size_t made = steps_made(step);
  const double rate = checked_rate(by, made);
  whole_passes passes = prepared_step(gradient, {&model});
  count_step(step);
  each_round(model, gradient, terms,
             [&](std::size_t i, std::size_t n, const void* g, void* p, optimised_group& group, std::size_t at) {
    model.type(i).passes->adam(passes, numbers_of(by, rate, made, decayed[i]), n, g, p, group.states[0].data() + at,
                               group.states[1].data() + at);
  });
  passes.finish();
}

DIMWISE_DETAIL_LIBRARY void optimiser_parts::gather(std::size_t state, const parameter_list& to) const {
  std::vector<std::byte> buffer;
  for (const optimised_group& group : groups_) {
    const std::size_t bytes = group.bytes_of_one;
    each_round_of(group, along_, [&](const optimiser_round& round) {
      buffer.resize(round.total * bytes);
      std::copy_n(group.states[state].data() + round.begins[round.own] * bytes, round.counts[round.own] * bytes,
                  buffer.data() + round.places[round.own] * bytes);
      gather_round(buffer, round, along_, "state of an optimiser");
      for (std::size_t r = 0; r < along_.size(); ++r) {
        round.each(r, [&](std::size_t i, std::size_t first, std::size_t n, std::size_t place, std::size_t) {
          std::memcpy(element_to_write(to, i, first, bytes), buffer.data() + place * bytes, n * bytes);
        });
      }
    });
  }
}

DIMWISE_DETAIL_LIBRARY void optimiser_parts::take(std::size_t state, const parameter_list& from) {
  for (optimised_group& group : groups_) {
    const std::size_t bytes = group.bytes_of_one;
    const std::size_t own = along_.rank();
    each_piece(group.spans[own], 0, group.sizes[own],
               [&](std::size_t i, std::size_t first, std::size_t n, std::size_t place) {
      if (i >= from.count() || first + n > from.size(i)) {
        raise<extent_error>(error{} << "set_state: the state is that of a model with other extents (R15)");
      }
      std::memcpy(group.states[state].data() + place * bytes, element_at(from, i, first, bytes), n * bytes);
    });
  }
}

DIMWISE_DETAIL_LIBRARY std::size_t optimiser_parts::bytes() const {
  std::size_t all = 0;
  for (const optimised_group& group : groups_) {
    for (const std::vector<std::byte>& one : group.states) { all += one.size(); }
  }
  return all;
}

}  // namespace dimwise::detail
DIMWISE_DETAIL_TEXT_END;
