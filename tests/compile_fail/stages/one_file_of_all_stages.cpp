// MISTAKE: the gain of each stage has the same name, so one file of all stages would have one of them.
// RULE: R25
// EXPECT: ERROR_R25_model_is_one_of_several_stages<.*save.*pp
#include "stages_prelude.hpp"
#include <dimwise/ranks/checkpoint.hpp>

struct listed {
  using stage_along = pp;
#ifdef FIXED
  std::vector<tensor<float, d_model>> gain;
#else
  tensor<float, d_model> gain;
#endif
  using members = nn::member_list<&listed::gain>;
};

void store(const listed& m, const ranks::mesh<pp>& grid) { ranks::save(m, "model.safetensors", grid); }
