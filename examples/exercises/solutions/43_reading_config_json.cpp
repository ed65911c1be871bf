// 43  Reading config.json: a solution
//
// HINT: The heads of keys and values are `num_key_value_heads`.
#include "loading.hpp"

using namespace dimwise;
using namespace course;

struct layers : choice_dim<3> {};
struct d_model : feature_dim<8> {};
struct kv_heads : heads_dim<2> {};

const char* const file = R"({"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 3,
                             "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-6})";

int main() {
  io::config_check config(nlohmann::json::parse(file), "config.json");
  config.extent<d_model>("hidden_size");
  config.extent<layers>("num_hidden_layers");
  config.extent<kv_heads>("num_key_value_heads");
  const double epsilon = config.number("rms_norm_eps", 1e-5, io::number_range::above_zero);
  config.finish();
  expect(epsilon == 1e-6, "the setting of the file");
}
