// SPDX-License-Identifier: BSL-1.0
// dimwise/io/files/json_tree.hpp -- JSON trees that are built and destroyed without std::terminate if memory runs out.
//
// Layer: io. The destructor of nlohmann::json allocates for its children, and a destructor that throws terminates the
// program. Dismantling a tree from the leaves up avoids the allocation.
// Tests: tests/io/failing.test.cpp
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace dimwise::io::detail {

// Empties a tree from its leaves up, without allocating. The recursion depth is that of the tree: at most 127.
inline void dismantle(nlohmann::json& tree) noexcept {
  if (auto* const object = tree.get_ptr<nlohmann::json::object_t*>()) {
    for (auto& [key, child] : *object) { dismantle(child); }
    object->clear();
  } else if (auto* const array = tree.get_ptr<nlohmann::json::array_t*>()) {
    for (auto& child : *array) { dismantle(child); }
    array->clear();
  }
}

// Makes an empty object or list of an empty place. operator[] and emplace_back of a null terminate the program if
// memory runs out.
inline nlohmann::json::object_t& make_object(nlohmann::json& place) {
  place = nlohmann::json::object();
  return *place.get_ptr<nlohmann::json::object_t*>();
}
inline nlohmann::json::array_t& make_list(nlohmann::json& place) {
  place = nlohmann::json::array();
  return *place.get_ptr<nlohmann::json::array_t*>();
}

// Copies a tree into an empty place. Every level is in its place before it grows, so that the owner of the place can
// dismantle an incomplete copy; the copy constructor of nlohmann::json terminates the program if memory runs out.
inline void copy_into(nlohmann::json& place, const nlohmann::json& from) {
  if (const auto* const object = from.get_ptr<const nlohmann::json::object_t*>()) {
    auto& to = make_object(place);
    for (const auto& [key, child] : *object) { copy_into(to[key], child); }
  } else if (const auto* const array = from.get_ptr<const nlohmann::json::array_t*>()) {
    auto& to = make_list(place);
    to.reserve(array->size());
    for (const auto& child : *array) { copy_into(to.emplace_back(), child); }
  } else {
    place = from;
  }
}

// Owns a tree and dismantles it on destruction.
class held_json {
 public:
  held_json() = default;
  explicit held_json(nlohmann::json tree) noexcept : tree_(std::move(tree)) {}
  held_json(const held_json& other) : held_json() { copy_into(tree_, other.tree_); }
  held_json(held_json&&) noexcept = default;
  held_json& operator=(held_json other) noexcept {
    tree_.swap(other.tree_);
    return *this;
  }
  ~held_json() { dismantle(tree_); }

  /// A copy of this tree.
  [[nodiscard]] static held_json copy_of(const nlohmann::json& tree) {
    held_json copy;
    copy_into(copy.tree_, tree);
    return copy;
  }
  /// The tree itself, for a caller that holds it.
  [[nodiscard]] nlohmann::json take() && noexcept { return std::move(tree_); }

  [[nodiscard]] nlohmann::json& operator*() { return tree_; }
  [[nodiscard]] const nlohmann::json& operator*() const { return tree_; }
  [[nodiscard]] nlohmann::json* operator->() { return &tree_; }
  [[nodiscard]] const nlohmann::json* operator->() const { return &tree_; }

 private:
  nlohmann::json tree_{};
};

// Builds a tree that it owns, so that an incomplete tree is dismantled as well.
class json_builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(nlohmann::json::binary(std::move(value))); }
  bool start_object(std::size_t) override { return open(nlohmann::json::value_t::object); }
  bool start_array(std::size_t) override { return open(nlohmann::json::value_t::array); }
  bool key(string_t& name) override {
    place_ = &(*open_.back()->get_ptr<nlohmann::json::object_t*>())[name];
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& problem) override {
    problem_ = problem.what();
    return false;
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] nlohmann::json take() { return std::move(*tree_); }

 private:
  template <class T>
  nlohmann::json& placed(T&& value) {
    if (open_.empty()) { return *tree_ = nlohmann::json(std::forward<T>(value)); }
    if (auto* const list = open_.back()->get_ptr<nlohmann::json::array_t*>()) {
      return list->emplace_back(std::forward<T>(value));
    }
    dismantle(*place_);  // the later of two values with one name counts
    return *place_ = nlohmann::json(std::forward<T>(value));
  }
  template <class T>
  bool add(T&& value) {
    placed(std::forward<T>(value));
    return true;
  }
  bool open(nlohmann::json::value_t type) {
    open_.push_back(&placed(type));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  held_json tree_{};
  std::vector<nlohmann::json*> open_{};
  nlohmann::json* place_ = nullptr;
  std::string problem_{};
};

}  // namespace dimwise::io::detail
