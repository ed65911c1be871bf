// 09  Scale by the width of a head: a solution
//
// HINT: The product was contracted over d_k.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct key : prime<seq> {};
struct d_model : feature_dim<16> {};
struct heads : heads_dim<4> {};
struct d_k : divided<d_model, heads> {};

int main() {
  const auto q = some<tensor<float, seq, heads, d_k>>(1);
  const auto k = some<tensor<float, key, heads, d_k>>(2);
  tensor s = scaled<d_k>(contract<d_k>(q, k));
  tensor twice = plain(s) * 2.0F;
  tensor difference = twice - plain(unscaled(contract<d_k>(q, k)));
  expect(near(max<heads, seq, key>(abs(difference)), {0}), "the scale is 1/2");
}
