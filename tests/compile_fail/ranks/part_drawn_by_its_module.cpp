// MISTAKE: a module draws the numbers of its part by itself: they are equal on all ranks.
// RULE: R24
// EXPECT: ERROR_R24_divided_parameters_are_drawn_by_initialise<.*initialise.*tp
// VARIANTS: equal
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

struct with_scales {
  tensor<float, hidden_here> scales;
  using members = nn::member_list<&with_scales::scales>;

#ifdef FIXED
  static constexpr bool passes_on = true;
  template <class How, class... Extents>
  void initialise_parameters(How& how, const Extents&... extents) {
    nn::initialise(scales, how, extents...);
  }
#else
  template <class How, class... Extents>
  void initialise_parameters(How& how, const Extents&...) {
    scales.fill(static_cast<float>(how(1, 1)));
  }
#endif
};

void draws(with_scales& part, const ranks::mesh<tp>& grid) {
  nn::normal how(1);
  nn::initialise(part, how, grid);
}
