// SPDX-License-Identifier: BSL-1.0
#include "model.hpp"

#include <memory>

namespace bench {

namespace {

struct words : choice_dim<50257> {};
struct d_model : feature_dim<768> {};
struct heads : heads_dim<12> {};
struct hidden : feature_dim<3072> {};

}  // namespace

std::unique_ptr<training_step> gpt2(std::size_t batch, std::size_t length) {
  return std::make_unique<step<words, sizes<words, d_model, heads, hidden>::gpt<>>>(12, batch, length);
}

}  // namespace bench
