// tests/tensor/memory/allocation.test.cpp -- small tensors of static extents allocate nothing: counted in operator new.
//
// This file replaces operator new for its whole executable. SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* const p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p == nullptr) { throw std::bad_alloc(); }
  return p;
}

}  // namespace

// Not inline: g++ 12 warns of malloc'd memory where it sees the inside of both (bug 103993).
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return counted(bytes == 0 ? 1 : bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes == 0 ? 1 : bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::tensor;

template <class F>
std::size_t allocated_by(F&& f) {
  const std::size_t before = allocations;
  f();
  return allocations - before;
}

using small = tensor<float, heads, d_k>;
struct page : dimwise::feature_dim<64> {};  // 256 bytes of float: the last that is small
struct more : dimwise::feature_dim<65> {};

}  // namespace

TEST_CASE("allocation: operator new is counted") {
  dimwise::trim_memory();  // blocks that earlier tests have freed
  CHECK(allocated_by([] { delete new int(5); }) == 1);
  CHECK(allocated_by([] { (void)tensor<float, seq>(seq{3}); }) >= 1);
  CHECK(allocated_by([] {
    const tensor<float, more> zeros;
    (void)zeros.values();
  }) >= 1);
  CHECK(allocated_by([] { (void)tensor<float, more>(); }) == 0);  // until its elements are used
}

TEST_CASE("allocation: making, copying, moving and writing small static tensors") {
  CHECK(allocated_by([] {
    small x;
    x.fill(2);
    small y = x;
    y.set(3, dimwise::id<heads>(1), dimwise::id<d_k>(2));
    y.data()[0] = 1;
    small z = std::move(y);
    z = x;
    const tensor<float, page> full;
    const auto copy = full;
    const tensor<double> scalar({1.0});
    (void)copy;
  }) == 0);
}

TEST_CASE("allocation: forming expressions of small static tensors, and evaluating those that need no buffer") {
  const auto x = drawn<small>(1);
  const auto y = drawn<tensor<float, d_k, heads>>(2);
  const auto w = drawn<tensor<float, d_k, d_v>>(3);
  small z;
  tensor<float, heads, d_v> product;
  tensor<float, heads> total;
  CHECK(allocated_by([&] {
    const auto sum = x + y;
    const auto mixed = dimwise::contract<d_k>(x, w);
    const auto turned = dimwise::permute<d_k, heads>(x);
    const auto total_of = dimwise::sum<d_k>(x);
    z = sum;
    product = mixed;
    z = turned;
    total = total_of;
  }) == 0);
  CHECK(el(total, 0) != 0);
}

TEST_CASE("allocation: copies and expressions of large tensors share their memory") {
  const auto x = drawn<tensor<float, seq, d_k>>(4, seq{1000});
  CHECK(allocated_by([&] {
    const auto copy = x;
    const auto e = copy * copy;
    const auto f = dimwise::permute<d_k, seq>(e);
    (void)f;
  }) == 0);
}
