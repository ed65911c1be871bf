// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/communicator_definitions.hpp -- the collectives, as messages between two ranks.
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/messages/communicator.hpp>
#include <dimwise/ranks/messages/parts_definitions.hpp>
#include <dimwise/support/text_warning.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks {

// --- communicator --------------------------------------------------------------------------------------------------

DIMWISE_DETAIL_LIBRARY communicator::communicator()
    : communicator(std::make_shared<detail::single_group>(), options{}) {}
DIMWISE_DETAIL_LIBRARY communicator::communicator(std::shared_ptr<detail::group> world, options how)
    : state_(std::make_shared<detail::member>()), rank_(world->rank()), size_(world->size()) {
  state_->world.resize(size_);
  std::iota(state_->world.begin(), state_->world.end(), std::size_t{0});
  state_->link = std::move(world);
  state_->how = how;
  state_->name = "world";
}
inline communicator::communicator(std::shared_ptr<detail::member> state)
    : state_(std::move(state)), rank_(state_->link->rank()), size_(state_->link->size()) {}

DIMWISE_DETAIL_LIBRARY const std::string& communicator::name() const noexcept { return state_->name; }
DIMWISE_DETAIL_LIBRARY std::size_t communicator::rank_in_world(std::size_t rank) const {
  if (rank >= size_) {
    dimwise::detail::raise<index_error>(error{} << "rank_in_world: " << state_->name.c_str() << " has " << size_
                                                << " ranks and no rank " << rank);
  }
  return state_->world[rank];
}
DIMWISE_DETAIL_LIBRARY bool communicator::is_checked() const noexcept { return state_->how.checks; }
DIMWISE_DETAIL_LIBRARY void communicator::set_limit(std::chrono::milliseconds limit) const {
  state_->how.limit = limit;
}

DIMWISE_DETAIL_LIBRARY void communicator::barrier(std::string_view shape) const {
  const detail::call what{.operation = "barrier", .shape = shape};
  const std::uint32_t tag = state_->begin(what);
  for (std::size_t step = 1; step < size_; step *= 2) {  // after it, 2 * step ranks are known to have come
    detail::messages all(state_->link);
    all.receive((rank_ + size_ - step) % size_, nullptr, 0);
    all.send((rank_ + step) % size_, nullptr, 0);
    state_->run(all, tag, what);
  }
}

DIMWISE_DETAIL_LIBRARY void communicator::reduce_all(detail::element type, detail::elements named, const void* mine,
                                                     void* result, std::size_t count, std::string_view shape,
                                                     reduction how) const {
  const detail::call what =
      detail::call_of(how == reduction::sum ? "all_reduce" : "all_reduce (max)", named, shape, &count, 1);
  const std::uint32_t tag = state_->begin(what);
  const std::size_t bytes = count * named.bytes;
  if (size_ == 1) { return detail::copy_bytes(mine, result, bytes); }
  // Short sums are computed by every rank, which waits for one message of each rank instead of two.
  constexpr std::size_t short_bytes = 4096;
  if (bytes <= short_bytes) {
    std::byte* received = state_->scratch_of(bytes * (size_ - 1));
    std::vector<const void*> operands(size_, mine);
    detail::messages all(state_->link);
    for (std::size_t step = 1; step < size_; ++step) {
      const std::size_t from = (rank_ + size_ - step) % size_;
      all.receive(from, received, bytes);
      operands[from] = received;
      received += bytes;
      all.send((rank_ + step) % size_, mine, bytes);
    }
    state_->run(all, tag, what);
    return detail::combine(type, operands, result, count, how);
  }
  const std::vector<std::size_t> shares = detail::shares_of(count, size_);
  const detail::parts each(shares.data(), size_, named.bytes);
  std::byte* own = each.of(result, rank_);
  detail::reduce_parts(*state_, tag, what, type, mine, own, each, named.bytes, how);
  detail::gather_parts(*state_, tag, what, own, result, each);
}

DIMWISE_DETAIL_LIBRARY request communicator::start_reduce(detail::element type, detail::elements named, void* values,
                                                          std::size_t count, std::string_view shape) const {
  auto one = std::make_unique<detail::pending_sum>(state_, shape, type, named, values, count);
  const std::uint32_t tag = state_->begin(one->what);
  request result;
  if (size_ > 1) {
    one->start(tag);
    result.pending_ = std::move(one);
  }
  return result;
}

DIMWISE_DETAIL_LIBRARY void communicator::scatter_reduced(detail::element type, detail::elements named,
                                                          const void* mine, void* result, const std::size_t* counts,
                                                          std::string_view shape, reduction how) const {
  const detail::call what =
      detail::call_of(how == reduction::sum ? "reduce_scatter" : "reduce_scatter (max)", named, shape, counts, size_);
  const std::uint32_t tag = state_->begin(what);
  const detail::parts each(counts, size_, named.bytes);
  if (size_ == 1) { return detail::copy_bytes(mine, result, each.total()); }
  detail::reduce_parts(*state_, tag, what, type, mine, result, each, named.bytes, how);
}

DIMWISE_DETAIL_LIBRARY void communicator::gather_all(detail::elements named, const void* mine, void* all,
                                                     const std::size_t* counts, std::string_view shape) const {
  const detail::call what = detail::call_of("all_gather", named, shape, counts, size_);
  const std::uint32_t tag = state_->begin(what);
  detail::gather_parts(*state_, tag, what, mine, all, detail::parts(counts, size_, named.bytes));
}

DIMWISE_DETAIL_LIBRARY void communicator::exchange_all(detail::elements named, const void* sent,
                                                       const std::size_t* sent_counts, void* received,
                                                       const std::size_t* received_counts,
                                                       std::string_view shape) const {
  const detail::call what = detail::call_of("all_to_all", named, shape);
  const std::uint32_t tag = state_->begin(what);
  const detail::parts outgoing(sent_counts, size_, named.bytes);
  const detail::parts incoming(received_counts, size_, named.bytes);
  if (outgoing.bytes(rank_) != incoming.bytes(rank_)) {
    state_->fail(rank_, "all_to_all: " + state_->rank_text(rank_) + " sends " + std::to_string(sent_counts[rank_]) +
                            " elements to itself and expects " + std::to_string(received_counts[rank_]));
  }
  detail::copy_bytes(outgoing.of(sent, rank_), incoming.of(received, rank_), outgoing.bytes(rank_));
  detail::messages all(state_->link);
  for (std::size_t step = 1; step < size_; ++step) {
    const std::size_t from = (rank_ + size_ - step) % size_;
    const std::size_t to = (rank_ + step) % size_;
    all.receive(from, incoming.of(received, from), incoming.bytes(from));
    all.send(to, outgoing.of(sent, to), outgoing.bytes(to));
  }
  state_->run(all, tag, what);
}

DIMWISE_DETAIL_LIBRARY void communicator::send_to_all(detail::elements named, void* values, std::size_t count,
                                                      std::size_t from, std::string_view shape) const {
  if (from >= size_) {
    dimwise::detail::raise<index_error>(error{} << "broadcast: " << state_->name.c_str() << " has " << size_
                                                << " ranks and no rank " << from);
  }
  const std::string operation = "broadcast from " + std::to_string(from);
  const detail::call what = detail::call_of(operation.c_str(), named, shape, &count, 1);
  const std::uint32_t tag = state_->begin(what);
  const std::size_t bytes = count * named.bytes;
  // A binomial tree: with ranks counted from the sender, rank r receives from r without its lowest bit.
  const std::size_t own = (rank_ + size_ - from) % size_;
  std::size_t bit = 1;
  while (bit < size_ && (own & bit) == 0) { bit *= 2; }
  if (own != 0) {
    detail::messages all(state_->link);
    all.receive((own - bit + from) % size_, values, bytes);
    state_->run(all, tag, what);
  }
  detail::messages all(state_->link);
  for (bit /= 2; bit > 0; bit /= 2) {
    if (own + bit < size_) { all.send((own + bit + from) % size_, values, bytes); }
  }
  state_->run(all, tag, what);
}

DIMWISE_DETAIL_LIBRARY request communicator::start_permute(detail::elements named, const void* sent,
                                                           std::size_t sent_count, std::size_t to, void* received,
                                                           std::size_t received_count, std::size_t from,
                                                           std::string_view shape) const {
  for (const std::size_t partner : {to, from}) {
    if (partner != no_rank && partner >= size_) {
      dimwise::detail::raise<index_error>(error{} << "permute: " << state_->name.c_str() << " has " << size_
                                                  << " ranks and no rank " << partner);
    }
  }
  auto one = std::make_unique<detail::pending>(state_, shape);
  one->what = detail::call_of("permute", named, one->shape);
  const std::uint32_t tag = state_->begin(one->what);
  const std::size_t outgoing = sent_count * named.bytes;
  const std::size_t incoming = received_count * named.bytes;
  if ((to == rank_ || from == rank_) && (to != from || outgoing != incoming)) {
    state_->fail(rank_, "permute: " + state_->rank_text(rank_) + " sends " + std::to_string(sent_count) +
                            " elements to itself and expects " + std::to_string(received_count) +
                            ", or only does one of the two");
  }
  if (to == rank_) {
    detail::copy_bytes(sent, received, outgoing);
  } else {
    if (from != no_rank) { one->all.receive(from, received, incoming); }
    if (to != no_rank) { one->all.send(to, sent, outgoing); }
    one->all.start(tag);
  }
  request result;
  result.pending_ = std::move(one);
  return result;
}

DIMWISE_DETAIL_LIBRARY request communicator::start_message(detail::elements named, void* data, std::size_t count,
                                                           std::size_t peer, bool sends, std::string_view shape) const {
  if (peer >= size_ || peer == rank_) {
    dimwise::detail::raise<index_error>(error{} << (sends ? "start_send: " : "start_receive: ") << state_->name.c_str()
                                                << " has " << size_ << " ranks, and rank " << rank_
                                                << " has no other rank " << peer);
  }
  auto one = std::make_unique<detail::pending_message>(state_, shape, named, data, count, peer, sends);
  state_->check_message(one->what, peer, sends);
  state_->has_messages = true;
  one->start();
  request result;
  result.pending_ = std::move(one);
  return result;
}

DIMWISE_DETAIL_LIBRARY bool communicator::shares_memory() const noexcept {
  return size_ > 1 && state_->link->shares_memory();
}
DIMWISE_DETAIL_LIBRARY void communicator::share_objects(const detail::shared_object& mine, detail::shared_object* all,
                                                        std::string_view shape) const {
  const detail::call what{.operation = "share", .shape = shape};
  const std::uint32_t tag = state_->begin(what);
  detail::messages messages(state_->link);
  for (std::size_t r = 0; r < size_; ++r) { all[r] = {r == rank_ ? mine.it : nullptr, mine.type}; }
  for (std::size_t step = 1; step < size_; ++step) {
    const std::size_t from = (rank_ + size_ - step) % size_;
    messages.receive(from, all[from]);
    messages.send((rank_ + step) % size_, all[rank_]);
  }
  state_->run(messages, tag, what);
}
DIMWISE_DETAIL_LIBRARY request communicator::start_handing(const detail::shared_object& sent, std::size_t to,
                                                           detail::shared_object& received, std::size_t from,
                                                           std::string_view shape) const {
  auto one = std::make_unique<detail::pending>(state_, shape);
  one->what = detail::call{.operation = "hand on", .shape = one->shape};
  const std::uint32_t tag = state_->begin(one->what);
  received = {nullptr, sent.type};
  detail::shared_object given = sent;
  one->all.receive(from, received);
  one->all.send(to, given);
  one->all.start(tag);
  request result;
  result.pending_ = std::move(one);
  return result;
}

DIMWISE_DETAIL_LIBRARY void communicator::withdraw(const std::exception_ptr& why, std::string_view operation) const {
  state_->withdraw(why, operation);
}

DIMWISE_DETAIL_LIBRARY communicator communicator::split(std::size_t colour, std::string_view name) const {
  const std::string shape(name);
  const detail::call what{.operation = "split", .shape = shape};
  const std::uint32_t tag = state_->begin(what);
  const std::vector<std::size_t> colours = state_->values_of_all(colour, tag, what);
  std::vector<std::size_t> members;
  std::size_t own = 0;
  for (std::size_t r = 0; r < size_; ++r) {
    if (colours[r] != colour) { continue; }
    if (r == rank_) { own = members.size(); }
    members.push_back(r);
  }
  // Colours may be any numbers: those of MPI are small.
  const std::size_t first = members.front();
  auto state = std::make_shared<detail::member>();
  state->link = state_->link->split(first, own, members, tag % (detail::group::last_tag + 1));
  state->how = state_->how;
  state->name = shape;
  for (const std::size_t r : members) { state->world.push_back(state_->world[r]); }
  return communicator(std::move(state));
}

namespace detail {

DIMWISE_DETAIL_LIBRARY std::string known_axes::note(const void* axis, const communicator& along,
                                                    const std::string& name) {
  struct known {
    const void* axis;
    std::weak_ptr<member> along;
  };
  static thread_local std::vector<known> all;
  std::erase_if(all, [](const known& one) { return one.along.expired(); });
  const auto text = [](const std::vector<std::size_t>& ranks) {
    std::string numbers = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size(); ++i) { numbers += (i == 0 ? "" : ", ") + std::to_string(ranks[i]); }
    return numbers;
  };
  for (const known& one : all) {
    const std::shared_ptr<member> other = one.along.lock();
    if (one.axis != axis || other == nullptr || other->world == along.state_->world) { continue; }
    return "the axis " + name + " goes along " + text(along.state_->world) + ", and in another mesh along " +
           text(other->world);
  }
  all.push_back({axis, along.state_});
  return {};
}

}  // namespace detail

// --- request -------------------------------------------------------------------------------------------------------

DIMWISE_DETAIL_LIBRARY request::request() noexcept : pending_(nullptr) {}
DIMWISE_DETAIL_LIBRARY request::request(request&& from) noexcept = default;
DIMWISE_DETAIL_LIBRARY request& request::operator=(request&& from) noexcept = default;
DIMWISE_DETAIL_LIBRARY request::~request() = default;

DIMWISE_DETAIL_LIBRARY void request::wait() {
  if (pending_ == nullptr) { return; }
  pending_->state->check_earlier(pending_->what);
  do {
    pending_->state->wait(pending_->all, pending_->what);
    pending_->all.clear();
  } while (pending_->next());
  pending_ = nullptr;
}
DIMWISE_DETAIL_LIBRARY bool request::done() {
  if (pending_ == nullptr) { return true; }
  pending_->state->check_earlier(pending_->what);
  do {
    if (pending_->state->advance(pending_->all, pending_->what) != nullptr) {
      pending_->state->check_withdrawals(pending_->all, pending_->what);
      return false;
    }
    pending_->all.clear();
  } while (pending_->next());
  pending_ = nullptr;
  return true;
}

}  // namespace dimwise::ranks
DIMWISE_DETAIL_TEXT_END;
