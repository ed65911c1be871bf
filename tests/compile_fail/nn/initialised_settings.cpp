// MISTAKE: a member of the model is initialised that has no parameters.
// RULE: R21
// EXPECT: ERROR_R21_model_is_a_module_with_named_members<.*initialise.*int>
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

struct counted_norm {
  feature_norm layer;
  int count;
};
extern counted_norm model;

void begin() {
#ifdef FIXED
  nn::initialise(model.layer, nn::xavier_uniform(42));
#else
  nn::initialise(model.count, nn::xavier_uniform(42));
#endif
}
