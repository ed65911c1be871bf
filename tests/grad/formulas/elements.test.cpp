// SPDX-License-Identifier: BSL-1.0
// 100 drawn formulas of functions, arithmetic, products and looks, against differences in float64.
#include "formulas.hpp"

using namespace grad_tests;

namespace {

struct steps_of_elements {
  static constexpr std::size_t count = 16;

  template <class T>
  static auto apply(std::size_t kind, const tensor<T, batch, seq, d_model>& x, const tensor<T, batch, seq, d_model>& y,
                    const formula_operands<T>& with) {
    using value = tensor<T, batch, seq, d_model>;
    switch (kind) {
      case 0:
        return value(tanh(x + y) * 0.8);
      case 1:
        return value(sigmoid(x) * y);
      case 2:
        return value(x - gelu(y) * 0.3);
      case 3:
        return value(x / (square(y) + 1.5));
      case 4:
        return value(exp(x * 0.3) - sin(y) * cos(x));
      case 5:
        return value(erf(x) + with.row);
      case 6:
        return value(x * with.row + silu(y) * 0.5);
      case 7:
        return value(sqrt(square(x) + 0.5) * 0.7);
      case 8:
        return value(pow(square(x) + 1.0, 0.4) - log(square(y) + 1.0));
      case 9:
        return value(contract<d_model>(x, with.weight));
      case 10:
        return value(tanh(contract<d_model>(y, with.weight) + with.row) + x * 0.5);
      case 11:
        return value(contract<d_model>(x * y, with.weight) * 0.5);
      case 12:
        return value(roll<seq>(x, 1) * 0.6 - flip<seq>(y) * 0.4);
      case 13:
        return value(where(allow(tensor<bool, seq>({true, false, true}, seq{3})), x, y * 0.5));
      case 14:
        return value(broadcast<seq>(at<seq>(x, 1), seq{3}) * y + x);
      default:
        return value(concat<seq>(slice<seq>(y, 1, 2), slice<seq>(gelu_tanh(x), 0, 1)));
    }
  }
};

}  // namespace

TEST_CASE("drawn formulas of elements, products and looks agree with differences to 1e-8") {
  CHECK(wrong_formulas<steps_of_elements>(0, 100) == "");
}
