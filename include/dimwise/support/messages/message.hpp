// SPDX-License-Identifier: BSL-1.0
// dimwise/support/messages/message.hpp -- the message of a compile error, made from the name of its type.
//
// Layer: support. support/error_messages.hpp makes static_assert messages of it, src/programs/errors/errors.cpp the
// output of dimwise-errors. support/diagnostics.hpp holds the patterns that it fills.
// Tests: tests/support/diagnostics.test.cpp, tests/messages/translated.py, tests/messages/in_clang.py
#pragma once

#include <dimwise/support/messages/diagnostic.hpp>
#include <dimwise/support/messages/error_parts.hpp>
#include <dimwise/support/messages/printed_type.hpp>

#include <array>

namespace dimwise::detail::messages {

// The facts in the type of an error. A `say_…` writes a fact, and returns false if the type lacks it.
template <class Message>
class facts : public error_parts<Message> {
 public:
  // `called`: what the program's line calls; where the type names no operation, this is said instead.
  constexpr explicit facts(text error, text called = {nullptr, 0}) : error_parts<Message>(error), called_(called) {}

  // Whether a pattern may name this fact.
  static constexpr bool knows(text fact) {
    for (const named_fact& one : named_facts()) {
      if (same(fact, one.name)) { return true; }
    }
    for (const char* mark : mark_names) {
      if (same(fact, mark)) { return true; }
    }
    return false;
  }

  // The first pattern whose facts are all there, or the words of the error's name; and the rule.
  constexpr const Message& said(const texts& patterns) { return say_pattern(patterns), put_rule(), words_said; }

  // The same without the rule. -> whether there is such a pattern
  constexpr bool say_pattern(const texts& patterns) {
    bool found = false;
    for (int i = 0; i < patterns.count && !found; ++i) {
      words_said.clear();
      found = fill(of(patterns.items[i]));
    }
    if (!found) {
      words_said.clear();
      if (operation_place >= 0) { say_op(), over() != nullptr && (put(" over "), say_over()), put(": "); }
      const text name = behind(parts[0].word, of("ERROR_").length + rule().length + 1);
      for (std::size_t i = 0; i < name.length; ++i) { put(name.begin[i] == '_' ? ' ' : name.begin[i]); }
    }
    return found;
  }

 protected:
  using base = error_parts<Message>;
  using base::dims, base::equal, base::find, base::has, base::id_facts, base::is, base::is_mark, base::marked,
      base::only, base::operation_place, base::other_facts, base::over, base::over_count, base::overs, base::parts,
      base::plain, base::put, base::put_list, base::put_type, base::row_count, base::rule, base::shape_rows,
      base::sized_dims, base::sized_extents, base::without, base::words_said;

  constexpr void put_rule() { put(" ("), put(rule()), put(')'); }

  // --- the facts of an error

  // "a", "a and b", "a, b and c".
  constexpr void join(int i, int count) { put(i == 0 ? "" : (i + 1 == count ? " and " : ", ")); }
  constexpr bool names(const types& some) {
    if (some.size == 0) { put("nothing"); }
    for (int i = 0; i < some.size; ++i) { join(i, some.size), put_type(some.places[i]); }
    return true;
  }
  constexpr bool some_names(const types& some) { return some.size > 0 && names(some); }
  constexpr bool listed(const types* some) { return some != nullptr && (put_list(*some), true); }
  constexpr bool named(const types* some) { return some != nullptr && names(*some); }

  constexpr bool say_op() {
    const char* words = operation_place < 0 ? nullptr : said_of(operations, parts[operation_place].word);
    if (words != nullptr) { return put(words), true; }
    return put('`'), say_op_word(), put('`'), true;
  }
  constexpr bool say_operation() { return operation_place >= 0 && say_op(); }
  constexpr bool say_op_word() {
    if (operation_place < 0) { return called_.length > 0 ? put(called_) : put("this"), true; }
    const char* words = said_of(operations, parts[operation_place].word);
    return words == nullptr ? put(parts[operation_place].word) : put(words), true;
  }
  constexpr bool say_word() {
    return operation_place < 0 && called_.length == 0 ? put("this") : (put('`'), say_op_word(), put('`'), void()), true;
  }
  constexpr bool say_over() { return named(over()); }
  constexpr bool say_is() { return over() != nullptr && (put(over()->size == 1 ? "is" : "are"), true); }
  constexpr bool say_over_n() {
    for (int i = 0; over() != nullptr && i < over()->size; ++i) {
      join(i, over()->size), put_type(over()->places[i]);
      for (int sized = sized_dims.size - 1; sized >= 0; --sized) {
        if (!equal(sized_dims.places[sized], over()->places[i])) { continue; }
        put('['), put_type(sized_extents.places[sized]), put(']');
        break;
      }
    }
    return over() != nullptr;
  }
  constexpr bool say_first() { return over() != nullptr && (put_type(over()->places[0]), true); }
  constexpr bool say_second() { return over() != nullptr && over()->size > 1 && (put_type(over()->places[1]), true); }
  constexpr bool say_over_of_first() { return over_count > 1 && say_over(); }
  constexpr bool say_over_of_second() { return named(over(1)); }
  constexpr bool say_given() {
    return over_count >= (find({"shape"}) != nullptr ? 1 : 2) && names(overs[over_count - 1]);
  }
  constexpr bool say_not_given() { return over_count > 1 && some_names(without(overs[0], overs[1])); }
  constexpr bool say_dims(const types* shape) { return shape != nullptr && (put_list(dims(*shape)), true); }
  constexpr bool say_have() {
    const types* shape = find({"operand", "shape", "left", "right"});
    return shape != nullptr && dims(*shape).size > 0 && say_dims(shape);
  }
  constexpr bool say_lhave() { return say_dims(find({"left"})); }
  constexpr bool say_rhave() { return say_dims(find({"right"})); }
  constexpr bool say_shape() { return listed(find({"shape"})); }
  constexpr bool say_shape2() { return listed(find({"tensor"})); }
  constexpr bool say_missing() {
    const types* shape = find({"operand", "left", "right"});
    return shape != nullptr && over() != nullptr && find({"right"}) == nullptr &&
           some_names(without(*over(), dims(*shape)));
  }
  constexpr bool say_lacking() {
    const types *left = find({"left"}), *right = find({"right"});
    if (left == nullptr || right == nullptr || over() == nullptr) { return false; }
    const types lacks[] = {without(*over(), dims(*left)), without(*over(), dims(*right))};
    if (lacks[0].size > 0 && without(lacks[0], lacks[1]).size + without(lacks[1], lacks[0]).size == 0) {
      return put("both operands lack "), names(lacks[0]);
    }
    if (lacks[0].size > 0) { put("the left operand lacks "), names(lacks[0]); }
    if (lacks[0].size > 0 && lacks[1].size > 0) { put(" and "); }
    if (lacks[1].size > 0) { put("the right operand lacks "), names(lacks[1]); }
    return lacks[0].size + lacks[1].size > 0;
  }
  constexpr bool say_left_only() { return some_names(only(0, false)); }
  constexpr bool say_right_only() { return some_names(only(1, false)); }
  constexpr bool say_left_parallel() { return over() != nullptr && some_names(plain(only(0))); }
  constexpr bool say_right_parallel() { return over() != nullptr && some_names(plain(only(1))); }
  constexpr bool say_sides() {
    const types sides[] = {only(0, false), only(1, false)};
    if (sides[0].size + sides[1].size == 0) { return false; }
    const bool alike = same(of(shape_rows[0].label), shape_rows[1].label);
    for (int i = 0; i < 2; ++i) {
      if (sides[i].size == 0) { continue; }
      const text label = alike ? of(i == 0 ? "first" : "second") : of(shape_rows[i].label);
      const bool has_one = alike || same(label, "left") || same(label, "right");
      put(i == 1 && sides[0].size > 0 ? ", the " : "the "), put(label);
      put(has_one ? " one alone has " : " alone has "), names(sides[i]);
    }
    return true;
  }
  constexpr bool say_changed() {
    if (row_count < 2) { return false; }
    const types left = only(0), right = only(1);
    if (left.size + right.size == 0) {
      return put("the declared type and the expression differ in the order of "), names(shape_rows[0].items);
    }
    if (right.size == 0) {
      return put("the declared type has "), names(left), put(", which the expression lacks"), true;
    }
    if (left.size == 0) {
      return put("the expression has "), names(right), put(", which the declared type drops"), true;
    }
    return put("the declared type has "), names(left), put(", the expression "), names(right);
  }
  constexpr bool say_declared() { return named(find({"declared"})); }
  constexpr bool say_computed() { return named(find({"expression"})); }
  constexpr bool say_types() {
    const int count = other_facts.size + id_facts.size;
    for (int i = 0; i < count; ++i) {
      join(i, count);
      if (i < other_facts.size) {
        put_type(other_facts.places[i]);
      } else {
        put("id<"), put_type(id_facts.places[i - other_facts.size]), put('>');
      }
    }
    return count > 0;
  }
  constexpr bool say_shapes() {
    for (int i = 0; i < row_count; ++i) { join(i, row_count), put('['), put_list(shape_rows[i].items), put(']'); }
    return true;
  }
  constexpr bool say_ids() { return some_names(id_facts); }
  constexpr bool say_composites() {
    types found;
    for (int i = 0; i < row_count; ++i) {
      for (int j = 0; j < shape_rows[i].items.size; ++j) {
        const int one = shape_rows[i].items.places[j];
        if ((is(one, "merged") || is(one, "summed")) && !has(found, one)) { found.add(one); }
      }
    }
    const types rest = over() == nullptr ? found : without(found, *over());
    return some_names(rest.size > 0 ? rest : found);
  }
  constexpr bool say_plain_dims() { return some_names(other_facts); }
  constexpr bool say_free() {
    if (row_count < 2 || over() == nullptr) { return false; }
    types found = plain(only(0));
    const types right = plain(only(1));
    for (int i = 0; i < right.size; ++i) { found.add(right.places[i]); }
    return some_names(found);
  }

  // --- what a mark names

  // All such marks of the first shape that has one.
  constexpr bool say_mark(const char* mark) {
    types found;
    for (int row = 0; row < row_count && found.size == 0; ++row) {
      const types& items = shape_rows[row].items;
      for (int i = 0; i < items.size; ++i) {
        const int one = items.places[i];
        if (!is(one, mark) || !is_mark(one)) { continue; }
        for (int a = parts[one].first; a >= 0; a = parts[a].next) {
          if (!has(found, a)) { found.add(a); }
        }
      }
    }
    return some_names(found);
  }
  constexpr bool say_rotated_feature() {
    const int one = marked("rotated");
    return one >= 0 && (put_type(parts[one].first), true);
  }
  constexpr bool say_rotated_by() {
    types found;
    for (int one = marked("rotated"); one >= 0 && found.size == 0;) {
      for (one = parts[parts[one].first].next; one >= 0; one = parts[one].next) { found.add(one); }
    }
    return some_names(found);
  }
  constexpr bool rotated_in(const char* label, const char* other) {
    const types *here = find({label}), *there = find({other});
    const int one = here == nullptr ? -1 : marked(*here, "rotated");
    return one >= 0 && (there == nullptr || marked(*there, "rotated") < 0) && (put_type(parts[one].first), true);
  }
  constexpr bool say_left_rotated() { return rotated_in("left", "right"); }
  constexpr bool say_right_rotated() { return rotated_in("right", "left"); }

  // --- patterns

  // Writes a pattern: its words, and its facts, which are in braces.
  constexpr bool fill(text pattern) {
    for (; pattern.length > 0; pattern = behind(pattern, 1)) {
      if (*pattern.begin != '{') {
        put(*pattern.begin);
        continue;
      }
      text fact = behind(pattern, 1);
      for (pattern = fact; *pattern.begin != '}'; pattern = behind(pattern, 1)) {}
      fact.length -= pattern.length;
      if (!say(fact)) { return false; }
    }
    return true;
  }
  struct named_fact {
    const char* name;
    bool (facts::*say)();
  };
  static constexpr auto named_facts() {
    return std::array{
        named_fact{"op", &facts::say_op},
        named_fact{"operation", &facts::say_operation},
        named_fact{"op_word", &facts::say_op_word},
        named_fact{"word", &facts::say_word},
        named_fact{"over", &facts::say_over},
        named_fact{"is", &facts::say_is},
        named_fact{"over_n", &facts::say_over_n},
        named_fact{"first", &facts::say_first},
        named_fact{"second", &facts::say_second},
        named_fact{"over_of_first", &facts::say_over_of_first},
        named_fact{"over_of_second", &facts::say_over_of_second},
        named_fact{"given", &facts::say_given},
        named_fact{"not_given", &facts::say_not_given},
        named_fact{"have", &facts::say_have},
        named_fact{"lhave", &facts::say_lhave},
        named_fact{"rhave", &facts::say_rhave},
        named_fact{"shape", &facts::say_shape},
        named_fact{"shape2", &facts::say_shape2},
        named_fact{"missing", &facts::say_missing},
        named_fact{"lacking", &facts::say_lacking},
        named_fact{"left_only", &facts::say_left_only},
        named_fact{"right_only", &facts::say_right_only},
        named_fact{"left_parallel", &facts::say_left_parallel},
        named_fact{"right_parallel", &facts::say_right_parallel},
        named_fact{"sides", &facts::say_sides},
        named_fact{"changed", &facts::say_changed},
        named_fact{"declared", &facts::say_declared},
        named_fact{"computed", &facts::say_computed},
        named_fact{"types", &facts::say_types},
        named_fact{"shapes", &facts::say_shapes},
        named_fact{"ids", &facts::say_ids},
        named_fact{"composites", &facts::say_composites},
        named_fact{"plain_dims", &facts::say_plain_dims},
        named_fact{"free", &facts::say_free},
        named_fact{"rotated_feature", &facts::say_rotated_feature},
        named_fact{"rotated_by", &facts::say_rotated_by},
        named_fact{"left_rotated", &facts::say_left_rotated},
        named_fact{"right_rotated", &facts::say_right_rotated},
        named_fact{"mask_dims", &facts::say_over_of_second},
        named_fact{"declared_only", &facts::say_left_only},
        named_fact{"computed_only", &facts::say_right_only},
    };
  }
  constexpr bool say(text fact) {
    for (const named_fact& one : named_facts()) {
      if (same(fact, one.name)) { return (this->*one.say)(); }
    }
    for (const char* mark : mark_names) {
      if (same(fact, mark)) { return say_mark(mark); }
    }
    return false;
  }

 private:
  text called_{nullptr, 0};
};

}  // namespace dimwise::detail::messages
