// MISTAKE: a bias is added to stored scores in their own memory.
// RULE: R7
// EXPECT: ERROR_R7_declared_type_drops_or_invents_biased<.*declared<.*computed<.*biased_for<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, heads, seq, key> bias;

void attention() {
#ifdef FIXED
  tensor t = s + bias;
  t += bias;
#else
  s += bias;
#endif
}
