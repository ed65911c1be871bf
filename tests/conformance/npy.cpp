// tests/conformance/npy.cpp -- .npy files of a suite, read by the library.
// SPDX-License-Identifier: BSL-1.0
#include "suite.hpp"
#include <dimwise/io/npy.hpp>

#include <map>
#include <memory>

namespace conformance {

namespace {

using dimwise::io::element_type;

// NumPy's words, which manifests have.
const std::map<element_type, std::string> dtypes{
    {element_type::f64, "float64"}, {element_type::f32, "float32"}, {element_type::f16, "float16"},
    {element_type::i64, "int64"},   {element_type::i32, "int32"},   {element_type::i16, "int16"},
    {element_type::i8, "int8"},     {element_type::u64, "uint64"},  {element_type::u32, "uint32"},
    {element_type::u16, "uint16"},  {element_type::u8, "uint8"},    {element_type::boolean, "bool"}};

}  // namespace

array read_npy(const std::string& file) {
  const dimwise::io::file_bytes bytes(file);
  const auto read = dimwise::io::parse_npy(bytes.bytes(), file, file);
  // A copy: the elements of a file are not aligned.
  const std::shared_ptr<std::byte[]> memory(new std::byte[read.bytes.size() + 1]);
  std::copy(read.bytes.begin(), read.bytes.end(), memory.get());
  return {file, dtypes.at(read.type), read.extents, std::shared_ptr<const std::byte>(memory, memory.get())};
}

}  // namespace conformance
