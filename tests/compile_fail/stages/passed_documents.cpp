// MISTAKE: packed positions are passed, without the ends of their documents.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*micro_batches.*flat
#include "stages_prelude.hpp"

struct flat : packed_dim<> {};
extern tensor<float, flat, d_model> packed_x;
#ifdef FIXED
using features = passed;
constexpr auto begin = first;
#else
using features = tensor<float, flat, d_model>;
constexpr auto begin = [](const auto&, std::size_t) { return packed_x; };
#endif

void train(const one_stage<float>& m, const ranks::mesh<pp>& grid) {
  [[maybe_unused]] const auto g = value_and_gradient(m, micro_batches<features>(4, begin, layers, loss), grid);
}
