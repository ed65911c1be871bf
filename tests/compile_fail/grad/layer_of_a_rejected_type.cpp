// MISTAKE: a square weight of a layer names a dimension twice; all that a training does with the layer adds no error.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*d_model
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/io.hpp>

template <class T = float>
struct layer {
#ifdef FIXED
  using weight_type = tensor<T, d_model, out<d_model>>;
#else
  using weight_type = tensor<T, d_model, d_model>;
#endif
  weight_type weight;
  tensor<T, d_model> bias;
  using members = nn::member_list<&layer::weight, &layer::bias>;
  auto operator()(const auto& input) const { return contract<d_model>(input, weight) + bias; }
};

void train() {
  layer<> one;
  nn::initialise(one, nn::xavier_uniform(1));
  adamw optimiser(one, {.rate = 1e-3});
  const auto [loss, g] = value_and_gradient(one, [](const auto& m) { return mean<batch, seq, d_model>(square(m(x))); });
  (void)loss;
  optimiser.step(one, clip_norm(g, 1.0));
  io::save(one, "layer.safetensors");
  io::load(one, io::read_safetensors("layer.safetensors"));
}
