// MISTAKE: parts of attention over other values are merged.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*merge.*d_v.*d_k
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = merge(partial_attention<key>(s, v), partial_attention<src>(s_src, v_src)).output;
#else
  RESULT r = merge(partial_attention<key>(s, v), partial_attention<src>(s_src, k_src)).output;
#endif
}
