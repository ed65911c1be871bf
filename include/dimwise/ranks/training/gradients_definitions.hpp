// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/gradients_definitions.hpp -- the messages of gradients over ranks (support/library.hpp).
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/messages/communicator_definitions.hpp>
#include <dimwise/ranks/training/gradients.hpp>
#include <dimwise/ranks/training/norms.hpp>
#include <dimwise/support/number_format.hpp>
#include <dimwise/support/text_warning.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY std::vector<gradient_bucket> buckets_of(const parameter_list& all, axis_key along,
                                                               const std::vector<bool>& left_out) {
  constexpr std::size_t bucket_bytes = std::size_t{1} << 20U;
  std::vector<gradient_bucket> buckets;
  for (std::size_t i = all.count(); i-- > 0;) {
    const std::size_t n = all.size(i);
    if (n == 0 || all.is_divided(i, along) || (!left_out.empty() && left_out[i])) { continue; }
    const std::size_t bytes = all.type(i).passes->bytes;
    const bool joins = !buckets.empty() && buckets.back().bytes_of_one == bytes &&
                       (buckets.back().elements + n) * bytes <= bucket_bytes;
    if (!joins) { buckets.push_back({{}, 0, bytes}); }
    buckets.back().parameters.push_back(i);
    buckets.back().elements += n;
  }
  return buckets;
}

// The facts that ranks compare before a bucket is sent.
inline std::string text_of_bucket(const parameter_list& all, const gradient_bucket& bucket) {
  return "gradients of " + std::to_string(bucket.parameters.size()) + " parameters from " +
         all.name(bucket.parameters.front());
}
// The elements of a bucket, one parameter after another.
inline void pack_bucket(const parameter_list& from, const gradient_bucket& bucket, std::byte* to) {
  for (const std::size_t i : bucket.parameters) {
    const std::size_t bytes = from.size(i) * bucket.bytes_of_one;
    std::memcpy(to, from.data(i), bytes);
    to += bytes;
  }
}
inline void unpack_bucket(const std::byte* from, const gradient_bucket& bucket, const parameter_list& to) {
  for (const std::size_t i : bucket.parameters) {
    const std::size_t bytes = to.size(i) * bucket.bytes_of_one;
    std::memcpy(to.overwrite(i), from, bytes);
    from += bytes;
  }
}
// f(elements) with pointers of the parameters' type: float or double.
template <class F>
auto with_elements(std::size_t bytes_of_one, void* elements, const F& f) {
  return bytes_of_one == sizeof(float) ? f(static_cast<float*>(elements)) : f(static_cast<double*>(elements));
}

// The sum of floats that are sent in bfloat16: each term is rounded, the terms are added in float in the order of the
// ranks, and the sum is rounded. All ranks round this rank's term as well, so they have the same bits.
inline void all_reduce_in_bfloat16(float* values, std::size_t count, const ranks::communicator& along,
                                   const std::string& text) {
  const std::size_t ranks = along.size();
  const std::vector<std::size_t> shares = ranks::detail::shares_of(count, ranks);
  const std::size_t own = shares[along.rank()];
  std::vector<bfloat16> sent(count);
  for (std::size_t i = 0; i < count; ++i) { sent[i] = bfloat16(values[i]); }
  std::vector<bfloat16> received(own * ranks);
  const std::vector<std::size_t> received_counts(ranks, own);
  along.all_to_all(sent.data(), shares.data(), received.data(), received_counts.data(), text);
  std::vector<bfloat16> sums(own);
  for (std::size_t i = 0; i < own; ++i) {
    auto sum = static_cast<float>(received[i]);
    for (std::size_t r = 1; r < ranks; ++r) { sum += static_cast<float>(received[r * own + i]); }
    sums[i] = bfloat16(sum);
  }
  along.all_gather(sums.data(), sent.data(), shares.data(), text);
  for (std::size_t i = 0; i < count; ++i) { values[i] = static_cast<float>(sent[i]); }
}

DIMWISE_DETAIL_LIBRARY void reduce_terms(const parameter_list& terms, const ranks::communicator& along, axis_key axis,
                                         gradient_format format) {
  std::vector<std::byte> together;
  for (const gradient_bucket& bucket : buckets_of(terms, axis)) {
    const bool is_alone = bucket.parameters.size() == 1;
    void* elements = nullptr;
    if (is_alone) {  // in place
      elements = terms.overwrite(bucket.parameters.front());
    } else {
      together.resize(bucket.elements * bucket.bytes_of_one);
      pack_bucket(terms, bucket, together.data());
      elements = together.data();
    }
    const std::string text = text_of_bucket(terms, bucket);
    if (format == gradient_format::bfloat16 && bucket.bytes_of_one == sizeof(float)) {
      all_reduce_in_bfloat16(static_cast<float*>(elements), bucket.elements, along, text);
    } else {
      with_elements(bucket.bytes_of_one, elements, [&](auto* all) { along.all_reduce(all, bucket.elements, text); });
    }
    if (!is_alone) { unpack_bucket(together.data(), bucket, terms); }
  }
}

DIMWISE_DETAIL_LIBRARY void reduce_numbers(double* numbers, std::size_t count, const ranks::communicator& along,
                                           const char* what) {
  along.all_reduce(numbers, count, what);
}

// ---- while the backward pass goes on --------------------------------------------------------------------------------

struct started_reduction::sum {
  explicit sum(const gradient_bucket& of) : bucket(of), elements(of.elements * of.bytes_of_one) {}
  const gradient_bucket& bucket;
  std::vector<std::byte> elements;
  ranks::request request{};  // ends before them
};

DIMWISE_DETAIL_LIBRARY started_reduction::started_reduction(const parameter_list& to, const parameter_list& taken,
                                                            const parameter_origins& origins, long owners,
                                                            const ranks::communicator& along, axis_key axis,
                                                            std::vector<bool> left_out)
    : to_(to),
      taken_(taken),
      origins_(origins),
      owners_(owners),
      passes_(prepared_step(to, {})),
      along_(along),
      axis_(axis),
      left_out_(std::move(left_out)),
      buckets_(buckets_of(to, axis, left_out_)) {
  sums_.reserve(buckets_.size());
}
DIMWISE_DETAIL_LIBRARY started_reduction::~started_reduction() = default;

inline bool started_reduction::is_complete(const gradient_bucket& bucket) const {
  for (const std::size_t i : bucket.parameters) {
    if (origins_[i]->owners() > owners_) { return false; }  // a formula will still send to it
  }
  return true;
}
inline void started_reduction::take(std::size_t parameter) {
  taken_.take_gradient(parameter, *origins_[parameter]);
  if (&taken_ == &to_) { return; }
  to_.type(parameter).passes->add(passes_, to_.size(parameter), to_.overwrite(parameter), taken_.data(parameter));
}
inline void started_reduction::start(const gradient_bucket& bucket) {
  for (const std::size_t i : bucket.parameters) { take(i); }
  auto one = std::make_unique<sum>(bucket);
  pack_bucket(to_, bucket, one->elements.data());
  one->request = with_elements(bucket.bytes_of_one, one->elements.data(), [&](auto* all) {
    return along_.start_all_reduce(all, bucket.elements, text_of_bucket(to_, bucket));
  });
  sums_.push_back(std::move(one));
}
DIMWISE_DETAIL_LIBRARY void started_reduction::advance() {
  for (const auto& one : sums_) { (void)one->request.done(); }
  while (next_ < buckets_.size() && is_complete(buckets_[next_])) {
    start(buckets_[next_++]);
    ++started_early_;
  }
}
DIMWISE_DETAIL_LIBRARY void started_reduction::finish() {
  while (next_ < buckets_.size()) { start(buckets_[next_++]); }
  for (std::size_t i = 0; i < to_.count(); ++i) {  // those that are not sent
    if (!left_out_.empty() && left_out_[i]) { continue; }
    if (to_.size(i) == 0 || to_.is_divided(i, axis_)) { take(i); }
  }
  for (const auto& one : sums_) {
    one->request.wait();
    unpack_bucket(one->elements.data(), one->bucket, to_);
  }
  sums_.clear();
  passes_.finish();
}

// ---- norms ----------------------------------------------------------------------------------------------------------

// The numbers of the parameters of all stages, in their order: those of one rank that has all parameters. Tied
// parameters count on the first stage that has them.
inline std::vector<double> numbers_of_stages(const parameter_list& all, std::vector<double> mine,
                                             const ranks::communicator& stages) {
  const std::vector<std::size_t> one(stages.size(), 1);
  if (all.has_tied()) {
    std::vector<double> untied;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (!all.is_tied(i)) { untied.push_back(mine[i]); }
    }
    const std::size_t tied = mine.size() - untied.size();
    std::vector<std::size_t> of_stages(stages.size());
    stages.all_gather(&tied, of_stages.data(), one.data(), "tied parameters of each stage");
    bool is_first = true;
    for (std::size_t s = 0; s < stages.rank(); ++s) { is_first = is_first && of_stages[s] == 0; }
    if (!is_first) { mine = std::move(untied); }
  }
  const std::size_t count = mine.size();
  std::vector<std::size_t> counts(stages.size(), count);
  stages.all_gather(&count, counts.data(), one.data(), "parameters of each stage");
  std::vector<double> of_all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  stages.all_gather(mine.data(), of_all.data(), counts.data(), "squares of the gradients of each stage");
  return of_all;
}

DIMWISE_DETAIL_LIBRARY scaled_norm norm_over_ranks(const parameter_list& all, const keyed_communicator* axes,
                                                   std::size_t count) {
  // Numbers of parameters, added over the ranks that have parts of them, and beside those of the other stages.
  const auto added = [&](std::vector<double>& numbers) {
    const ranks::communicator* stages = nullptr;
    for (std::size_t k = 0; k < count; ++k) {
      if (axes[k].id == all.stages()) {
        stages = axes[k].along;
        continue;
      }
      std::vector<double> parts;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (all.is_divided(i, axes[k].id)) { parts.push_back(numbers[i]); }
      }
      if (parts.empty()) { continue; }
      axes[k].along->all_reduce(parts.data(), parts.size(), "squares of a gradient");
      std::size_t next = 0;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (all.is_divided(i, axes[k].id)) { numbers[i] = parts[next++]; }
      }
    }
    if (stages != nullptr) { numbers = numbers_of_stages(all, numbers, *stages); }
  };
  std::vector<double> squares(all.count());
  for (std::size_t i = 0; i < all.count(); ++i) {
    squares[i] = all.type(i).passes->sum_of_squares(all.size(i), all.data(i));
  }
  added(squares);
  double sum = 0;
  for (const double one : squares) { sum += one; }
  if (sum >= 1e-280 && sum <= std::numeric_limits<double>::max()) { return {std::sqrt(sum), 0}; }
  // As in norm_of_parameters: all ranks have this sum, so all of them come here.
  double largest = 0;
  for (std::size_t i = 0; i < all.count(); ++i) {
    largest = all.type(i).passes->largest(all.size(i), all.data(i), largest);
  }
  for (std::size_t k = 0; k < count; ++k) {
    axes[k].along->all_reduce(&largest, &largest, 1, "largest element of a gradient", ranks::reduction::max);
  }
  if (largest == 0 || largest - largest != 0) { return {largest, 0}; }
  scaled_norm norm;
  (void)std::frexp(largest, &norm.exponent);
  squares.assign(all.count(), 0);
  for (std::size_t i = 0; i < all.count(); ++i) {
    kernels::carried_sum<double> scaled;
    all.type(i).passes->add_scaled_squares(all.size(i), all.data(i), norm.exponent, scaled);
    squares[i] = scaled.value();
  }
  added(squares);
  sum = 0;
  for (const double one : squares) { sum += one; }
  norm.rest = std::sqrt(sum);
  return norm;
}

}  // namespace dimwise::detail
DIMWISE_DETAIL_TEXT_END;
