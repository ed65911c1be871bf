// tests/fuzz/compare.cpp -- what the ways gave, compared.
//
// SPDX-License-Identifier: BSL-1.0
#include "compare.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <sstream>
#include <thread>

namespace fuzz {

void workers::run(std::size_t count, void (*f)(const void*, std::size_t, std::size_t), const void* self) {
  if (!threads_) {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) { order[i] = i; }
    for (std::size_t i = count; i > 1; --i) { std::swap(order[i - 1], order[random_->below(i)]); }
    for (const std::size_t task : order) { f(self, task, random_->below(count_)); }
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr thrown;
  std::mutex guard;
  std::vector<std::thread> all;
  for (std::size_t worker = 0; worker < count_; ++worker) {
    all.emplace_back([&, worker] {
      try {
        for (std::size_t task = next++; task < count; task = next++) { f(self, task, worker); }
      } catch (...) {
        const std::lock_guard lock(guard);
        thrown = std::current_exception();
      }
    });
  }
  for (std::thread& t : all) { t.join(); }
  if (thrown != nullptr) { std::rethrow_exception(thrown); }
}

namespace detail {

std::string run_exactly(const std::function<void()>& way) {
  try {
    way();
    return {};
  } catch (const std::exception& e) { return std::string("throws: ") + e.what(); }
}

outcome run(const std::function<std::vector<float>()>& way) {
  outcome o;
  o.thrown = run_exactly([&] { o.values = way(); });
  return o;
}

std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ';');
  return text;
}

std::string place_in_words(std::size_t i, const dimwise::detail::axis* axes, std::size_t rank) {
  std::string text;
  for (std::size_t k = rank; k-- > 0; i /= axes[k].extent) { text = ' ' + std::to_string(i % axes[k].extent) + text; }
  return "element" + text;
}

namespace {

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}
std::size_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && std::memcmp(&a[i], &b[i], sizeof(float)) == 0) { ++i; }
  return i;
}

// Something is broken on purpose, where there is enough of it that a smaller formula shows it, too.
void break_on_purpose(breakage how, results& r) {
  const bool thrown = !r.fast.thrown.empty();
  const std::size_t n = r.fast.values.size();
  if (how == breakage::error && (n > 1 || thrown)) { r.plain.thrown = "throws: broken on purpose"; }
  if (thrown || n < 6) { return; }
  const std::size_t i = n / 2;
  const auto off = static_cast<float>(r.exact[i] + 3 * r.allowed[i] + 1e-30);
  switch (how) {
    case breakage::value:
      r.fast.values[i] = off;
      break;
    case breakage::plain:
      r.plain.values[i] = off;
      break;
    case breakage::bits:
      r.several.values[i] = std::nextafter(r.several.values[i], 2 + 2 * r.several.values[i]);
      break;
    case breakage::plan:
      ++r.planned[static_cast<std::size_t>(dimwise::plan_kind::product)];
      break;
    case breakage::destination:
      r.again.values[i] += 1;
      break;
    case breakage::guard:
      r.memory.front() = 0;
      break;
    case breakage::error:
    case breakage::nothing:
      break;
  }
}

class judgement {
 public:
  judgement(attempt& a, const results& r, const std::function<std::string(std::size_t)>& place)
      : a_(a), r_(r), place_(place) {}

  // The largest error of a way, in units of what is allowed.
  double within(const char* way, const std::vector<float>& values) {
    if (values.size() != r_.exact.size() || r_.allowed.size() != r_.exact.size()) {
      a_.fail("size", std::string(way) + " gives " + std::to_string(values.size()) + " elements, float64 " +
                          std::to_string(r_.exact.size()) + ", allowed are errors of " +
                          std::to_string(r_.allowed.size()));
      return 0;
    }
    double largest = 0;
    std::size_t worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double ratio = error(values[i], r_.exact[i], r_.allowed[i]);
      if (ratio > largest) {
        largest = ratio;
        worst = i;
      }
    }
    if (largest > 1) {
      std::ostringstream text;
      text.precision(9);
      text << way << " differs from float64 most at " << place_(worst) << ": " << values[worst] << ", float64 "
           << r_.exact[worst] << ", error " << std::abs(values[worst] - r_.exact[worst]) << ", allowed "
           << r_.allowed[worst];
      a_.fail("value", text.str());
    }
    return std::isfinite(largest) ? largest : 0;
  }
  void bits(const char* way, const std::vector<float>& values) {
    if (same_bits(r_.fast.values, values)) { return; }
    const std::size_t i = first_difference(r_.fast.values, values);
    std::ostringstream text;
    text.precision(9);
    text << way << " gives other bits than evaluate";
    if (i < values.size() && i < r_.fast.values.size()) {
      text << " at " << place_(i) << ": " << values[i] << ", evaluate " << r_.fast.values[i];
    }
    a_.fail("bits", text.str());
  }
  void thrown() {
    const std::pair<const char*, const std::string*> ways[] = {
        {"evaluate_plainly", &r_.plain.thrown}, {"several workers", &r_.several.thrown},
        {"reference", &r_.exact_thrown},        {"assignment", &r_.again.thrown},
        {"another order", &r_.turned.thrown},   {"a view", &r_.viewed.thrown}};
    for (const auto& [way, text] : ways) {
      if (*text != r_.fast.thrown) {
        a_.fail("error", std::string(way) + ' ' + (text->empty() ? "throws nothing" : *text) + ", evaluate " +
                             (r_.fast.thrown.empty() ? "throws nothing" : r_.fast.thrown));
      }
    }
    if (!r_.untouched) { a_.fail("destination", "what threw changed its destination"); }
  }
  void plan() {
    if (!dimwise::kernels::available || r_.fast.values.empty() || a_.is_poisoned()) { return; }
    for (std::size_t k = 0; k < dimwise::plan_kinds; ++k) {
      const auto kind = static_cast<dimwise::plan_kind>(k);
      if (kind == dimwise::plan_kind::copy || r_.planned[k] == r_.ran[kind]) { continue; }
      a_.fail("plan", std::string("plan() has ") + std::to_string(r_.planned[k]) + " steps of " + name_of(kind) + ", " +
                          std::to_string(r_.ran[kind]) + " ran: " + r_.plan_text);
    }
  }
  void guards() {
    for (std::ptrdiff_t i = 0; i < guard; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (r_.memory[at] != 7 || r_.memory[r_.memory.size() - 1 - at] != 7) {
        a_.fail("guard", "memory beside the view was written");
      }
    }
  }

 private:
  static double error(double value, double exact, double allowed) {
    if (std::isnan(exact) || std::isnan(value)) { return std::isnan(exact) == std::isnan(value) ? 0 : HUGE_VAL; }
    if (value == exact || static_cast<float>(exact) == value) { return 0; }
    const double off = std::abs(value - exact);
    return off <= allowed ? off / allowed : allowed > 0 ? std::max(off / allowed, std::nextafter(1.0, 2.0)) : HUGE_VAL;
  }
  attempt& a_;
  const results& r_;
  const std::function<std::string(std::size_t)>& place_;
};

}  // namespace

void judge(attempt& a, results& r, const std::function<std::string(std::size_t)>& place) {
  if (a.broken() != breakage::nothing) { break_on_purpose(a.broken(), r); }
  ++a.counted.formulas;
  a.counted.evaluations += 7;
  judgement j(a, r, place);
  j.thrown();
  if (!r.fast.thrown.empty()) {
    ++a.counted.refused;
    return;
  }
  if (a.failed()) { return; }
  a.counted.largest = std::max(a.counted.largest, j.within("evaluate", r.fast.values));
  a.counted.largest_plain = std::max(a.counted.largest_plain, j.within("evaluate_plainly", r.plain.values));
  j.within("a destination of another order", r.turned.values);
  j.bits("evaluate with several workers", r.several.values);
  j.bits("an assignment", r.again.values);
  j.bits("a view", r.viewed.values);
  j.guards();
  j.plan();
}

}  // namespace detail
}  // namespace fuzz
