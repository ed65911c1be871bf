// SPDX-License-Identifier: BSL-1.0
// 11_concat_slice_gather -- parts of tensors, tensors as parts, and an embedding by typed ids.
//
// Shows: `at` removes a dimension and `slice` keeps it; `concat` names what grows, and all else must be the same;
// an `id<vocab>` comes from a vocabulary and indexes a vocabulary, nothing else.
#include "support/print.hpp"

namespace lesson {
struct vocab : dimwise::choice_dim<5> {};
struct seq : dimwise::position_dim<> {};
struct d_model : dimwise::feature_dim<2> {};
struct first_half : dimwise::feature_dim<1> {};
struct copies : dimwise::batch_dim<2> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;
using examples::print_shape;
using examples::print_values;

int main() {
  // An embedding: a row of the table for each id. The loop nest that it replaces, with nothing to stop table[j][i]:
  //   for (int i = 0; i < n; ++i)
  //     for (int f = 0; f < 2; ++f) x[i][f] = table[ids[i]][f];
  tensor<float, vocab, d_model> table({0, 1, 10, 11, 20, 21, 30, 31, 40, 41});
  tensor<id<vocab>, seq> ids({id<vocab>{3}, id<vocab>{0}, id<vocab>{4}}, seq{3});
  tensor x = gather<vocab>(table, ids);
  print_shape("table", table);
  print_shape("ids", ids);
  print_shape("x", x);
  print_values(x);

  // The largest element along vocab is an id of vocab again: it goes straight into the table.
  tensor logits = contract<d_model>(x, table);
  tensor best = argmax<vocab>(logits);
  print_shape("logits", logits);
  print_shape("best", best);
  print_values(best);
  print_shape("next x", gather<vocab>(table, best));

  // Indexing removes the dimension, slicing keeps it.
  print_shape("at", at<seq>(x, 1));
  print_values(at<seq>(x, 1));
  print_shape("slice", slice<seq>(x, 1, 2));  // two positions, and they remember that they begin at position 1
  print_values(slice<seq>(x, 1, 2));
  print_shape("static slice", slice<d_model, first_half>(x, 0));  // another extent: the result is named

  // One after the other: this is how a cache of keys grows.
  tensor cache = concat<seq>(x, slice<seq>(x, 0, 1));
  print_shape("concat", cache);
  print_values(cache);
  // Side by side: a new dimension.
  print_shape("stack", stack<copies>(x, x * 2.0F));
  print_values(stack<copies>(x, x * 2.0F));

  // An id that the table does not have is found when the program runs, before anything is written.
  try {
    ids.set(id<vocab>{7}, id<seq>{0});
    x = gather<vocab>(table, ids);
  } catch (const index_error& e) { std::printf("%s\n", e.what()); }
  // table(id<seq>{1}, id<d_model>{0});    // does not compile: the table has no seq (R18)
}
