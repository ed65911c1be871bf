// tests/conformance/gradients/attention.cpp -- gradients of attention: masks, biases, soft caps, grouped heads, the
// log-sum-exp.
//
// Masks are said in the language where one word says them, and as given elements where several come together.
// SPDX-License-Identifier: BSL-1.0
#include "gradients.hpp"

#include <cmath>
#include <stdexcept>

namespace {

using namespace conformance;
using namespace conformance::gradients;

struct batch : batch_dim<> {};
struct kv_heads : heads_dim<> {};
struct group_of : heads_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};

// Which dimensions of the case each of these is.
struct roles {
  group sequences, shared_heads, own_heads;

  template <class T>
  explicit roles(const program<T>& p) {
    const group heads = p.dims("q") - group{"batch", "seq", "d_k"};
    sequences = p.dims("q") & group{"batch"};
    shared_heads = heads & p.dims("k");
    own_heads = heads - shared_heads;
  }
};

struct visibility {
  bool any = false;     // whether anything is hidden
  bool simple = false;  // whether one of the words below says it
  bool causal = false;
  bool padding = false;
  bool window = false;
  std::int64_t left = 0, right = 0;
};

template <class T>
struct attention_case {
  program<T>& p;
  roles r;
  visibility how;
  std::ptrdiff_t first;
  named<batch, kv_heads, group_of, seq, d_k> q;
  named<batch, kv_heads, key, d_k> k;
  named<batch, kv_heads, key, d_v> v;
  named<batch, kv_heads, group_of, seq, d_v> out;
  named<batch, kv_heads, group_of, seq> lse;
  T scale;
  T cap;
  // Above every score, and a power of two: a soft cap of this size changes nothing, to the bit.
  static constexpr double no_cap = 0x1p60;

  explicit attention_case(program<T>& of)
      : p(of),
        r(of),
        first(static_cast<std::ptrdiff_t>(of.number("seq_starts_at", 0))),
        q{"q", {r.sequences, r.shared_heads, r.own_heads, {"seq"}, {"d_k"}}, {0, 0, 0, first, 0}},
        k{"k", {r.sequences, r.shared_heads, {"key"}, {"d_k"}}, {0, 0, 0, 0}},
        v{"v", {r.sequences, r.shared_heads, {"key"}, {"d_v"}}, {0, 0, 0, 0}},
        out{"out", {r.sequences, r.shared_heads, r.own_heads, {"seq"}, {"d_v"}}},
        lse{"lse", {r.sequences, r.shared_heads, r.own_heads, {"seq"}}},
        scale(static_cast<T>(of.number("scale", 1 / std::sqrt(static_cast<double>(of.extent("d_k")))))),
        cap(static_cast<T>(of.number("softcap", no_cap))) {
    how.causal = p.flag("causal");
    how.padding = p.says("padding");
    how.window = p.says("window");
    if (how.window) {
      how.left = p.parameters().at("window").at(0).template get<std::int64_t>();
      how.right = p.parameters().at("window").at(1).template get<std::int64_t>();
    }
    how.any = how.causal || how.padding || how.window || p.says("mask") || p.says("documents");
    how.simple = !p.says("mask") && !p.says("documents") &&
                 (how.window ? !how.causal && !how.padding && how.left >= 0 && how.right >= 0 : true);
  }

  [[nodiscard]] tensor<std::int64_t, batch> lengths() const {
    return p.template array_of<std::int64_t>(named<batch>{p.text("padding"), {r.sequences}});
  }
  // All that the case hides, element by element.
  [[nodiscard]] tensor<bool, batch, seq, key> visible() const {
    const auto count = [&](const char* name, std::size_t otherwise) {
      return static_cast<std::ptrdiff_t>(p.has_dimension(name) ? p.extent(name) : otherwise);
    };
    tensor<bool, batch, seq, key> all(batch{count("batch", 1)}, starting_at(seq{count("seq", 1)}, first),
                                      starting_at(key{count("key", 1)}, 0));
    const auto sequences = static_cast<std::ptrdiff_t>(extent_of<batch>(all));
    const auto rows = static_cast<std::ptrdiff_t>(extent_of<seq>(all));
    const auto columns = static_cast<std::ptrdiff_t>(extent_of<key>(all));
    std::vector<double> given(all.size(), 1);
    if (p.says("mask")) { given = given_mask(); }
    std::vector<double> documents;  // their lengths: numbers, or the name of an input
    if (p.says("documents")) {
      const auto& said = p.parameters().at("documents");
      documents =
          said.is_string() ? p.numbers_of(said.template get<std::string>()) : said.template get<std::vector<double>>();
    }
    const auto document = [&](std::ptrdiff_t i) {
      std::ptrdiff_t end = 0;
      std::ptrdiff_t number = 0;
      for (const double length : documents) {
        end += static_cast<std::ptrdiff_t>(length);
        if (i < end) { break; }
        ++number;
      }
      return number;
    };
    bool* to = all.overwrite();
    std::size_t at = 0;
    for (std::ptrdiff_t b = 0; b < sequences; ++b) {
      const std::ptrdiff_t length =
          how.padding ? static_cast<std::ptrdiff_t>(lengths()(id<batch>(static_cast<std::size_t>(b)))) : columns;
      for (std::ptrdiff_t i = 0; i < rows; ++i) {
        for (std::ptrdiff_t j = 0; j < columns; ++j) {
          const std::ptrdiff_t place = i + first;
          bool seen = given[at++] != 0 && j < length && (!how.causal || j <= place);
          if (how.window) {
            seen = seen && (how.left < 0 || place - j <= how.left) && (how.right < 0 || j - place <= how.right);
          }
          if (p.says("documents")) { seen = seen && document(place) == document(j); }
          *to++ = seen;
        }
      }
    }
    return all;
  }
  // The mask of the case for every sequence, row and key; it may lack some of these.
  [[nodiscard]] std::vector<double> given_mask() const {
    const std::string name = p.text("mask");
    const group has = p.dims(name);
    const auto m = p.template array_of<bool>(
        named<batch, seq, key>{name, {has & group{"batch"}, has & group{"seq"}, has & group{"key"}}});
    const std::size_t sequences = r.sequences.empty() ? 1 : p.extent("batch");
    const std::size_t rows = p.extent("seq");
    const std::size_t columns = p.extent("key");
    std::vector<double> all;
    for (std::size_t b = 0; b < sequences; ++b) {
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
          const std::size_t row = (is_in("batch", has) ? b : 0) * extent_of<seq>(m) + (is_in("seq", has) ? i : 0);
          all.push_back(m.data()[row * extent_of<key>(m) + (is_in("key", has) ? j : 0)]);
        }
      }
    }
    return all;
  }

  // slope · (j − i), or −slope · |j − i|; zeros where the case has no slopes.
  [[nodiscard]] tensor<T, kv_heads, group_of, seq, key> alibi_bias() const {
    const auto queries = p.template array_of<T>(q);
    const auto keys = p.template array_of<T>(k);
    std::vector<double> slopes(extent_of<kv_heads>(queries) * extent_of<group_of>(queries));
    if (p.says("alibi_slopes")) { slopes = p.parameters().at("alibi_slopes").template get<std::vector<double>>(); }
    tensor<T, kv_heads, group_of, seq, key> bias(
        kv_heads{static_cast<std::ptrdiff_t>(extent_of<kv_heads>(queries))},
        group_of{static_cast<std::ptrdiff_t>(extent_of<group_of>(queries))},
        starting_at(seq{static_cast<std::ptrdiff_t>(extent_of<seq>(queries))}, first),
        starting_at(key{static_cast<std::ptrdiff_t>(extent_of<key>(keys))}, 0));
    const bool both_ways = p.text("distance").starts_with("-|");
    T* to = bias.overwrite();
    for (const double slope : slopes) {
      for (std::size_t i = 0; i < extent_of<seq>(queries); ++i) {
        for (std::size_t j = 0; j < extent_of<key>(keys); ++j) {
          const double distance = static_cast<double>(j) - static_cast<double>(i) - static_cast<double>(first);
          *to++ = static_cast<T>(slope * (both_ways ? -std::abs(distance) : distance));
        }
      }
    }
    return bias;
  }

  // What changes scores before the mask, and the mask: identities where there are none.
  template <class Bias, class Mask>
  void attend(const Bias& with_bias, const Mask& with_mask) {
    const auto scores_of = [this, &with_bias, &with_mask](const auto& m) {
      return with_mask(with_bias(scaled(contract<d_k>(std::get<0>(m), std::get<1>(m)), scale), m));
    };
    if (!p.wants("lse")) {
      p.differentiate(std::tuple(q, k, v), std::tuple(out), [&](const auto& m) {
        return std::tuple(contract<key>(softmax<key>(scores_of(m)), std::get<2>(m)));
      });
    } else if (p.wants("out")) {
      p.differentiate(std::tuple(q, k, v), std::tuple(out, lse), [&](const auto& m) {
        return std::tuple(contract<key>(softmax<key>(scores_of(m)), std::get<2>(m)), logsumexp<key>(scores_of(m)));
      });
    } else {
      p.differentiate(std::tuple(q, k), std::tuple(lse),
                      [&](const auto& m) { return std::tuple(logsumexp<key>(scores_of(m))); });
    }
  }
  // before: what changes scores before the bias.
  template <class Before, class Mask>
  void attend_biased(const Before& before, const Mask& with_mask) {
    const auto run = [&](const auto& bias) {
      p.differentiate(std::tuple(q, k, v, bias), std::tuple(out), [&](const auto& m) {
        const auto s = before(scaled(contract<d_k>(std::get<0>(m), std::get<1>(m)), scale));
        return std::tuple(contract<key>(softmax<key>(with_mask(biased(s, std::get<3>(m)))), std::get<2>(m)));
      });
    };
    const group has = p.dims("bias");
    const bool sequences = is_in("batch", has);
    const bool rows = is_in("seq", has);
    const bool heads = has.size() > std::size_t{1} + sequences + rows;
    const group kv = has & r.shared_heads;
    const group own = has & r.own_heads;
    if (sequences && heads && rows) {
      run(named<batch, kv_heads, group_of, seq, key>{
          "bias", {r.sequences, kv, own, {"seq"}, {"key"}}, {0, 0, 0, first, 0}});
    } else if (heads && rows) {
      run(named<kv_heads, group_of, seq, key>{"bias", {kv, own, {"seq"}, {"key"}}, {0, 0, first, 0}});
    } else if (sequences && rows) {
      run(named<batch, seq, key>{"bias", {r.sequences, {"seq"}, {"key"}}, {0, first, 0}});
    } else if (rows) {
      run(named<seq, key>{"bias", {group{"seq"}, group{"key"}}, {first, 0}});
    } else if (sequences && !heads) {
      run(named<batch, key>{"bias", {r.sequences, {"key"}}});
    } else {
      throw std::runtime_error("a bias of these dimensions is not known");
    }
  }
};

template <class T>
void attention(program<T>& p) {
  attention_case<T> c(p);
  const auto none = [](const auto& s) { return s; };
  const auto unchanged = [](const auto& s, const auto&) { return s; };
  const auto given = [seen = c.how.any ? c.visible() : tensor<bool, batch, seq, key>()](const auto& s) {
    return masked(s, allow(seen));
  };
  const auto capped = [&](const auto& s) { return c.cap * tanh(s / c.cap); };
  if (int{p.has("bias")} + int{p.says("softcap")} + int{p.says("alibi_slopes")} > 1) {
    // Any two or all three, compiled once: what the case does not have changes nothing.
    const auto slopes = c.alibi_bias();
    const auto seen = c.visible();
    if (p.has("bias")) {
      c.attend_biased(capped, [&](const auto& s) { return masked(biased(s, slopes), allow(seen)); });
    } else {
      c.attend([&](const auto& s, const auto&) { return biased(capped(s), slopes); },
               [&](const auto& s) { return masked(s, allow(seen)); });
    }
  } else if (p.has("bias")) {
    if (c.how.any) {
      c.attend_biased(none, given);
    } else {
      c.attend_biased(none, none);
    }
  } else if (p.says("alibi_slopes")) {
    const auto slopes = c.alibi_bias();
    const auto with_slopes = [&](const auto& s, const auto&) { return biased(s, slopes); };
    if (c.how.any) {
      c.attend(with_slopes, given);
    } else {
      c.attend(with_slopes, none);
    }
  } else if (p.says("softcap")) {
    const auto with_cap = [&](const auto& s, const auto&) { return capped(s); };
    if (c.how.any) {
      c.attend(with_cap, given);
    } else {
      c.attend(with_cap, none);
    }
  } else if (!c.how.any) {
    c.attend(unchanged, none);
  } else if (!c.how.simple) {
    c.attend(unchanged, given);
  } else if (c.how.window) {
    const dimwise::window<seq, key> near{c.how.left, c.how.right};
    c.attend(unchanged, [&](const auto& s) { return masked(s, near); });
  } else if (c.how.causal && c.how.padding) {
    const auto lengths = c.lengths();
    c.attend(unchanged, [&](const auto& s) { return masked(s, causal<seq, key>{} & padding<key>(lengths)); });
  } else if (c.how.causal) {
    c.attend(unchanged, [](const auto& s) { return masked(s, causal<seq, key>{}); });
  } else {
    const auto lengths = c.lengths();
    c.attend(unchanged, [&](const auto& s) { return masked(s, padding<key>(lengths)); });
  }
}

CONFORMANCE_GRADIENT("attention", attention)

}  // namespace
