// SPDX-License-Identifier: BSL-1.0
// live/induction.wasm -- the model of 24_induction with its trained weights, for its page.
#include "../support/induction.hpp"

#include "embedded.hpp"
#include "exports.hpp"
#include <dimwise/io/checkpoint.hpp>

const dimwise::live_model& model() {
  static const dimwise::live_model made = [] {
    auto m = dimwise::nn::initialised<induction::model<>>(dimwise::nn::normal(1), induction::seq{induction::length});
    dimwise::io::load(m, dimwise::io::parse_safetensors(embedded(), "induction.safetensors"));
    return induction::live(m);
  }();
  return made;
}
