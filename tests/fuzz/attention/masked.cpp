// tests/fuzz/attention/masked.cpp -- attention under masks of every sort; what stands at hidden keys has no effect.
//
// SPDX-License-Identifier: BSL-1.0
#include "attention.hpp"

#include <cmath>

namespace fuzz {

namespace {

void causal_mask(attempt& a) {
  const attention_operands o(a);
  const window<seq, key> same{-1, 0};
  o.check(a, [](const auto& s) { return masked(s, causal<seq, key>{}); }, 0,
          unseen(o.e, [&](auto, auto i, auto j) { return in_window(o.e, same, i, j); }));
}
void window_mask(attempt& a) {
  const attention_operands o(a);
  const auto w = draw_window(a, o.e);
  o.check(a, [&](const auto& s) { return masked(s, w); }, 0,
          unseen(o.e, [&](auto, auto i, auto j) { return in_window(o.e, w, i, j); }));
}
void two_windows(attempt& a) {
  const attention_operands o(a);
  const auto w = draw_window(a, o.e);
  const auto x = draw_window(a, o.e);
  o.check(a, [&](const auto& s) { return masked(masked(s, x), w & causal<seq, key>{}); }, 0,
          unseen(o.e, [&](auto, auto i, auto j) {
    return in_window(o.e, w, i, j) && in_window(o.e, x, i, j) && in_window(o.e, {-1, 0}, i, j);
  }));
}
// The mask says where both begin, whatever the operands say.
void told_window(attempt& a) {
  const attention_operands o(a, positions::equal);
  const std::ptrdiff_t offset = a.random.between(-4, 6);
  const std::ptrdiff_t left = a.random.between(-1, 6);
  const std::ptrdiff_t right = a.random.between(-1, 3);
  a.note("window " + std::to_string(left) + ' ' + std::to_string(right) + ", queries from " + std::to_string(offset));
  const window<seq, key> w(left, right, starting_at(o.e.s, offset), starting_at(o.e.t, 0));
  o.check(a, [&](const auto& s) { return masked(s, w); }, 0, unseen(o.e, [&](auto, auto i, auto j) {
    const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i) - offset;
    return (left < 0 || -ahead <= left) && (right < 0 || ahead <= right);
  }));
}
void prefix_mask(attempt& a) {
  const attention_operands o(a);
  const auto n = a.random.below(o.e.t.extent() + 2);
  a.note("prefix " + std::to_string(n));
  o.check(a, [&](const auto& s) { return masked(s, prefix<seq, key>(static_cast<std::ptrdiff_t>(n))); });
}
void padded_alike(attempt& a) {
  const attention_operands o(a, positions::any);
  const auto n = a.random.below(o.e.t.extent() + 1);
  a.note("length " + std::to_string(n));
  o.check(a, [&](const auto& s) { return masked(s, padding<key>(n)); }, 0,
          [n](std::size_t, std::size_t j) { return j >= n; });
}

// Lengths of batches.
class padded : public attention_operands {
 public:
  explicit padded(attempt& a, positions where = positions::told)
      : attention_operands(a, where), lengths(a, "lengths", draw_lengths(a, e.t.extent()), repeats::sometimes, e.b) {
    if (a.telling()) {
      std::string all;
      for (std::size_t i = 0; i < lengths.size(); ++i) { all += ' ' + std::to_string(lengths[i]); }
      a.note("lengths are" + all);
    }
  }
  held<int, batch> lengths;
  [[nodiscard]] hidden_keys hidden() const {
    return [this](std::size_t b, std::size_t j) { return static_cast<int>(j) >= lengths[b]; };
  }
};
void padded_by_batch(attempt& a) {
  const padded o(a, positions::any);
  o.check(a, [&](const auto& s) { return masked(s, padding<key>(o.lengths.view())); }, 0, o.hidden());
}
void padded_by_head(attempt& a) {
  const attention_operands o(a, positions::any);
  const held<std::int64_t, heads, batch> lengths(a, "lengths", draw_lengths(a, o.e.t.extent()), repeats::sometimes,
                                                 o.e.h, o.e.b);
  o.check(a, [&](const auto& s) { return masked(s, padding<key>(lengths.view())); });
}
void padded_window(attempt& a) {
  const padded o(a);
  const auto w = draw_window(a, o.e);
  o.check(a, [&](const auto& s) { return masked(s, padding<key>(o.lengths.view()) & w); }, 0, o.hidden());
}

// Given elements.
template <class... D>
class given : public attention_operands {
 public:
  template <class... Given>
  given(attempt& a, positions where, const Given attention_extents::*... which)
      : attention_operands(a, where), visible(a, "visible", draw_bools(a), repeats::sometimes, e.*which...) {}
  held<bool, D...> visible;
};
class given_all : public given<batch, seq, key> {
 public:
  explicit given_all(attempt& a, positions where = positions::any)
      : given(a, where, &attention_extents::b, &attention_extents::s, &attention_extents::t) {}
  [[nodiscard]] hidden_keys hidden() const {
    return unseen(e, [this](auto b, auto i, auto j) { return visible.at(b, i, j); });
  }
};
void given_mask(attempt& a) {
  const given_all o(a);
  o.check(a, [&](const auto& s) { return masked(s, allow(o.visible.view())); }, 0, o.hidden());
}
void given_turned(attempt& a) {
  const given<key, heads> o(a, positions::any, &attention_extents::t, &attention_extents::h);
  o.check(a, [&](const auto& s) { return masked(s, allow(o.visible.view())); });
}
void given_of_keys(attempt& a) {
  const given<key> o(a, positions::any, &attention_extents::t);
  o.check(a, [&](const auto& s) { return masked(s, allow_of(block(o.visible.view()))); }, 0,
          [&](std::size_t, std::size_t j) { return o.visible[j]; });
}
void given_and_causal(attempt& a) {
  const given_all o(a, positions::told);
  o.check(a, [&](const auto& s) { return masked(s, causal<seq, key>{} & allow(o.visible.view())); }, 0, o.hidden());
}
void given_or_window(attempt& a) {
  const given_all o(a, positions::told);
  const auto w = draw_window(a, o.e);
  o.check(a, [&](const auto& s) { return masked(s, w | allow(o.visible.view())); }, 0,
          unseen(o.e, [&](auto b, auto i, auto j) { return o.visible.at(b, i, j) || in_window(o.e, w, i, j); }));
}
void not_given_and_not_window(attempt& a) {
  const given_all o(a, positions::told);
  const auto w = draw_window(a, o.e);
  o.check(a, [&](const auto& s) { return masked(s, !w & !allow(o.visible.view())); }, 0,
          unseen(o.e, [&](auto b, auto i, auto j) { return !o.visible.at(b, i, j) && !in_window(o.e, w, i, j); }));
}
void everything_and(attempt& a) {
  const given_all o(a, positions::told);
  const held<int, batch> lengths(a, "lengths", draw_lengths(a, o.e.t.extent()), repeats::sometimes, o.e.b);
  const auto w = draw_window(a, o.e);
  o.check(a, [&](const auto& s) { return masked(s, w & padding<key>(lengths.view()) & allow(o.visible.view())); }, 0,
          [&](std::size_t b, std::size_t j) { return static_cast<int>(j) >= lengths[b]; });
}
// Two masks of lengths: no kernel takes both as such.
void two_paddings(attempt& a) {
  const padded o(a, positions::any);
  const auto n = a.random.below(o.e.t.extent() + 1);
  o.check(a, [&](const auto& s) { return masked(masked(s, padding<key>(n)), padding<key>(o.lengths.view())); }, 0,
          o.hidden());
}
void padded_or_prefix(attempt& a) {
  const padded o(a);
  o.check(a, [&](const auto& s) { return masked(s, padding<key>(o.lengths.view()) | prefix<seq, key>(2)); });
}
void weights_masked(attempt& a) {
  const given_all o(a, positions::told);
  const auto w = draw_window(a, o.e);
  const auto p = softmax<key>(masked(scores<d_k>(o.q.view(), o.k.view()), w & allow(o.visible.view())));
  compare(a, p, [&] { return of_attention(exactly(p), o.scale(), o.e.k.extent(), o.e.t.extent(), 1); });
}

// Documents of packed positions.
class packed {
 public:
  packed(attempt& a, bool by_position) {
    std::vector<std::size_t> queries;
    std::vector<std::size_t> keys;
    const bool alike =
        by_position || a.random.one_in(2);  // positions are compared between documents of the same lengths
    for (std::size_t n = a.random.below(5); n-- > 0;) {
      queries.push_back(a.extent({0, 70}));
      keys.push_back(alike ? queries.back() : a.extent({0, 70}));
    }
    s = text{queries};
    t = text_key{keys};
    const auto [few, dk, dv] = a.extents<3>({{1, 3}, {1, 33}, {1, 33}});
    k = d_k{dk};
    v = d_v{dv};
    h = heads{few};
    if (a.telling()) {
      std::string said = "documents";
      for (std::size_t i = 0; i < queries.size(); ++i) {
        said += ' ' + std::to_string(queries[i]) + ':' + std::to_string(keys[i]);
      }
      a.note(said);
    }
  }
  text s;
  text_key t;
  heads h{1};
  d_k k{1};
  d_v v{1};
};
template <class Mask>
void documents(attempt& a, bool by_position, const Mask& mask) {
  const packed p(a, by_position);
  const held<float, heads, text, d_k> q(a, "q", numbers(a.random), repeats::sometimes, p.h, p.s, p.k);
  const held<float, text_key, heads, d_k> k(a, "k", numbers(a.random), repeats::sometimes, p.h, p.t, p.k);
  const held<float, heads, text_key, d_v> v(a, "v", numbers(a.random), repeats::sometimes, p.h, p.t, p.v);
  const auto of = [&](const auto& x) {
    return contract<text_key>(softmax<text_key>(masked(scores<d_k>(q.view(), k.view()), mask(p))), x);
  };
  const double l =
      largest_product(norms(q, p.k.extent()), norms(k, p.k.extent())) / std::sqrt(static_cast<double>(p.k.extent()));
  compare(a, of(v.view()),
          [&] { return of_attention(exactly(of(v.magnitudes())), l, p.k.extent(), p.t.extent(), v.largest()); });
}
void documents_alone(attempt& a) {
  documents(a, false, [](const packed&) { return document<text, text_key>{}; });
}
void documents_causal(attempt& a) {
  documents(a, true, [](const packed&) { return causal<text, text_key>{} & document<text, text_key>{}; });
}
void documents_window(attempt& a) {
  const std::ptrdiff_t left = a.random.between(-1, 9);
  const std::ptrdiff_t right = a.random.between(-1, 3);
  a.note("window " + std::to_string(left) + ' ' + std::to_string(right));
  documents(a, true, [&](const packed&) { return document<text, text_key>{} & window<text, text_key>{left, right}; });
}
void documents_padded(attempt& a) {
  const auto part = a.random.unit();
  documents(a, false, [&](const packed& p) {
    return document<text, text_key>{} &
           padding<text_key>(static_cast<std::size_t>(part * static_cast<double>(p.t.extent())));
  });
}

const families_of_file all{
    {"mask.causal", causal_mask},
    {"mask.window", window_mask},
    {"mask.two_windows", two_windows},
    {"mask.told_window", told_window},
    {"mask.prefix", prefix_mask},
    {"mask.padded_alike", padded_alike},
    {"mask.padded_by_batch", padded_by_batch},
    {"mask.padded_by_head", padded_by_head},
    {"mask.padded_window", padded_window},
    {"mask.given", given_mask},
    {"mask.given_turned", given_turned},
    {"mask.given_of_keys", given_of_keys},
    {"mask.given_and_causal", given_and_causal},
    {"mask.given_or_window", given_or_window},
    {"mask.not_given_and_not_window", not_given_and_not_window},
    {"mask.everything_and", everything_and},
    {"mask.two_paddings", two_paddings},
    {"mask.padded_or_prefix", padded_or_prefix},
    {"mask.weights", weights_masked},
    {"mask.documents", documents_alone},
    {"mask.documents_causal", documents_causal},
    {"mask.documents_window", documents_window},
    {"mask.documents_padded", documents_padded},
};

}  // namespace

}  // namespace fuzz
