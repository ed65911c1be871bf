// MISTAKE: a number beside the members that are named: the loss would be given a model in which it is reset.
// RULE: R21
// EXPECT: ERROR_R21_member_hides_its_parameters<.*scorer<float>,.*a_member_missing_in_the_list_of_members
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

template <class T>
struct scorer {
  using map_type = nn::linear<nn::from<d_model>, nn::to<heads>, nn::with_bias, T>;
#ifdef FIXED
  BOOST_HANA_DEFINE_STRUCT(scorer, (map_type, map), (double, scale));
#else
  BOOST_HANA_DEFINE_STRUCT(scorer, (map_type, map));
  double scale;
#endif
};

void train(const scorer<float>& model) {
  const auto loss = [&](const auto& m) { return mean<batch, seq, heads>(square(m.map(x) * m.scale)); };
  [[maybe_unused]] const auto g = gradient(model, loss);
}
