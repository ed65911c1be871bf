// MISTAKE: the queries of a cross-attention are taken from the memory, in the forward pass of a layer of a model.
// RULE: R1
// LINES(clang): 13
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*scores.*seq
#include "nn_prelude.hpp"
#include <dimwise/nn.hpp>

struct layer {
  auto operator()(const auto& state, const auto& of_memory) const {
#ifdef FIXED
    return attends_memory(state, of_memory);
#else
    return attends_memory(of_memory, of_memory);
#endif
  }
};
struct model {
  layer first;
  auto operator()(const auto& state, const auto& of_memory) const { return first(state, of_memory); }
};

void step(const model& m) { [[maybe_unused]] const tensor y = m(x, memory); }
