// MISTAKE: a bias made from positions added like a tensor.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*elementwise.*alibi
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(biased(s, alibi<seq, key, heads>{}));
#else
  RESULT y = softmax<key>(s + alibi<seq, key, heads>{});
#endif
}
