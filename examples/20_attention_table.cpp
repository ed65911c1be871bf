// SPDX-License-Identifier: BSL-1.0
// 20_attention_table -- the attention weights of a sentence as a table, with and without positional encodings.
//
// Embedding by typed ids, sinusoids, and attention weights as a result: rows are the queries' tokens, columns the
// keys'.
#include "support/difference.hpp"
#include <dimwise/dimwise.hpp>

#include <cstdio>
#include <iostream>
#include <vector>

namespace lesson {
struct word : dimwise::position_dim<> {};
struct key : dimwise::prime<word> {};
struct vocabulary : dimwise::choice_dim<5> {};
struct d_model : dimwise::feature_dim<8> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

int main() {
  const std::vector<std::string> sentence{"the", "cat", "saw", "the", "dog"};
  const tensor<id<vocabulary>, word> ids(
      {id<vocabulary>(0), id<vocabulary>(1), id<vocabulary>(2), id<vocabulary>(0), id<vocabulary>(3)}, word{5});
  const auto words = nn::initialised<nn::embedding<vocabulary, d_model>>(nn::normal(7, 1.0));

  std::cout << "-- Sinusoids: a row for each position\n";
  const auto positions = sinusoid<word, d_model>(word{5});
  std::cout << labelled(positions, labels<word>(sentence));

  std::cout << "-- Without positions both words \"the\" look alike\n";
  const auto x = words(ids);
  std::cout << labelled(softmax<key>(scores<d_model>(x, rename<word, key>(x))), labels<word>(sentence),
                        labels<key>(sentence));

  std::cout << "-- With positions they do not\n";
  const tensor placed = x + positions;
  const auto weights = softmax<key>(scores<d_model>(placed, rename<word, key>(placed)));
  std::cout << labelled(weights, labels<word>(sentence), labels<key>(sentence));

  std::cout << "-- No word sees those behind it\n";
  std::cout << labelled(softmax<key>(masked(scores<d_model>(placed, rename<word, key>(placed)), causal<word, key>{})),
                        labels<word>(sentence), labels<key>(sentence));
  const tensor sums = sum<key>(weights);
  std::printf("every row sums to one: %s\n",
              examples::largest_difference(sums.values(), std::vector<float>(5, 1.0F)) < 1e-6 ? "yes" : "no");
}
