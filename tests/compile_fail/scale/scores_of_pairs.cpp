// MISTAKE: the scores of images and texts are those of pairs: both share the batch.
// RULE: R2
// EXPECT: ERROR_R2_shared_dimension_pairs_elements_one_to_one<.*scores.*batch.*d_model
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct candidates : choice_dim<EXTENT(2)> {};
extern tensor<float, batch, d_model> image, text;

void layer() {
#ifdef FIXED
  RESULT r = softmax<candidates>(contract<d_model>(image, relabel<batch, candidates>(text)));
#else
  RESULT r = softmax<candidates>(scores<d_model>(image, text));
#endif
}
