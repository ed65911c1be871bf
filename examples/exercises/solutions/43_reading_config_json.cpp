// 43  Reading config.json: a solution
//
// HINT: The heads of keys and values are `num_key_value_heads`.
#include "exercise.hpp"
#include <dimwise/io/config.hpp>

using namespace dimwise;
using namespace course;

struct layers : choice_dim<3> {};
struct d_model : feature_dim<8> {};
struct kv_heads : heads_dim<2> {};

void check(const char* settings) {
  io::config_check config(nlohmann::json::parse(settings), "config.json");
  config.extent<d_model>("hidden_size");
  config.extent<layers>("num_hidden_layers");
  config.extent<kv_heads>("num_key_value_heads");
  config.finish();
}

bool is_rejected(const char* settings) {
  try {
    check(settings);
  } catch (const io::file_error&) { return true; }
  return false;
}

int main() {
  check(R"({"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2})");
  expect(is_rejected(R"({"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 4,
                         "num_key_value_heads": 4})"),
         "a model with 4 key heads does not fit");
}
