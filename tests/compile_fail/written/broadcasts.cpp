// MISTAKE: an argument that lacks the batch is passed as an expr with one.
// RULE: R8
// EXPECT: ERROR_R8_assignment_never_broadcasts<.*declared<.*batch, .*seq, .*d_model>.*computed<.*seq, .*d_model>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const expr<float, shape<batch, seq, d_model>>& state);

void model() {
#ifdef FIXED
  layer(x);
#else
  layer(sum<batch>(x));
#endif
}
