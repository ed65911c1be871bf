// MISTAKE: cross attention is called without the memory that it attends to.
// RULE: R1
// EXPECT: ERROR_R1_module_takes_other_arguments<.*cross_attention<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>

void attend(const nn::cross_attention<seq, src, nn::multi_head_attention<d_model, heads, d_k, d_v>>& cross) {
#ifdef FIXED
  RESULT y = cross(x, memory);
#else
  RESULT y = cross(x);
#endif
}
