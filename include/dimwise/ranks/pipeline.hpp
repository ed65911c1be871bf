// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/pipeline.hpp -- a language model whose layers are divided over the ranks: the hidden state of new
// tokens goes from rank to rank.
//
// Layer: ranks. The same operations on the same operands as on one rank, so the same bits. While a rank computes one
// piece of a prompt, the rank before it computes the next piece.
// Tests: tests/ranks/decoders/pipeline.test.cpp, tests/ranks/mpi/generate.py
//
//   const ranks::pipeline model(models::read_decoder_run("folder", world.rank(), world.size()), world);
//   auto caches = model.start(2048);
//   model.read(prompt_without_its_last_token, caches);
//   auto logits = model.next(last_token, caches);       // on the last rank; empty on the others
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/expr/rearrange/take.hpp>
#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/support/text_warning.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks {

/// A language model with neighbouring layers of a longer one (`models::read_decoder_run`).
template <class Model>
concept pipeline_part = requires(const Model& m, const typename Model::features_type& x) {
  typename Model::state;
  typename Model::token;
  typename Model::logits_type;
  m.start(std::size_t{1});
  m.here.is_first();
  m.here.is_last();
  { m.config.d_model } -> std::convertible_to<std::size_t>;
  m.logits(x);
};

/// A language model whose layers are divided over the ranks of a communicator: rank 0 embeds the tokens, each rank
/// sends its hidden state to the next one, and the last rank has the logits. Every rank keeps the KV caches of its own
/// layers.
///
/// Every rank calls the same members in the same order with the same tokens.
template <pipeline_part Model>
class pipeline {
 public:
  using token = typename Model::token;
  using vocab = typename Model::vocab;
  using seq = typename Model::seq;
  using d_model = typename Model::d_model;
  using features_type = typename Model::features_type;
  using logits_type = tensor<float, vocab>;
  using state = typename Model::state;

  /// The layers of this rank. Throws `rank_error` unless the first rank alone has the first layer, and the last rank
  /// alone the last one.
  pipeline(Model part, communicator world) : part_(std::move(part)), world_(std::move(world)) {
    detail::taking_part(world_, "pipeline", [&] { check_layers(); });
  }

  /// The layers of this rank.
  [[nodiscard]] const Model& part() const noexcept { return part_; }
  /// The ranks.
  [[nodiscard]] const communicator& world() const noexcept { return world_; }
  /// Whether this rank has the logits.
  [[nodiscard]] bool is_last() const noexcept { return world_.rank() + 1 == world_.size(); }
  /// Empty caches of this rank's layers for `length` positions.
  [[nodiscard]] state start(std::size_t length) const { return part_.start(length); }

  /// Appends tokens to the caches. Rank 0 returns when it has computed its layers, so it can begin with the next piece
  /// of a long text while the other ranks compute theirs.
  ///
  /// If a rank throws here or in `next` and `chosen`, the ranks that wait for it throw `rank_error` with its text.
  void read(std::span<const token> tokens, state& caches) {
    detail::taking_part(world_, "pipeline::read", [&] { (void)pass(tokens, caches); });
  }

  /// Appends tokens to the caches. On the last rank, the logits of the token after them: [vocab]; empty on the others.
  /// Throws `extent_error` if `tokens` is empty.
  [[nodiscard]] logits_type next(std::span<const token> tokens, state& caches) {
    return detail::taking_part(world_, "pipeline::next", [&]() -> logits_type {
      if (tokens.empty()) { dimwise::detail::raise<extent_error>(error{} << "next: no tokens were given"); }
      const features_type x = pass(tokens, caches);
      if (!is_last()) { return logits_type(); }
      const features_type last = slice<seq>(x, extent_of<seq>(x) - 1, 1);
      return at<seq>(part_.logits(last), 0);
    });
  }

  /// The token that `choose()` returns on the last rank, on every rank; the others do not call it.
  template <class Choose>
  [[nodiscard]] token chosen(const Choose& choose) {
    return detail::taking_part(world_, "pipeline::chosen", [&] {
      std::uint64_t number = is_last() ? static_cast<std::uint64_t>(token(choose()).value) : 0;
      world_.broadcast(&number, 1, world_.size() - 1, "the next token");
      return token(static_cast<std::size_t>(number));
    });
  }

 private:
  void check_layers() const {
    if (part_.here.is_first() != (world_.rank() == 0) || part_.here.is_last() != is_last()) {
      throw rank_error("pipeline: rank " + std::to_string(world_.rank()) + " of " + std::to_string(world_.size()) +
                           " has the layers from " + std::to_string(part_.here.begin) + " to before " +
                           std::to_string(part_.here.end) + " of " + std::to_string(part_.here.count) +
                           "; the first rank has the first layer, and the last rank the last one",
                       world_.rank_in_world(world_.rank()));
    }
  }
  // The features after this rank's layers, which have also gone to the next rank.
  features_type pass(std::span<const token> tokens, state& caches) {
    const std::size_t rank = world_.rank();
    const auto embed = [&](const auto& text) {
      if (rank == 0) { return part_.embedded(text); }
      for (std::size_t from = 0; from + 1 < rank; ++from) { skip(from); }
      const seq at = starting_at(seq{text.size()}, text.extents().template origin<seq>("pipeline"));
      auto x = features_type::for_overwriting(extents_of(at));
      world_
          .permute(static_cast<const float*>(nullptr), 0, no_rank, x.overwrite(), x.size(), rank - 1, text_of(rank - 1))
          .wait();
      return x;
    };
    const std::size_t layers = part_.blocks.size();
    const auto seen = [&](std::size_t layer, const features_type& x) {
      if (layer != layers || is_last()) { return; }
      sending_.wait();
      sent_ = x;  // the memory of the message; a tensor that is copied shares its elements
      sending_ = world_.permute(std::as_const(sent_).data(), sent_.size(), rank + 1, static_cast<float*>(nullptr), 0,
                                no_rank, text_of(rank));
      for (std::size_t from = rank + 1; from + 1 < world_.size(); ++from) { skip(from); }
    };
    return part_.features(tokens, caches, seen, embed);
  }
  // All ranks take part in each call; this one neither sends nor receives.
  void skip(std::size_t from) {
    world_
        .permute(static_cast<const float*>(nullptr), 0, no_rank, static_cast<float*>(nullptr), 0, no_rank,
                 text_of(from))
        .wait();
  }
  static std::string text_of(std::size_t from) { return "the hidden state of rank " + std::to_string(from); }
  [[nodiscard]] typename features_type::extents_type extents_of(const seq& at) const {
    typename features_type::extents_type extents;
    extents.set(at);
    extents.set(dimwise::detail::extent_or_static<d_model>(part_.config.d_model));
    return extents;
  }

  Model part_;
  communicator world_;
  features_type sent_{};
  request sending_{};
};

}  // namespace dimwise::ranks
DIMWISE_DETAIL_TEXT_END;
