// MISTAKE: one member of the module was not told the element type: it would not be trained.
// RULE: R21
// EXPECT: ERROR_R21_module_does_not_take_its_element_type<.*scorer<float>,.*tensor<float, demo::d_model
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

template <class T>
struct scorer {
  using map_type = nn::linear<nn::from<d_model>, nn::to<heads>, nn::with_bias, T>;
#ifdef FIXED
  using scale_type = tensor<T, d_model>;
#else
  using scale_type = tensor<float, d_model>;
#endif
  BOOST_HANA_DEFINE_STRUCT(scorer, (map_type, map), (scale_type, scale));
};

void train(const scorer<float>& model) {
  const auto loss = [&](const auto& m) { return mean<batch, seq, heads>(square(m.map(x * m.scale))); };
  [[maybe_unused]] const auto g = gradient(model, loss);
}
