// tests/conformance/gradients/views.cpp -- gradients of what takes, joins, reorders, cuts and turns elements.
// SPDX-License-Identifier: BSL-1.0
#include "gradients.hpp"

#include <algorithm>
#include <stdexcept>

namespace {

using namespace conformance;
using namespace conformance::gradients;

struct taken : position_dim<> {};
struct first_part : feature_dim<> {};
struct second_part : feature_dim<> {};

// The dimensions before one of them, itself, and those behind it.
std::array<group, 3> around(const group& all, const std::string& name) {
  const auto at = std::find(all.begin(), all.end(), name);
  if (at == all.end()) { throw std::runtime_error("lacks the dimension " + name); }
  return {group(all.begin(), at), {name}, group(at + 1, all.end())};
}
template <class T>
std::size_t whole(const program<T>& p, const char* key) {
  return static_cast<std::size_t>(p.number(key, 0));
}

template <class T>
void gather_named(program<T>& p) {
  const std::string table = p.has("table") ? "table" : "x";
  const group from = p.names("from");
  const group both = p.dims(table) & p.dims("ids");
  const group of_table = p.dims(table) - both - from;
  const group of_ids = p.dims("ids") - both;
  const auto ids = p.template array_of<id<choices>>(named<shared, row>{"ids", {both, of_ids}});
  p.differentiate(std::tuple(named<shared, choices, features>{table, {both, from, of_table}}),
                  std::tuple(named<shared, row, features>{"y", {both, of_ids, of_table}}),
                  [&](const auto& m) { return std::tuple(gather<choices>(std::get<0>(m), ids)); });
}
template <class T>
void scatter_add_named(program<T>& p) {
  const std::string to = p.names("to").at(0);
  const group placed = p.dims("ids");
  const group beside = p.dims("x") - placed;
  const auto ids = p.template array_of<id<choices>>(named<row>{"ids", {placed}});
  const choices all{static_cast<std::ptrdiff_t>(p.extent(to))};
  p.differentiate(std::tuple(named<row, features>{"x", {placed, beside}}),
                  std::tuple(named<choices, features>{"y", {group{to}, beside}}),
                  [&](const auto& m) { return std::tuple(scatter_add<choices, row>(std::get<0>(m), ids, all)); });
}
template <class T>
void concat_named(program<T>& p) {
  const group inputs = p.input_names();
  const std::string along = p.names("along").at(0);
  const group own_a = p.dims(inputs.at(0)) - p.dims(inputs.at(1));
  const group own_b = p.dims(inputs.at(1)) - p.dims(inputs.at(0));
  const std::string name_a = own_a.empty() ? along : own_a.at(0);
  const std::string name_b = own_b.empty() ? along : own_b.at(0);
  const auto a = around(p.dims(inputs.at(0)), name_a);
  const std::array<group, 3> b{a[0], {name_b}, a[2]};
  const std::array<group, 3> y{a[0], {along}, a[2]};
  if (along.starts_with("summed<")) {
    p.differentiate(
        std::tuple(named<rest, first_part, after>{inputs.at(0), a}, named<rest, second_part, after>{inputs.at(1), b}),
        std::tuple(named<rest, summed<first_part, second_part>, after>{"y", y}), [](const auto& m) {
      return std::tuple(concat<summed<first_part, second_part>>(std::get<0>(m), std::get<1>(m)));
    });
  } else {
    p.differentiate(std::tuple(named<rest, row, after>{inputs.at(0), a}, named<rest, row, after>{inputs.at(1), b}),
                    std::tuple(named<rest, row, after>{"y", y}),
                    [](const auto& m) { return std::tuple(concat<row>(std::get<0>(m), std::get<1>(m))); });
  }
}
template <class T>
void slice_named(program<T>& p) {
  const auto x = around(p.dims("x"), p.text("of"));
  const group left = p.output_dims("y") - p.dims("x");
  const std::array<group, 3> y{x[0], left.empty() ? x[1] : left, x[2]};
  p.differentiate(
      std::tuple(named<rest, row, after>{"x", x}), std::tuple(named<rest, row, after>{"y", y}),
      [&](const auto& m) { return std::tuple(slice<row>(std::get<0>(m), whole(p, "first"), whole(p, "count"))); });
}
template <class T>
void at_named(program<T>& p) {
  const auto x = around(p.dims("x"), p.text("of"));
  p.differentiate(std::tuple(named<rest, row, after>{"x", x}), std::tuple(named<rest, after>{"y", {x[0], x[2]}}),
                  [&](const auto& m) { return std::tuple(at<row>(std::get<0>(m), whole(p, "index"))); });
}

// ---- orders
// ----------------------------------------------------------------------------------------------------------

struct p0 : batch_dim<> {};
struct p1 : batch_dim<> {};
struct p2 : batch_dim<> {};
struct p3 : batch_dim<> {};
struct between : batch_dim<> {};

// A and B change their places and their names: the same type, the elements in another order.
template <class A, class B, class X>
auto renamed(const X& x) {
  return relabel<between, A>(relabel<A, B>(relabel<B, between>(x)));
}
template <class X>
X swapped(const X& x, std::size_t first) {
  switch (first) {
    case 0:
      return X(renamed<p0, p1>(permute<p1, p0, p2, p3>(x)));
    case 1:
      return X(renamed<p1, p2>(permute<p0, p2, p1, p3>(x)));
    default:
      return X(renamed<p2, p3>(permute<p0, p1, p3, p2>(x)));
  }
}
// Every order is made of changes of neighbours.
template <class T>
void permute_named(program<T>& p) {
  const group from = p.dims("x");
  const group to = p.output_dims("y");
  if (from.size() > 4) { throw std::runtime_error("permute: expected at most 4 dimensions"); }
  std::array<group, 4> x;
  std::array<group, 4> y;
  std::vector<std::size_t> order(4);  // the place in the output of each dimension
  for (std::size_t i = 0; i < 4; ++i) {
    order[i] = i;
    if (i >= from.size()) { continue; }
    x.at(i) = {from[i]};
    y.at(i) = {to[i]};
    order[i] = static_cast<std::size_t>(std::find(to.begin(), to.end(), from[i]) - to.begin());
  }
  p.differentiate(std::tuple(named<p0, p1, p2, p3>{"x", x}), std::tuple(named<p0, p1, p2, p3>{"y", y}),
                  [&](const auto& m) {
    auto now = std::get<0>(m);
    std::vector<std::size_t> left = order;
    for (std::size_t round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < 3; ++i) {
        if (left[i] > left[i + 1]) {
          std::swap(left[i], left[i + 1]);
          now = swapped(now, i);
        }
      }
    }
    return std::tuple(now);
  });
}
template <class T>
void split_named(program<T>& p) {
  const group factors = p.names("factors");
  const std::string together = "merged<" + factors.at(0) + "," + factors.at(1) + ">";
  const auto x = around(p.dims("x"), together);
  const auto size = [&](const group& g) {
    std::size_t n = 1;
    for (const std::string& name : g) { n *= p.extent(name); }
    return static_cast<std::ptrdiff_t>(n);
  };
  const auto input = p.template with_extents<rest, merged<row, column>, after>(
      "x", {x[0], x[1], x[2]}, rest{size(x[0])}, row{size({factors[0]})}, column{size({factors[1]})},
      after{size(x[2])});
  p.differentiate(std::tuple(input),
                  std::tuple(named<rest, row, column, after>{"y", {x[0], {factors[0]}, {factors[1]}, x[2]}}),
                  [](const auto& m) { return std::tuple(split<row, column>(std::get<0>(m))); });
}
template <class T>
void merge_named(program<T>& p) {
  const group factors = p.names("factors");
  const std::string together = "merged<" + factors.at(0) + "," + factors.at(1) + ">";
  const auto x = around(p.dims("x"), factors.at(0));
  const bool behind = is_in(factors.at(1), x[2]);
  const auto y = behind ? around(x[2], factors.at(1)) : around(x[0], factors.at(1));
  if (behind) {
    p.differentiate(
        std::tuple(named<rest, row, shared, column, after>{"x", {x[0], {factors[0]}, y[0], {factors[1]}, y[2]}}),
        std::tuple(named<rest, shared, after, merged<row, column>>{"y", {x[0], y[0], y[2], {together}}}),
        [](const auto& m) { return std::tuple(merge<row, column>(std::get<0>(m))); });
  } else {
    p.differentiate(
        std::tuple(named<rest, column, shared, row, after>{"x", {y[0], {factors[1]}, y[2], {factors[0]}, x[2]}}),
        std::tuple(named<rest, shared, after, merged<row, column>>{"y", {y[0], y[2], x[2], {together}}}),
        [](const auto& m) { return std::tuple(merge<row, column>(std::get<0>(m))); });
  }
}

// ---- positions
// -------------------------------------------------------------------------------------------------------

template <class T>
void rotary_named(program<T>& p) {
  const group beside = p.dims("x") - group{"seq", "d_k"};
  const auto first = static_cast<std::ptrdiff_t>(p.number("first", 0));
  const rotary_options options{
      .base = p.number("base", 10000),
      .pairs = p.text("style") == "interleaved" ? rotary_pairs::interleaved : rotary_pairs::half_split,
      .features = whole(p, "rotary_dim")};
  p.differentiate(std::tuple(named<rest, row, features>{"x", {beside, {"seq"}, {"d_k"}}, {0, first, 0}}),
                  std::tuple(named<rest, row, features>{"y", {beside, {"seq"}, {"d_k"}}}),
                  [&](const auto& m) { return std::tuple(rotary<row, features>(std::get<0>(m), options)); });
}
template <class T>
void unroll_named(program<T>& p) {
  const auto x = around(p.dims("x"), p.text("of"));
  const std::size_t step = p.says("stride") ? whole(p, "stride") : 1;
  const column width{static_cast<std::ptrdiff_t>(whole(p, "kernel"))};
  const std::tuple in(named<rest, row, after>{"x", x});
  if (step == 1) {
    p.differentiate(in, std::tuple(named<rest, row, column, after>{"y", {x[0], {"windows"}, {"kernel"}, x[2]}}),
                    [&](const auto& m) { return std::tuple(unroll<row, column>(std::get<0>(m), width)); });
    return;
  }
  // Every step-th window.
  tensor<id<row>, taken> windows(taken{static_cast<std::ptrdiff_t>(p.extent("windows"))});
  for (std::size_t i = 0; i < windows.size(); ++i) { windows.overwrite()[i] = id<row>(i * step); }
  p.differentiate(
      in, std::tuple(named<rest, taken, column, after>{"y", {x[0], {"windows"}, {"kernel"}, x[2]}}),
      [&](const auto& m) { return std::tuple(gather<row>(unroll<row, column>(std::get<0>(m), width), windows)); });
}
template <class T>
void pool_named(program<T>& p) {
  const auto x = around(p.dims("x"), p.text("of"));
  const column width{static_cast<std::ptrdiff_t>(whole(p, "kernel"))};
  const std::tuple in(named<rest, row, after>{"x", x});
  const std::tuple out(named<rest, row, after>{"y", {x[0], {"windows"}, x[2]}});
  if (p.text("by") == "max") {
    p.differentiate(in, out,
                    [&](const auto& m) { return std::tuple(max<column>(pool<row, column>(std::get<0>(m), width))); });
  } else {
    p.differentiate(in, out,
                    [&](const auto& m) { return std::tuple(mean<column>(pool<row, column>(std::get<0>(m), width))); });
  }
}
template <class T>
void top_k_named(program<T>& p) {
  const group along = p.names("over");
  const group beside = p.dims("x") - along;
  const group taken = p.output_dims("y") - p.dims("x");
  const best count{static_cast<std::ptrdiff_t>(whole(p, "k"))};
  p.differentiate(std::tuple(named<rest, choices>{"x", {beside, along}}),
                  std::tuple(named<rest, best>{"y", {beside, taken}}), [&](const auto& m) {
    const auto chosen = top_k<choices, best>(std::get<0>(m), count);
    return std::tuple(chosen.values);
  });
}

// ---- formulas that are said in words
// ---------------------------------------------------------------------------------

struct model : feature_dim<> {};
struct hidden : feature_dim<> {};
struct q : feature_dim<> {};
struct k : feature_dim<> {};
struct v : feature_dim<> {};

template <class T>
void fork(program<T>& p) {
  p.differentiate(std::tuple(named<shared, row, model>{"x", {group{"batch"}, group{"seq"}, group{"d_model"}}},
                             named<model, out<model>>{"w", {group{"d_model"}, group{"out<d_model>"}}}),
                  std::tuple(named<shared, row, model>{"y", {group{"batch"}, group{"seq"}, group{"d_model"}}}),
                  [](const auto& m) {
    const auto& [x, w] = m;
    const tensor y = contract<model>(x, w);
    return std::tuple(x + tanh(y) * x + y * y);
  });
}
template <class T>
void divide_by_self_sum(program<T>& p) {
  const std::array<group, 3> all{group{"batch"}, group{"seq"}, group{"d_model"}};
  p.differentiate(std::tuple(named<shared, row, model>{"x", all}), std::tuple(named<shared, row, model>{"y", all}),
                  [](const auto& m) { return std::tuple(std::get<0>(m) / sum<model>(std::get<0>(m))); });
}
template <class T>
void part_of_qkv(program<T>& p) {
  const auto size = [&](const char* name) { return static_cast<std::ptrdiff_t>(p.extent(name)); };
  const auto keys = size("summed<q,k,v>") - size("q") - size("v");
  const auto x = p.template with_extents<shared, row, summed<q, k, v>>("x", {{"batch"}, {"seq"}, {"summed<q,k,v>"}},
                                                                       shared{size("batch")}, row{size("seq")},
                                                                       q{size("q")}, k{keys}, v{size("v")});
  p.differentiate(std::tuple(x),
                  std::tuple(named<shared, row, q>{"y", {group{"batch"}, group{"seq"}, group{"q"}}},
                             named<shared, row, v>{"z", {group{"batch"}, group{"seq"}, group{"v"}}}),
                  [](const auto& m) {
    const auto& all = std::get<0>(m);
    return std::tuple(part<q>(all) * relabel<k, q>(part<k>(all)), part<v>(all));
  });
}
template <class T>
void convolution(program<T>& p) {
  p.differentiate(std::tuple(named<shared, row, model>{"x", {group{"batch"}, group{"seq"}, group{"d_model"}}},
                             named<column, model, hidden>{"w", {group{"kernel"}, group{"d_model"}, group{"hidden"}}}),
                  std::tuple(named<shared, row, hidden>{"y", {group{"batch"}, group{"windows"}, group{"hidden"}}}),
                  [&](const auto& m) {
    const column width{static_cast<std::ptrdiff_t>(p.extent("kernel"))};
    return std::tuple(contract<column, model>(unroll<row, column>(std::get<0>(m), width), std::get<1>(m)));
  });
}
template <class T>
void formula_named(program<T>& p) {
  const std::string name = p.case_name();
  if (name == "fork") {
    fork(p);
  } else if (name == "divide_by_self_sum") {
    divide_by_self_sum(p);
  } else if (name == "part_of_qkv") {
    part_of_qkv(p);
  } else if (name == "convolution") {
    convolution(p);
  } else {
    throw std::runtime_error("the formula " + name + " is not known");
  }
}

CONFORMANCE_GRADIENT("gather", gather_named)
CONFORMANCE_GRADIENT("scatter_add", scatter_add_named)
CONFORMANCE_GRADIENT("concat", concat_named)
CONFORMANCE_GRADIENT("slice", slice_named)
CONFORMANCE_GRADIENT("at", at_named)
CONFORMANCE_GRADIENT("permute", permute_named)
CONFORMANCE_GRADIENT("split", split_named)
CONFORMANCE_GRADIENT("merge", merge_named)
CONFORMANCE_GRADIENT("rotary", rotary_named)
CONFORMANCE_GRADIENT("unroll", unroll_named)
CONFORMANCE_GRADIENT("pool", pool_named)
CONFORMANCE_GRADIENT("top_k", top_k_named)
CONFORMANCE_GRADIENT("formula", formula_named)

}  // namespace
