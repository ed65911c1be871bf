// MISTAKE: rank 0 would write the parameters of its stage as those of the model.
// RULE: R25
// EXPECT: ERROR_R25_model_is_one_of_several_stages<.*save.*pp
#include "stages_prelude.hpp"
#include <dimwise/ranks/checkpoint.hpp>

void store(const one_stage<float>& m, const ranks::mesh<pp>& grid) {
#ifdef FIXED
  io::save(m, "stage.safetensors");
#else
  ranks::save(m, "model.safetensors", grid);
#endif
  (void)grid;
}
