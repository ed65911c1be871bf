// SPDX-License-Identifier: BSL-1.0
// src/dimwise.cppm -- the module `dimwise`: the headers dimwise.hpp, grad.hpp, nn.hpp and viz.hpp, exported as a whole.
//
// clang 19 and later; link dimwise::module, or compile it by hand and link dimwise::dimwise. It is installed beside dimwise.hpp.
// The entities are attached to the global module, so that the compiled library and files that include headers have the same
// ones. Everything is exported: no list of names can lack one. tests/module/check.py compiles it, and compares the headers of
// others with those that the library includes.
module;
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/unpack.hpp>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

export module dimwise;

// clang finds operators of std that only templates of the module use if the module names them.
export namespace std {
using std::operator+;
using std::operator-;
using std::operator==;
using std::operator<=>;
using std::operator<<;
using std::operator|;
}  // namespace std
export namespace __gnu_cxx {
using __gnu_cxx::operator==;
using __gnu_cxx::operator<=>;
using __gnu_cxx::operator-;
using __gnu_cxx::operator+;
}  // namespace __gnu_cxx

// The headers are included within the module on purpose: `extern "C++"` attaches their entities to the global module.
#pragma clang diagnostic ignored "-Winclude-angled-in-module-purview"
export extern "C++" {
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/viz.hpp>
}
