// MISTAKE: of an image, the keys' columns are turned by their rows.
// RULE: R9
// EXPECT: ERROR_R9_operands_are_rotated_by_other_positions<.*scores.*rotated<.*column.*rotated<.*row
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct row : position_dim<EXTENT(14)> {};
struct column : position_dim<EXTENT(16)> {};
struct key_row : prime<row> {};
struct key_column : prime<column> {};
struct of_rows : feature_dim<4> {};
struct of_columns : feature_dim<4> {};
using both = summed<of_rows, of_columns>;

extern tensor<float, row, column, both> image;
extern tensor<float, key_row, key_column, both> patches;

// Half of the features are turned by rows, the other half by columns.
auto turned_queries() {
  return concat<both>(rotary<row, of_rows>(part<of_rows>(image)), rotary<column, of_columns>(part<of_columns>(image)));
}

void layer() {
#ifdef FIXED
  auto keys = concat<both>(rotary<key_row, of_rows>(part<of_rows>(patches)),
                           rotary<key_column, of_columns>(part<of_columns>(patches)));
  RESULT r = scores<both>(turned_queries(), keys);
#else
  auto keys = concat<both>(rotary<key_row, of_rows>(part<of_rows>(patches)),
                           rotary<key_row, of_columns>(part<of_columns>(patches)));
  RESULT r = scores<both>(turned_queries(), keys);
#endif
}
