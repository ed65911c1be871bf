// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/error.hpp -- the exception of programs on several ranks.
//
// Layer: ranks. Texts of other ranks have any length, so this exception allocates, unlike those of dim/error.hpp.
// Tests: tests/ranks/
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/support/messages/escaped.hpp>

#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace dimwise::ranks {

/// No rank: a partner that `permute` does not have.
inline constexpr std::size_t no_rank = ~std::size_t{0};

/// A rank that failed, ended, was late or called another collective. `what()` names the rank and the call.
class rank_error : public error {
 public:
  /// Constructs the error from its text, the rank that it concerns, and the exception that this rank threw.
  explicit rank_error(std::string text, std::size_t rank = no_rank, std::exception_ptr cause = nullptr)
      // NOLINTNEXTLINE(bugprone-throw-keyword-missing): the cause is kept, not thrown
      : text_(std::make_shared<const std::string>(std::move(text))), cause_(std::move(cause)), rank_(rank) {}

  /// The cause, with the rank and the call.
  [[nodiscard]] const char* what() const noexcept override { return text_->c_str(); }
  /// The rank of the world that the error concerns, or `no_rank`.
  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  /// The exception that this rank threw, for `std::rethrow_exception`; null if there is none in this process.
  [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  std::shared_ptr<const std::string> text_;
  std::exception_ptr cause_;
  std::size_t rank_;
};

namespace detail {

// The text of an exception, safe to print.
inline std::string text_of(const std::exception_ptr& thrown) {
  const auto escaped = [](const char* text) {
    std::string out;
    dimwise::detail::say_escaped(text, std::strlen(text), [&](char c) { out += c; });
    return out;
  };
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& known) { return escaped(known.what()); } catch (...) {
    return "an exception that is not a std::exception";
  }
}

}  // namespace detail

}  // namespace dimwise::ranks
