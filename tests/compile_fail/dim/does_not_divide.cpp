// MISTAKE: the heads do not divide the width of the model; the rest of the program brings no further error.
// RULE: R4
// EXPECT: ERROR_R4_extent_does_not_divide<.*width, .*extent<10.*lanes, .*extent<3
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct width : feature_dim<10> {};
struct lanes : heads_dim<3> {};
struct fewer : heads_dim<2> {};

#ifdef FIXED
struct head_width : divided<width, fewer> {};
#else
struct head_width : divided<width, lanes> {};
#endif

extern tensor<float, batch, seq, lanes, head_width> wide_q;
extern tensor<float, batch, key, lanes, head_width> wide_k;

void attention() { [[maybe_unused]] tensor a = softmax<key>(scores<head_width>(wide_q, wide_k)); }
