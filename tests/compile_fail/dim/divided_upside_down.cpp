// MISTAKE: heads are divided by the width of the model.
// RULE: R4
// EXPECT: ERROR_R4_extent_does_not_divide<.*lanes, .*extent<3.*width, .*extent<12
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct width : feature_dim<12> {};
struct lanes : heads_dim<3> {};

#ifdef FIXED
struct head_width : divided<width, lanes> {};
#else
struct head_width : divided<lanes, width> {};
#endif
