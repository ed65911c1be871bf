// MISTAKE: the sinks of the first query are those of all queries.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*attention_with_sinks.*indexed<.*seq
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, heads> sinks_of_heads;
extern tensor<float, seq, heads> sinks_of_queries;

void layer() {
#ifdef FIXED
  RESULT y = nn::attention_with_sinks<d_k, src>(q, k_src, v_src, sinks_of_heads);
#else
  RESULT y = nn::attention_with_sinks<d_k, src>(q, k_src, v_src, at<seq>(sinks_of_queries, 0));
#endif
}
