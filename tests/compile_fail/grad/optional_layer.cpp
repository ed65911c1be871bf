// MISTAKE: a layer that may be left out is held in a std::optional, where no optimiser and no file finds it.
// RULE: R21
// EXPECT: ERROR_R21_member_hides_its_parameters<.*scorer<float>,.*optional<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <optional>

template <class T>
struct scorer {
  using map_type = nn::linear<nn::from<d_model>, nn::to<heads>, nn::with_bias, T>;
#ifdef FIXED
  using more_type = std::vector<nn::layer_norm<d_model, nn::elements<T>>>;
#else
  using more_type = std::optional<nn::layer_norm<d_model, nn::elements<T>>>;
#endif
  BOOST_HANA_DEFINE_STRUCT(scorer, (map_type, map), (more_type, norm));
};

void train(const scorer<float>& model) {
  const auto loss = [&](const auto& m) { return mean<batch, seq, heads>(square(m.map(x))); };
  [[maybe_unused]] const auto g = gradient(model, loss);
}
