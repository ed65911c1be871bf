// tests/grad/operations/parts.test.cpp -- gradients of vectors of operands, of elements that are replaced, and of
// windows with a stride.
//
// SPDX-License-Identifier: BSL-1.0
#include "grad/nodes.hpp"

using namespace grad_tests;

TEST_CASE("concat and stack of a vector") {
  const auto x = some<batch, seq>(1, batch{2}, seq{3});
  const auto y = some<batch, seq>(2, batch{2}, seq{2});
  CHECK_ADJOINT(std::tuple(x, y), concat<seq>(std::vector{std::get<0>(m), std::get<1>(m), std::get<0>(m)}));
  CHECK_ADJOINT(std::tuple(x, x), stack<copies>(std::vector{std::get<0>(m), std::get<1>(m)}));
  CHECK_ADJOINT(x, stack<copies>(std::vector{m * 2.0, m * 3.0}));
  CHECK_ADJOINT(x, stack<copies>(std::vector{expr(m * 2.0), expr(exp(m)), expr(m)}));
}

TEST_CASE("unstack") {
  const auto x = some<batch, seq, d_model>(1, batch{2}, seq{4});
  CHECK_ADJOINT(x, stack<seq>(unstack<seq>(m)));
  CHECK_ADJOINT(x, [&] {
    const auto parts = unstack<seq>(m * 2.0);
    auto sum = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) { sum = sum * parts[i]; }
    return sum;
  }());
}

TEST_CASE("replace_at and assign_at") {
  const auto x = some<batch, seq, d_model>(1, batch{2}, seq{4});
  const auto one = some<batch, d_model>(2, batch{2});
  const auto two = some<d_model, seq, batch>(3, batch{2}, seq{2});
  CHECK_ADJOINT(std::tuple(x, one), replace_at<seq>(std::get<0>(m), 2, std::get<1>(m)));
  CHECK_ADJOINT(std::tuple(x, two), replace_at<seq>(std::get<0>(m), 1, std::get<1>(m)));
  CHECK_ADJOINT(x, replace_at<seq>(m, 0, at<seq>(m, 3) * 2.0));
  CHECK_ADJOINT(one, [&] {
    tensor<detail::value_of<std::remove_cvref_t<decltype(m)>>, batch, seq, d_model> all(batch{2}, seq{3});
    assign_at<seq>(all, 0, m);
    for (std::size_t i = 1; i < 3; ++i) { assign_at<seq>(all, i, tanh(at<seq>(all, i - 1) + m)); }
    return all;
  }());
}

TEST_CASE("unroll with a stride") {
  const auto x = some<batch, seq>(1, batch{2}, seq{8});
  CHECK_ADJOINT(x, unroll<seq, width>(m, width{3}, stride<2>{}));
  CHECK_ADJOINT(x, max<width>(unroll<seq, width>(m, width{2}, stride<3>{})));
}
