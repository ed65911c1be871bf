// SPDX-License-Identifier: BSL-1.0
#include "model.hpp"

#include <memory>

namespace bench {

namespace {

struct words : choice_dim<4096> {};
struct d_model : feature_dim<256> {};
struct heads : heads_dim<8> {};
struct hidden : feature_dim<1024> {};

}  // namespace

std::unique_ptr<training_step> small_gpt(std::size_t batch, std::size_t length) {
  return std::make_unique<step<words, sizes<words, d_model, heads, hidden>::gpt<>>>(4, batch, length);
}

}  // namespace bench
