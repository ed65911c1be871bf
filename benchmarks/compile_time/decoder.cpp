// SPDX-License-Identifier: BSL-1.0
// A program that reads a decoder of any architecture and computes the logits of the next token.
#include <dimwise/models/decoders.hpp>

#include <vector>

using namespace dimwise;

int main(int, char** arguments) {
  const auto model = models::read_decoder(arguments[1]);
  auto caches = model.start(16);
  const std::vector<models::decoder<>::token> prompt{models::decoder<>::token{7}};
  const tensor logits = model.next(prompt, caches);
  return logits.values()[0] > 0 ? 0 : 1;
}
