// SPDX-License-Identifier: BSL-1.0
// Models of another element type, and walks over several at once.
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/nn/model.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <memory>
#include <optional>

namespace {

using namespace dimwise;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_model : feature_dim<8> {};
struct hidden : feature_dim<> {};
struct heads : heads_dim<2> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};

using attention = nn::multi_head_attention<d_model, heads, d_k, d_v, nn::rotated_heads>;
using layer = nn::encoder_layer<nn::self_attention<seq, key, attention>, nn::feed_forward<d_model, hidden>,
                                nn::layer_norm<d_model>, nn::pre_norm>;
using model = nn::stack<layer, nn::rms_norm<d_model>>;

// Each of a user's own: one with its element type among its arguments, one that says how it is rebound.
template <class T = float>
struct own {
  using weight_type = tensor<T, d_model>;
  BOOST_HANA_DEFINE_STRUCT(own, (weight_type, weight), (int, steps));
};
template <int N, class T = float>
struct numbered {
  template <class U>
  using rebind = numbered<N, U>;
  using weight_type = tensor<T, d_model>;
  BOOST_HANA_DEFINE_STRUCT(numbered, (weight_type, weight));
};

static_assert(std::is_same_v<rebind<double, nn::linear<nn::from<d_model>, nn::to<hidden>>>,
                             nn::linear<nn::from<d_model>, nn::to<hidden>, nn::with_bias, double>>);
static_assert(std::is_same_v<rebind<double, own<>>, own<double>>);
static_assert(std::is_same_v<rebind<double, numbered<3>>, numbered<3, double>>);
static_assert(std::is_same_v<rebind<double, tensor<id<seq>, d_model>>, tensor<id<seq>, d_model>>);
static_assert(std::is_same_v<decltype(rebind<double, nn::layer_norm<d_model>>::gamma), tensor<double, d_model>>);
static_assert(std::is_same_v<decltype(rebind<double, nn::self_attention<seq, key, attention>>::query.weight),
                             tensor<double, d_model, heads, d_k>>);

model drawn() {
  auto m = model::of(2);
  nn::normal how(1);
  nn::initialise(m, how, hidden{5});
  return m;
}

}  // namespace

TEST_CASE("a model is converted with its settings and the lengths of its sequences") {
  auto m = drawn();
  m.norm.epsilon = 0.25;
  m.layers[1].attention.prepare.options.base = 500;
  const auto precise = converted<double>(m);
  CHECK(precise.layers.size() == 2);
  CHECK(precise.norm.epsilon == 0.25);
  CHECK(precise.layers[0].norm1.epsilon == 1e-5);
  CHECK(precise.layers[1].attention.prepare.options.base == 500);
  CHECK(precise.layers[1].attention.query.weight.data()[3] ==
        static_cast<double>(m.layers[1].attention.query.weight.data()[3]));
  const auto back = converted<float>(precise);
  std::size_t compared = 0;
  for_each_parameter_of([&](const std::string& name, const auto& a, const auto& b) {
    INFO(name);
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i, ++compared) { CHECK(a.data()[i] == b.data()[i]); }
  }, m, back);
  CHECK(compared == nn::parameter_count(m));
}

TEST_CASE("the converted model computes the same in the other type") {
  const auto m = drawn();
  tensor<float, seq, d_model> x(seq{3});
  nn::random r(5);
  for (std::size_t i = 0; i < x.size(); ++i) { x.overwrite()[i] = static_cast<float>(r.normal()); }
  const auto y = m(x);
  const auto precise = converted<double>(m)(tensor<double, seq, d_model>(x));
  static_assert(std::is_same_v<decltype(precise), const tensor<double, seq, d_model>>);
  // Two layers of sums of at most 8 terms of order 1.
  for (std::size_t i = 0; i < y.size(); ++i) { CHECK(std::abs(y.data()[i] - precise.data()[i]) < 2e-5); }
}

// Layers whose number is known to the compiler.
namespace {
template <class T = float>
struct two_layers {
  using layers_type = std::array<nn::linear<nn::from<d_model>, nn::to<d_model>, nn::with_bias, T>, 2>;
  BOOST_HANA_DEFINE_STRUCT(two_layers, (layers_type, layers));
};
}  // namespace

// What a walk takes, and what it refuses (R21, R22). The functions' bodies do not compile for settings.
namespace {
constexpr auto of_one = [](const std::string&, auto& part) { part.fill(0); };
constexpr auto of_two = [](std::string_view, auto& to, const auto& from) { (void)to.size(), (void)from.size(); };
constexpr auto of_any = [](const auto&... all) { return sizeof...(all); };
constexpr auto of_a_row = [](const std::string&, const tensor<float, d_model>&) {};
constexpr auto without_name = [](const auto&) {};
struct unnamed {
  tensor<float, d_model> weight{};
};
template <class F, class First, class... M>
constexpr bool walks = allowed<detail::walk_verdict<F, First, M...>>;
template <class F, class M>
constexpr bool walks_one = allowed<nn::detail::walk_verdict<F, M>>;
using row = tensor<float, d_model>;
using wide_row = tensor<double, d_model>;
static_assert(walks<decltype(of_one), model> && walks<decltype(of_any), model, const model>);
static_assert(walks<decltype(of_two), model, const model> && walks<decltype(of_two), model, rebind<double, model>>);
static_assert(walks<decltype(of_two), row, const wide_row> && walks<decltype(of_a_row), row>);
static_assert(walks<decltype(of_two), tensor<float, d_model, seq>, tensor<float, seq, d_model>>);
static_assert(walks<decltype(of_two), std::tuple<row, int>, std::tuple<row, double>>);
static_assert(!walks<decltype(of_one), model, model> && !walks<decltype(of_two), model>);
static_assert(!walks<decltype(without_name), model> && !walks<decltype(of_a_row), model>);
static_assert(!walks<decltype(of_two), row, tensor<float, seq>> && !walks<decltype(of_two), model, two_layers<>>);
static_assert(!walks<decltype(of_two), std::tuple<row, row>, std::tuple<row>>);
static_assert(!walks<decltype(of_two), std::tuple<row, int>, std::tuple<row, row>>);
static_assert(!walks<decltype(of_two), std::vector<row>, row> && !walks<decltype(of_one), unnamed>);
static_assert(walks_one<decltype(of_one), model> && walks_one<decltype(of_any), const std::vector<model>>);
static_assert(!walks_one<decltype(without_name), model> && !walks_one<decltype(of_two), model>);
static_assert(!walks_one<decltype(of_one), unnamed> && !walks_one<decltype(of_one), row>);
}  // namespace

TEST_CASE("lists of other lengths are refused before any of their layers is visited") {
  std::vector<tensor<float, d_model>> three(3);
  const std::vector<tensor<float, d_model>> one(1);
  std::size_t visited = 0;
  const auto walk = [&](auto& a, const auto& b) {
    for_each_parameter_of([&](const std::string&, auto&, const auto&) { ++visited; }, a, b);
  };
  CHECK_THROWS_WITH_AS(walk(three, one), doctest::Contains("the lists have 3 and 1 layers"), extent_error);
  CHECK_THROWS_AS(walk(one, three), extent_error);
  CHECK(visited == 0);
  auto long_one = model::of(3);
  const auto short_one = model::of(2);
  CHECK_THROWS_WITH_AS(walk(long_one, short_one), doctest::Contains("the lists `layers` have 3 and 2 layers"),
                       extent_error);
  CHECK(visited == 0);
}

// A module whose list names all members or not: what is beside it makes it larger.
namespace {
using map_type = nn::linear<nn::from<d_model>, nn::to<d_model>>;
struct named {
  BOOST_HANA_DEFINE_STRUCT(named, (bool, first), (map_type, map), (int, count), (char, last));
};
struct with_a_number {
  BOOST_HANA_DEFINE_STRUCT(with_a_number, (map_type, map));
  double scale = 1;
};
struct with_a_tensor {
  BOOST_HANA_DEFINE_STRUCT(with_a_tensor, (bool, first), (map_type, map), (int, count));
  tensor<float, d_model> shift;
};
struct nothing_in_it {};
struct inherited : nothing_in_it {
  BOOST_HANA_DEFINE_STRUCT(inherited, (map_type, map));
  [[maybe_unused]] static constexpr double shared = 1;
};
struct with_functions {
  BOOST_HANA_DEFINE_STRUCT(with_functions, (bool, first), (map_type, map));
  with_functions() = default;
  virtual ~with_functions() = default;
};
struct alignas(128) aligned {
  BOOST_HANA_DEFINE_STRUCT(aligned, (map_type, map));
};
struct empty {
  BOOST_HANA_DEFINE_STRUCT(empty);
};
}  // namespace

TEST_CASE("a member that is not named is found by the size of its module") {
  using nn::detail::has_unnamed_members;
  static_assert(has_unnamed_members<with_a_number>() && has_unnamed_members<with_a_tensor>());
  static_assert(!has_unnamed_members<named>() && !has_unnamed_members<inherited>());
  static_assert(!has_unnamed_members<with_functions>() && !has_unnamed_members<aligned>());
  static_assert(!has_unnamed_members<empty>() && nn::detail::all_members_are_named<std::tuple<named, model, int>>());
}

TEST_CASE("layers in an array are walked, drawn and converted") {
  static_assert(std::is_same_v<rebind<double, two_layers<>>, two_layers<double>>);
  static_assert(std::is_same_v<rebind<double, two_layers<>::layers_type>, two_layers<double>::layers_type>);
  static_assert(nn::detail::has_walked_parameters<two_layers<>>() && !nn::detail::has_walked_parameters<int>());
  static_assert(nn::detail::hides_parameters<std::optional<two_layers<>>>);
  static_assert(nn::detail::hides_parameters<std::shared_ptr<two_layers<>>>);
  static_assert(nn::detail::hides_parameters<two_layers<>*>);
  static_assert(!nn::detail::hides_parameters<std::optional<float>>);
  static_assert(!nn::detail::hides_parameters<two_layers<>>);
  const auto m = nn::initialised<two_layers<>>(nn::normal(1));
  std::vector<std::string> names;
  for_each_parameter_of([&](const std::string& name, const auto&) { names.push_back(name); }, m);
  CHECK(names == std::vector<std::string>{"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"});
  CHECK(m.layers[1].weight.data()[0] != 0);
  CHECK(converted<double>(m).layers[1].weight.data()[0] == double{m.layers[1].weight.data()[0]});
}
