// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/tied_parameters_definitions.hpp -- the messages of tied parameters (support/library.hpp).
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/messages/hash_elements.hpp>
#include <dimwise/ranks/training/gradients_definitions.hpp>
#include <dimwise/ranks/training/tied_parameters.hpp>
#include <dimwise/support/text_warning.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::detail {

inline std::uint64_t number_of_elements(const parameter_list& from, const gradient_bucket& bucket) {
  std::uint64_t number = 0;
  for (const std::size_t i : bucket.parameters) {
    number = ranks::detail::hash_elements(static_cast<const std::byte*>(from.data(i)),
                                          from.size(i) * bucket.bytes_of_one, number);
  }
  return number;
}

inline std::vector<std::byte> packed_elements(const parameter_list& from, const gradient_bucket& bucket) {
  std::vector<std::byte> elements(bucket.elements * bucket.bytes_of_one);
  pack_bucket(from, bucket, elements.data());
  return elements;
}
inline std::string text_of_tied(const parameter_list& all, const gradient_bucket& bucket, const std::string& of) {
  return "gradients of " + std::to_string(bucket.parameters.size()) + " tied parameters from " +
         all.name(bucket.parameters.front()) + of;
}
inline std::string of_micro_batch(std::size_t batch) { return " of micro-batch " + std::to_string(batch); }

DIMWISE_DETAIL_LIBRARY tied_parameters::tied_parameters(const parameter_list& model, const ranks::communicator& stages)
    : stages_(stages) {
  for (std::size_t i = 0; i < model.count(); ++i) {
    if (!model.is_tied(i)) { continue; }
    own_parameters_.parameters.push_back(i);
    own_parameters_.elements += model.size(i);
    own_parameters_.bytes_of_one = model.type(i).passes->bytes;
  }
  using numbers = std::array<std::uint64_t, 3>;
  const numbers mine{count(), own_parameters_.elements, number_of_elements(model, own_parameters_)};
  std::vector<numbers> all(stages.size());
  const std::vector<std::size_t> three(stages.size(), mine.size());
  stages.all_gather(mine.data(), all.data()->data(), three.data(), "tied parameters of each stage");
  for (std::size_t s = 0; s < all.size(); ++s) {
    if (all[s][0] == 0) { continue; }
    if (s == stages.rank()) { own_ = holders_.size(); }
    holders_.push_back(s);
    const std::size_t first = holders_.front();
    if (all[s][0] != all[first][0] || all[s][1] != all[first][1]) {
      raise<extent_error>(error{} << "value_and_gradient: stage " << first << " has " << std::size_t{all[first][0]}
                                  << " tied parameters of " << std::size_t{all[first][1]} << " elements, and stage "
                                  << s << " has " << std::size_t{all[s][0]} << " of " << std::size_t{all[s][1]});
    }
    if (all[s][2] != all[first][2]) {
      throw ranks::rank_error("value_and_gradient: the tied parameters of stage " + std::to_string(s) +
                                  " have other elements than those of stage " + std::to_string(first) +
                                  "; they begin as copies of one another",
                              stages.rank_in_world(s));
    }
  }
}

DIMWISE_DETAIL_LIBRARY std::vector<bool> tied_parameters::among(const parameter_list& model) const {
  std::vector<bool> is(model.count());
  for (const std::size_t i : own_parameters_.parameters) { is[i] = true; }
  return is;
}

DIMWISE_DETAIL_LIBRARY void tied_parameters::receive(const parameter_list& through, const parameter_origins& origins,
                                                     std::size_t batch) const {
  std::vector<std::byte> elements(own_parameters_.elements * own_parameters_.bytes_of_one);
  with_elements(own_parameters_.bytes_of_one, elements.data(), [&](auto* all) {
    stages_
        .start_receive(all, own_parameters_.elements, holders_[own_ + 1],
                       text_of_tied(through, own_parameters_, of_micro_batch(batch)))
        .wait();
  });
  unpack_bucket(elements.data(), own_parameters_, through);
  for (const std::size_t i : own_parameters_.parameters) { through.send_gradient(i, *origins[i]); }
}

inline void tied_parameters::start(std::vector<std::byte> elements, std::size_t to, const std::string& text) {
  while (!sending_.empty() && sending_.front().request.done()) { sending_.pop_front(); }
  message& one = sending_.emplace_back(message{std::move(elements), {}});
  one.request = with_elements(own_parameters_.bytes_of_one, one.elements.data(), [&](const auto* all) {
    return stages_.start_send(all, own_parameters_.elements, to, text);
  });
}

DIMWISE_DETAIL_LIBRARY void tied_parameters::send(const parameter_list& to, const parameter_origins& origins,
                                                  std::size_t batch) {
  for (const std::size_t i : own_parameters_.parameters) { to.take_gradient(i, *origins[i]); }
  start(packed_elements(to, own_parameters_), holders_[own_ - 1],
        text_of_tied(to, own_parameters_, of_micro_batch(batch)));
}

DIMWISE_DETAIL_LIBRARY void tied_parameters::share(const parameter_list& sums) {
  if (has_earlier()) {
    std::vector<std::byte> elements(own_parameters_.elements * own_parameters_.bytes_of_one);
    with_elements(own_parameters_.bytes_of_one, elements.data(), [&](auto* all) {
      stages_.start_receive(all, own_parameters_.elements, holders_.front(), text_of_tied(sums, own_parameters_, {}))
          .wait();
    });
    unpack_bucket(elements.data(), own_parameters_, sums);
  } else if (has_later()) {
    const std::vector<std::byte> elements = packed_elements(sums, own_parameters_);
    for (std::size_t k = 1; k < holders_.size(); ++k) {
      start(elements, holders_[k], text_of_tied(sums, own_parameters_, {}));
    }
  }
  for (; !sending_.empty(); sending_.pop_front()) { sending_.front().request.wait(); }
}

}  // namespace dimwise::detail
DIMWISE_DETAIL_TEXT_END;
