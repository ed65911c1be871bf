// MISTAKE: the normaliser of a contrastive loss goes over the batch of its own side.
// RULE: R13
// EXPECT: ERROR_R13_softmax_takes_attendable_or_choice<.*logsumexp.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct other : prime<batch> {};
struct candidates : choice_dim<batch::static_extent> {};
extern tensor<float, batch, d_model> image, text;

void loss() {
#ifdef FIXED
  RESULT r = logsumexp<candidates>(contract<d_model>(image, relabel<batch, candidates>(text)));
#else
  RESULT r = logsumexp<other>(scaled(contract<d_model>(image, rename<batch, other>(text)), 10.0F));
#endif
}
