// MISTAKE: the product of heads and features is divided instead of the heads.
// RULE: R24
// EXPECT: ERROR_R24_dimension_has_no_such_shard<.*merged<.*tp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<3> {};

#ifdef FIXED
struct heads_here : shard<heads, tp> {};
#else
struct heads_here : shard<merged<heads, d_k>, tp> {};
#endif
