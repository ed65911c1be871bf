// MISTAKE: both axes of an array of xtensor are given one name.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/tensor/xtensor.hpp>

void look_at(xt::xtensor<float, 2>& array) {
#ifdef FIXED
  [[maybe_unused]] const auto view = view_xtensor<seq, key>(array);
#else
  [[maybe_unused]] const auto view = view_xtensor<seq, seq>(array);
#endif
}
