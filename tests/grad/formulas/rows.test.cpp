// SPDX-License-Identifier: BSL-1.0
// 100 drawn formulas of rows, totals, attention, joins and ids, against differences in float64.
#include "formulas.hpp"

using namespace grad_tests;

namespace {

struct steps_of_rows {
  static constexpr std::size_t count = 14;

  template <class T>
  static auto apply(std::size_t kind, const tensor<T, batch, seq, d_model>& x, const tensor<T, batch, seq, d_model>& y,
                    const formula_operands<T>& with) {
    using value = tensor<T, batch, seq, d_model>;
    const auto keys = [](const auto& z) { return rename<seq, key>(z); };
    switch (kind) {
      case 0:
        return value(standardize<d_model>(x, 0.3) * 0.7);
      case 1:
        return value(layer_norm<d_model>(x + y, with.row, with.row, 0.2));
      case 2:
        return value(rms_norm<d_model>(x, with.row, 0.2) + y * 0.3);
      case 3:
        return value(plain(softmax<seq>(x * 1.5)) + y * 0.5);
      case 4:
        return value(log_softmax<seq>(x) * 0.3);
      case 5:
        return value(plain(renormalise<seq>(exp(y * 0.4))) * x);
      case 6:
        return value(x - mean<seq>(y));
      case 7:
        return value(x + logsumexp<seq>(y) * 0.3);
      case 8:
        return value(cumsum<seq>(x) * 0.4);
      case 9:
        return value(x * tanh(sum<d_model>(y) * 0.2));
      case 10: {
        const auto s = masked(scores<d_model>(x, keys(y)), causal<seq, key>{});
        return value(contract<key>(softmax<key>(s), keys(x)));
      }
      case 11: {
        const auto s = scores<d_model>(contract<d_model>(x, with.weight), keys(x));
        return value(x * 0.5 + contract<key>(softmax<key>(s), keys(y)));
      }
      case 12:
        return value(sum<copies>(stack<copies>(x * 0.4, tanh(y))));
      default:
        return value(gather<seq>(x, tensor<id<seq>, seq>(std::vector<std::size_t>{2, 0, 2}, seq{3})) * 0.7);
    }
  }
};

}  // namespace

TEST_CASE("drawn formulas of rows, attention, joins and ids agree with differences to 1e-8") {
  CHECK(wrong_formulas<steps_of_rows>(1000, 100) == "");
}
