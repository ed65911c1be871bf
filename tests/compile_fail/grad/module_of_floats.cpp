// MISTAKE: the module is not a template over its element type, so a loss cannot track its weights.
// RULE: R21
// EXPECT: ERROR_R21_module_does_not_take_its_element_type<.*scorer
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#ifdef FIXED
template <class T = float>
struct scorer {
  using map_type = nn::linear<nn::from<d_model>, nn::to<heads>, nn::with_bias, T>;
  BOOST_HANA_DEFINE_STRUCT(scorer, (map_type, map));
};
using model_type = scorer<>;
#else
struct scorer {
  using map_type = nn::linear<nn::from<d_model>, nn::to<heads>>;
  BOOST_HANA_DEFINE_STRUCT(scorer, (map_type, map));
};
using model_type = scorer;
#endif

void train(const model_type& model) {
  const auto loss = [&](const auto& m) { return mean<batch, seq, heads>(square(m.map(x))); };
  [[maybe_unused]] const auto g = gradient(model, loss);
}
