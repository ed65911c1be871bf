// MISTAKE: the optimiser was given a struct whose members have no names for a walk: it would move nothing.
// RULE: R21
// EXPECT: ERROR_R21_model_has_no_parameters<.*scorer
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

struct scorer {
#ifdef FIXED
  using weight_type = tensor<float, d_model, heads>;
  BOOST_HANA_DEFINE_STRUCT(scorer, (weight_type, weight));
#else
  tensor<float, d_model, heads> weight;
#endif
};

void train(scorer& model, const scorer& gradient) {
  sgd optimiser(model);
  optimiser.step(model, gradient);
}
