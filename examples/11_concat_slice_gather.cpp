// SPDX-License-Identifier: BSL-1.0
// 11_concat_slice_gather -- slices, concatenation, and an embedding by typed ids.
//
// `at` removes a dimension, `slice` keeps it. `concat` names the dimension that grows; all others must be equal. An
// `id<vocab>` indexes the dimension vocab only.

#include <dimwise/dimwise.hpp>

#include <cstdio>
#include <iostream>

namespace lesson {
struct vocab : dimwise::choice_dim<5> {};
struct seq : dimwise::position_dim<> {};
struct d_model : dimwise::feature_dim<2> {};
struct first_half : dimwise::feature_dim<1> {};
struct copies : dimwise::batch_dim<2> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

int main() {
  // An embedding: a row of the table per id. The equivalent loops, in which nothing prevents table[j][i]:
  //   for (int i = 0; i < n; ++i)
  //     for (int f = 0; f < 2; ++f) x[i][f] = table[ids[i]][f];
  tensor<float, vocab, d_model> table({0, 1, 10, 11, 20, 21, 30, 31, 40, 41});
  tensor<id<vocab>, seq> ids({id<vocab>{3}, id<vocab>{0}, id<vocab>{4}}, seq{3});
  tensor x = gather<vocab>(table, ids);
  std::cout << "table: " << describe(table) << '\n';
  std::cout << "ids: " << describe(ids) << '\n';
  std::cout << "x: " << x;

  // argmax over vocab returns ids of vocab, which index the table.
  tensor logits = contract<d_model>(x, table);
  tensor best = argmax<vocab>(logits);
  std::cout << "logits: " << describe(logits) << '\n';
  std::cout << "best: " << best;
  std::cout << "next x: " << describe(gather<vocab>(table, best)) << '\n';

  // `at` removes the dimension, `slice` keeps it.
  std::cout << "at: " << at<seq>(x, 1);
  std::cout << "slice: " << slice<seq>(x, 1, 2);  // two positions with origin 1
  std::cout << "static slice: " << describe(slice<d_model, first_half>(x, 0))
            << '\n';  // a static extent: the result has its own dimension

  // Concatenation, as when a KV cache grows.
  tensor cache = concat<seq>(x, slice<seq>(x, 0, 1));
  std::cout << "concat: " << cache;
  // Stacking adds a dimension.
  std::cout << "stack: " << stack<copies>(x, x * 2.0F);

  // An id outside the table throws on evaluation, before anything is written.
  try {
    ids.set(id<vocab>{7}, id<seq>{0});
    x = gather<vocab>(table, ids);
  } catch (const index_error& e) { std::printf("%s\n", e.what()); }
  // table(id<seq>{1}, id<d_model>{0});    // does not compile: the table has no seq (R18)
}
