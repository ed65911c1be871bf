// MISTAKE: queries, keys and values were unpacked in another order than returned: the keys are the values.
// RULE: R16
// EXPECT: ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<.*scores.*d_k.*d_v
// FROM: q,k,v returned in one order and unpacked in another
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

auto project(const tensor<float, batch, seq, d_model>& input) {
  return std::tuple(contract<d_model>(input, w_q), rename<seq, key>(contract<d_model>(input, w_k)),
                    rename<seq, key>(contract<d_model>(input, w_v)));
}

void attention() {
#ifdef FIXED
  auto [queries, keys, values] = project(x);
#else
  auto [queries, values, keys] = project(x);
#endif
  RESULT r = scores<d_k>(queries, keys);
}
