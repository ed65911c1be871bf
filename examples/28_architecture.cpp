// SPDX-License-Identifier: BSL-1.0
// 28_architecture -- a decoder architecture of your own: which settings of config.json mean what, and how its arrays
// are named.
//
// Shows: the formula is compiled once, and an architecture is data. Settings that change the result and are not read
// are rejected with a list of what is.
#include <dimwise/models/decoders.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace dimwise;

namespace {

// [architecture]
// "twin": LLaMA whose attention and feed-forward layer share a norm and run in parallel, with one array for queries,
// keys and values, and a window in every second layer.
models::decoder_plan read_twin(io::config_check& c) {
  models::decoder_plan plan = models::read_usual(c, {.epsilon = "norm_eps", .default_epsilon = 1e-5, .tied = true});
  models::decoder_config& to = plan.config;
  to.parallel = to.single_norm = true;
  models::read_rotary_of_all(c, to, {.base = 50000});
  const std::size_t window = models::whole_number(c, "sliding_window", 128, models::null_setting::is_zero);
  for (std::size_t i = 0; i < to.layers.size(); i += 2) { to.layers[i].window = window; }

  models::decoder_names& names = plan.names;
  names.prefix = "twin.";
  names.layer = "blocks.";
  names.norm1 = "norm";
  names.order = models::qkv_order::stacked;
  names.qkv = "attention.qkv";
  names.attention = "attention.out";
  names.norm = "last_norm";
  return plan;
}
// [/architecture]

void write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file) << text; }

}  // namespace

int main() {
  const std::string settings = R"({"model_type": "twin", "vocab_size": 50, "hidden_size": 32, "intermediate_size": 48,
    "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3, "sliding_window": 5})";
  const auto folder = std::filesystem::temp_directory_path() / "dimwise_28_architecture";
  std::filesystem::create_directories(folder);
  write(folder / "config.json", settings);

  // A checkpoint of drawn weights, with the names above.
  const models::decoder_architectures mine{{"twin", read_twin}};
  const auto plan = models::plan_decoder(io::config_check(folder / "config.json"), mine);
  models::decoder<> drawn(plan.config);
  std::apply([&](const auto&... extents) {
    nn::normal how(1, 0.2);
    nn::initialise(drawn, how, extents...);
    io::bindings file(extents...);
    models::bind_decoder(file, plan.names, drawn);
    io::save(drawn, folder / "model.safetensors", file);
  }, models::decoder_extents<models::decoder_dims>(plan.config));

  // [read]
  const auto model = models::read_decoder(folder, mine);
  auto caches = model.start(16);
  const std::vector<models::decoder<>::token> prompt{models::decoder<>::token{7}, models::decoder<>::token{42}};
  const tensor logits = model.next(prompt, caches);
  // [/read]
  auto others = drawn.start(16);
  const tensor expected = drawn.next(prompt, others);
  std::printf("%zu layers, %zu parameters; the first layer sees %zu positions, the second all\n", model.blocks.size(),
              nn::parameter_count(model), model.config.layers[0].window);
  std::printf("the logits are those of the model that was saved: %s\n",
              std::equal(logits.values().begin(), logits.values().end(), expected.values().begin()) ? "yes" : "no");

  write(folder / "config.json", settings.substr(0, settings.size() - 1) +
                                    R"(, "hidden_act": "mish", "rope_scaling": {"rope_type": "ntk", "factor": 2}})");
  try {
    (void)models::read_decoder(folder, mine);
  } catch (const io::file_error& e) {
    const std::string said = e.what();
    std::printf("config.json%s\n", said.substr(said.find("config.json") + 11).c_str());
  }
  std::filesystem::remove_all(folder);
}
