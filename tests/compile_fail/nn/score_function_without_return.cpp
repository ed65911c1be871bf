// MISTAKE: a function of scores forgets its `return`.
// RULE: R7
// EXPECT: ERROR_R7_scores_change_by_a_mask_a_bias_or_a_function<.*scores.*halved
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"

struct halved {
  template <class S>
  auto operator()(const S& s) const {
#ifdef FIXED
    return s * 0.5F;
#else
    (void)(s * 0.5F);
#endif
  }
};

RESULT y = nn::attention<d_k, key>(q, k, v, halved());
