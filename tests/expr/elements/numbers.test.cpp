// tests/expr/elements/numbers.test.cpp -- which elements are computed with: real numbers, whole ones where nothing
// is lost.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

namespace numbers_test {
namespace {

using namespace dimwise;

struct batch : batch_dim<2> {};
struct seq : position_dim<3> {};
struct key : prime<seq> {};
struct d_k : feature_dim<3> {};
struct vocab : choice_dim<3> {};

template <class T>
using of = tensor<T, batch, seq>;
template <class X>
concept adds = requires(const X& x) { (x + x).extents(); };
template <class X>
concept adds_one = requires(const X& x) { (x + 1).extents(); };
template <class X, class Y>
concept divides = requires(const X& x, const Y& y) { (x / y).extents(); };
template <class X>
concept sums = requires(const X& x) { sum<seq>(x).extents(), prod<seq>(x).extents(); };
template <class X>
concept has_largest = requires(const X& x) {
  max<seq>(x).extents(), min<seq>(x).extents(), argmax<seq>(x).extents(), sort<seq>(x).extents(),
      argsort<seq>(x).extents();
};
template <class X>
concept averages = requires(const X& x) { mean<seq>(x).extents(); };
template <class X>
concept exponentials = requires(const X& x) {
  softmax<seq>(x).extents(), log_softmax<seq>(x).extents(), logsumexp<seq>(x).extents(), exp(x).extents();
};
template <class X>
concept normed = requires(const X& x) { standardize<seq>(x).extents(), renormalise<seq>(x).extents(); };
template <class X>
concept bounded = requires(const X& x) { max(x, x).extents(), min(x, x).extents(), clamp(x, x, x).extents(); };
template <class X>
concept scattered = requires(const X& x, const tensor<id<vocab>, seq>& ids) { scatter_add<vocab>(x, ids).extents(); };
template <class X, class Y>
concept has_power = requires(const X& x, const Y& y) { pow(x, y).extents(); };
template <class X, class Y>
concept alike = requires(const X& x, const Y& y) { (x == y).extents(); };
template <class X, class Y>
concept ordered_alike = requires(const X& x, const Y& y) { (x < y).extents(); };
template <class X>
concept adds_up = requires(const X& x) { cumsum<seq>(x).extents(), cumprod<seq>(x).extents(); };
template <class X>
concept multiplied = requires(const X& x, const tensor<float, vocab>& y) {
  outer(x, y).extents(), contract<seq>(x, rename<key, seq>(tensor<float, key>())).extents();
};
template <class X>
concept hidden = requires(const X& x) { masked(x, padding<seq>(2)).extents(); };
template <class X>
concept mapped = requires(const X& x) {
  map([](auto v) { return v; }, x).extents(), plain(x).extents(), rename<seq, key>(x).extents();
};

// Real numbers: everything.
static_assert(adds<of<float>> && adds_one<of<float>> && sums<of<double>> && averages<of<float>> &&
              exponentials<of<double>> && normed<of<float>> && multiplied<of<float>> && hidden<of<float>>);
// Whole numbers: what loses nothing (R13).
static_assert(adds<of<int>> && adds_one<of<std::int64_t>> && sums<of<int>> && has_largest<of<int>> &&
              adds_up<of<int>> && adds_up<of<std::int64_t>> && adds_up<of<float>>);
static_assert(alike<of<float>, of<float>> && alike<of<int>, of<double>> && alike<of<bool>, of<bool>> &&
              alike<of<id<vocab>>, of<id<vocab>>>);
static_assert(!alike<of<float>, of<bool>> && !alike<of<bool>, of<float>> && !alike<of<float>, of<id<vocab>>> &&
              !alike<of<id<vocab>>, of<float>>);
static_assert(!alike<of<float>, of<bfloat16>> && !ordered_alike<of<bool>, of<bool>> &&
              !ordered_alike<of<id<vocab>>, of<id<vocab>>>);
static_assert(ordered_alike<of<int>, of<float>> && !ordered_alike<of<float>, of<bool>>);
static_assert(bounded<of<float>> && bounded<of<int>> && !bounded<of<bool>> && !bounded<of<id<vocab>>>);
static_assert(scattered<of<float>> && scattered<of<std::int64_t>> && !scattered<of<bool>>);
static_assert(has_power<of<float>, of<float>> && has_power<of<float>, of<int>> && has_power<of<int>, of<double>> &&
              !has_power<of<int>, of<int>>);
static_assert(!averages<of<int>> && !exponentials<of<int>> && !normed<of<int>> && !multiplied<of<int>> &&
              !hidden<of<int>>);
// Division is for real numbers, which whole ones become beside them.
static_assert(divides<of<float>, of<int>> && divides<of<int>, of<double>> && divides<of<float>, int> &&
              divides<int, of<float>> && divides<of<int>, float> && divides<double, of<int>>);
static_assert(!divides<of<int>, of<int>> && !divides<of<int>, int> && !divides<int, of<int>> &&
              !divides<of<std::int64_t>, of<int>>);
// Ids index (R18), bools wait for their polarity (R7): nothing is computed with them.
static_assert(!adds<of<id<vocab>>> && !adds_one<of<id<vocab>>> && !sums<of<id<vocab>>> && !has_largest<of<id<vocab>>> &&
              !averages<of<id<vocab>>> && !exponentials<of<id<vocab>>> && !normed<of<id<vocab>>> &&
              !multiplied<of<id<vocab>>> && !hidden<of<id<vocab>>>);
static_assert(!adds<of<bool>> && !adds_one<of<bool>> && !sums<of<bool>> && !has_largest<of<bool>> &&
              !averages<of<bool>> && !exponentials<of<bool>> && !normed<of<bool>> && !multiplied<of<bool>> &&
              !hidden<of<bool>> && !adds_up<of<bool>> && !adds_up<of<id<vocab>>> && !adds_up<of<bfloat16>>);
// What is stored in few bits is widened first (R13).
template <class T>
inline constexpr bool only_stored = !adds<of<T>> && !adds_one<of<T>> && !sums<of<T>> && !has_largest<of<T>> &&
                                    !averages<of<T>> && !exponentials<of<T>> && !normed<of<T>> && !multiplied<of<T>> &&
                                    !hidden<of<T>> && !divides<of<T>, of<float>> && mapped<of<T>>;
static_assert(only_stored<bfloat16> && only_stored<float16> && only_stored<int4_pair>);
static_assert(adds<decltype(widened(of<bfloat16>()))> && multiplied<decltype(widened(of<float16>()))>);
// One mistake, one error: the rule's own verdict comes first.
using missing = rule::reduce<op::sum, detail::list<key>, shape<batch, seq>>;
static_assert(std::is_same_v<detail::of_alike<op::compare, true, missing, of<bool>, of<bool>>, missing>);
static_assert(refused<missing> && std::is_same_v<detail::of_numbers<op::sum, missing, of<bool>>, missing>);
// A function of the user's own takes any, and names, orders and parts are not computing.
static_assert(mapped<of<float>> && mapped<of<int>> && mapped<of<bool>> && mapped<of<id<vocab>>>);

TEST_CASE("whole numbers become real where they meet real ones") {
  const tensor<float, batch> sums({3.0F, 5.0F});
  const tensor<int, batch> lengths({2, 4});
  const tensor<float, batch> means = sums / lengths;
  CHECK(means.data()[0] == 1.5F);
  CHECK(means.data()[1] == 1.25F);
  const of<int> counts({1, 2, 3, 4, 5, 6});
  const of<double> product = counts * tensor<double, batch>({0.5, 0.25}) + sums;
  CHECK(product.data()[2] == 4.5);
  CHECK(product.data()[5] == 6.5);
  const tensor<int, batch> total = sum<seq>(counts);
  CHECK(total.data()[1] == 15);
  const tensor<int, batch> odd = lengths * 2 - 1;
  CHECK(odd.data()[1] == 7);
  // Numbers are real, too.
  const tensor<float, batch> halves = lengths * 0.25F;
  CHECK(halves.data()[0] == 0.5F);
  const tensor<float, batch> shifted = 0.5F - lengths;
  CHECK(shifted.data()[1] == -3.5F);
  const tensor<double, batch> inverse = 1.0 / lengths;
  CHECK(inverse.data()[1] == 0.25);
  const tensor<float, batch> shares = lengths / 8.0F;
  CHECK(shares.data()[0] == 0.25F);
  const tensor<int, batch> squares = square(-lengths);
  CHECK(squares.data()[1] == 16);
  const tensor<int, batch> distances = abs(lengths - 5);
  CHECK(distances.data()[0] == 3);
}

TEST_CASE("running sums of whole numbers are whole: the positions of what is padded on the left") {
  const tensor<bool, batch, seq> written({false, true, true, true, true, true});
  const tensor<int, batch, seq> places = max(cumsum<seq>(where(written, 1, 0)) - 1, 0);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(places.data()[i] == (i < 3 ? std::array{0, 0, 1} : std::array{0, 1, 2})[i % 3]);
  }
  // What is compared on the way is compared as the real numbers that it is.
  const tensor<float, seq> chances({0.25F, 0.75F, 0.5F});
  const tensor<int, seq> likely = cumsum<seq>(where(chances > 0.4F, 1, 0));
  for (std::size_t i = 0; i < 3; ++i) { CHECK(likely.data()[i] == static_cast<int>(i)); }
  // No digit is lost on the way, as it would be in float or double.
  const tensor<std::int64_t, seq> large({std::int64_t{1} << 60, 1, 1});
  CHECK(dimwise::evaluate(cumsum<seq>(large))(id<seq>{2}) == (std::int64_t{1} << 60) + 2);
}

}  // namespace
}  // namespace numbers_test
