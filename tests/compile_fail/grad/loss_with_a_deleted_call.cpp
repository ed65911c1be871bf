// MISTAKE: the call operator of a loss is deleted.
// RULE: R21
// EXPECT: ERROR_R21_loss_takes_the_model_with_tracked_elements<.*tensor<.*tracked<float>,.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

class penalty {
 public:
  template <class M>
#ifdef FIXED
  auto operator()(const M& m) const {
    return mean<d_model>(square(m));
  }
#else
  auto operator()(const M& m) const = delete;
#endif
};

void train(const tensor<float, d_model>& model) {
  [[maybe_unused]] const auto result = value_and_gradient(model, penalty());
}
