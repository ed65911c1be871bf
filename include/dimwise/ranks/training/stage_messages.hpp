// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/stage_messages.hpp -- the tensors that stages of a pipeline pass to each other.
//
// Layer: ranks.
// Tests: tests/ranks/training/stages.test.cpp
#pragma once

#include <dimwise/ranks/collectives.hpp>

#include <cstddef>
#include <deque>
#include <string>

namespace dimwise::detail {

// A tensor on its way to a neighbouring stage: its extents, if they are run-time values, and its elements.
template <class Tensor>
struct passed_on {
  Tensor value;
  ranks::request extents;
  ranks::request elements;
};
template <class Tensor>
std::string text_of_passed(const char* what, std::size_t batch, const Tensor& value) {
  return what + std::to_string(batch) + call_text("", dims_t<shape_of<Tensor>>{}, value.extents());
}
// The facts that stages compare before the receiver has the extents: the dimensions, and the static extents.
template <class... D>
std::string text_of_extents(std::size_t batch, list<D...>) {
  std::string all = "the extents of micro-batch " + std::to_string(batch);
  const char* between = " [";
  const auto add = [&](text name, extent_t extent) {
    all += between;
    all.append(name.begin, name.length);
    if (extent != at_run_time) { all += " " + std::to_string(extent); }
    between = ", ";
  };
  (add(dimension_name<D>(), D::static_extent), ...);
  return all + "]";
}

template <class Tensor>
inline constexpr std::size_t slots_of = extents_for<shape_of<Tensor>>::slotted::size;

// To the next stage: the receiver takes the extents from the message.
template <class Tensor>
void send_to_next(std::deque<passed_on<Tensor>>& sending, const Tensor& x, std::size_t batch,
                  const ranks::communicator& stages) {
  constexpr const char* what = "micro-batch ";
  passed_on<Tensor>& one = sending.emplace_back(passed_on<Tensor>{x, {}, {}});
  const Tensor& sent = one.value;
  const std::size_t to = stages.rank() + 1;
  if constexpr (slots_of<Tensor> > 0) {
    one.extents = stages.start_send(sent.extents().slots(), slots_of<Tensor>, to,
                                    text_of_extents(batch, dims_t<shape_of<Tensor>>{}));
  }
  one.elements = stages.start_send(sent.data(), sent.size(), to, text_of_passed(what, batch, sent));
}
template <class Tensor>
Tensor receive_from_previous(std::size_t batch, const ranks::communicator& stages) {
  constexpr const char* what = "micro-batch ";
  typename Tensor::extents_type e;
  const std::size_t from = stages.rank() - 1;
  if constexpr (slots_of<Tensor> > 0) {
    stages.start_receive(e.slots(), slots_of<Tensor>, from, text_of_extents(batch, dims_t<shape_of<Tensor>>{})).wait();
  }
  auto x = Tensor::for_overwriting(e);
  auto* const elements = x.overwrite();
  stages.start_receive(elements, x.size(), from, text_of_passed(what, batch, x)).wait();
  return x;
}
// The gradient goes back: the vector-Jacobian product of the two above. Both stages know the extents.
template <class Tensor>
void send_to_previous(std::deque<passed_on<Tensor>>& sending, const Tensor& g, std::size_t batch,
                      const ranks::communicator& stages) {
  passed_on<Tensor>& one = sending.emplace_back(passed_on<Tensor>{g, {}, {}});
  const Tensor& sent = one.value;
  one.elements = stages.start_send(sent.data(), sent.size(), stages.rank() - 1,
                                   text_of_passed("gradient of micro-batch ", batch, sent));
}
template <class Tensor>
Tensor receive_from_next(const typename Tensor::extents_type& e, std::size_t batch, const ranks::communicator& stages) {
  auto g = Tensor::for_overwriting(e);
  auto* const elements = g.overwrite();
  stages.start_receive(elements, g.size(), stages.rank() + 1, text_of_passed("gradient of micro-batch ", batch, g))
      .wait();
  return g;
}
// Forgets what has arrived.
template <class Tensor>
void forget_arrived(std::deque<passed_on<Tensor>>& sending) {
  while (!sending.empty() && sending.front().extents.done() && sending.front().elements.done()) { sending.pop_front(); }
}
template <class Tensor>
void wait_for_all(std::deque<passed_on<Tensor>>& sending) {
  for (; !sending.empty(); sending.pop_front()) {
    sending.front().extents.wait();
    sending.front().elements.wait();
  }
}

}  // namespace dimwise::detail
