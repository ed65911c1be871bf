// MISTAKE: log-probabilities of the samples are multiplied by advantages of the positions, which would make a matrix.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, batch> log_probabilities, advantages;
extern tensor<float, seq> advantages_of_positions;

void train() {
#ifdef FIXED
  RESULT loss = mean<batch>(log_probabilities * advantages);
#else
  RESULT loss = mean<batch>(log_probabilities * advantages_of_positions);
#endif
}
