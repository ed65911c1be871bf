// MISTAKE: a function takes scores whose two dimensions are one.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  [[maybe_unused]] auto row = [](const tensor<float, seq, key>& scores) { return scores.size(); };
  return;
#else
  [[maybe_unused]] auto row = [](const tensor<float, seq, seq>& scores) { return scores.size(); };
  return;
#endif
}
