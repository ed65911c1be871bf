// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/tied_parameters.hpp -- parameters that several stages of a pipeline have, such as tied
// embeddings: the gradients of all uses are added.
//
// Layer: ranks. On one rank, the uses of later layers send first. So the gradient of each micro-batch goes from the
// last stage that has the parameters to the one before, which adds its own: P stages have the bits of one rank. A sum
// of the step's gradients would need one message and not one for each micro-batch, and have other bits.
// Tests: tests/ranks/training/stages.test.cpp, tests/ranks/mpi/
#pragma once

#include <dimwise/ranks/training/gradients.hpp>

#include <cstddef>
#include <deque>
#include <vector>

namespace dimwise::detail {

class tied_parameters {
 public:
  /// All stages call it. Throws on all of them: `extent_error` if the stages that have the parameters have other
  /// extents, `rank_error` if they have other elements.
  DIMWISE_DETAIL_LIBRARY tied_parameters(const parameter_list& model, const ranks::communicator& stages);

  /// Whether an earlier stage has them.
  [[nodiscard]] bool has_earlier() const { return count() > 0 && own_ > 0; }
  /// Whether a later stage has them.
  [[nodiscard]] bool has_later() const { return count() > 0 && own_ + 1 < holders_.size(); }
  /// Which of the parameters of the model they are.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY std::vector<bool> among(const parameter_list& model) const;

  /// Adds the gradients of the later stages to those at `origins`; `through` is a model that is overwritten.
  DIMWISE_DETAIL_LIBRARY void receive(const parameter_list& through, const parameter_origins& origins,
                                      std::size_t batch) const;
  /// Takes the gradients from `origins` into `to`, and sends them to the earlier stage.
  DIMWISE_DETAIL_LIBRARY void send(const parameter_list& to, const parameter_origins& origins, std::size_t batch);
  /// The sums of the first stage that has the parameters, on all of them.
  DIMWISE_DETAIL_LIBRARY void share(const parameter_list& sums);

 private:
  struct message {
    std::vector<std::byte> elements;
    ranks::request request;  // ends before them
  };
  [[nodiscard]] std::size_t count() const { return own_parameters_.parameters.size(); }
  void start(std::vector<std::byte> elements, std::size_t to, const std::string& text);

  const ranks::communicator& stages_;
  gradient_bucket own_parameters_{};
  std::vector<std::size_t> holders_{};  // stages
  std::size_t own_ = 0;                 // this stage among them
  std::deque<message> sending_{};
};

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/ranks/training/tied_parameters_definitions.hpp>
#endif
