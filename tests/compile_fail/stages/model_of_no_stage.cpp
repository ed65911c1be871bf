// MISTAKE: the module does not say that it is one stage: its norms would be those of one rank.
// RULE: R25
// EXPECT: ERROR_R25_model_names_no_axis_of_stages<.*micro_batches.*some_layers
#include "stages_prelude.hpp"

template <class T>
struct some_layers {
#ifdef FIXED
  using stage_along = pp;
#endif
  tensor<T, d_model> gain;
  using members = nn::member_list<&some_layers::gain>;
};

void train(const some_layers<float>& m, const ranks::mesh<pp>& grid) {
  [[maybe_unused]] const auto g = value_and_gradient(m, micro_batches<passed>(4, first, layers, loss), grid);
}
