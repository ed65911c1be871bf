// MISTAKE: a module is converted whose parameter has a dimension twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*d_model
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn/model.hpp>

template <class T>
struct mixing {
#ifdef FIXED
  tensor<T, d_model, d_ff> weight;
#else
  tensor<T, d_model, d_model> weight;
#endif
  using members = nn::member_list<&mixing::weight>;
};

void convert() {
  const mixing<float> module;
  [[maybe_unused]] const auto wide = converted<double>(module);
}
