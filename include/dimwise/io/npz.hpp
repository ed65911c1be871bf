// SPDX-License-Identifier: BSL-1.0
// dimwise/io/npz.hpp -- a reader and writer of NumPy's .npz files, with libzip. Link `dimwise::npz`.
//
// Layer: io. Arrays are read into owned memory: a compressed array cannot be mapped.
// Tests: tests/io/npz.test.cpp
//
//   const io::archive file = io::read_npz("weights.npz");      file.at("w_q")
//   io::write_npz("y.npz", std::vector{io::as_stored("y", y), io::as_stored("weights", weights)});
#pragma once

#include <dimwise/io/npy.hpp>

#include <memory>
#include <zip.h>

namespace dimwise::io {

namespace detail {

struct discard_zip {
  void operator()(zip_t* file) const { zip_discard(file); }
};
struct close_zip_entry {
  void operator()(zip_file_t* entry) const { (void)zip_fclose(entry); }
};
using zip_pointer = std::unique_ptr<zip_t, discard_zip>;

inline constexpr zip_uint16_t first_of_1980 = 1U << 5 | 1U;  // 1 January 1980, the earliest date of a zip file

inline std::string text_of(zip_error_t* problem) {
  std::string text = zip_error_strerror(problem);
  zip_error_fini(problem);
  return text;
}

// Reads the arrays of a zip file; every error names the array.
class npz_reader {
 public:
  npz_reader(std::span<const std::byte> bytes, std::string title, std::size_t most_bytes)
      : title_(std::move(title)), left_(most_bytes) {
    if (bytes.empty()) { throw file_error(title_ + ": expected a zip file, but it is empty"); }
    zip_error_t problem;
    zip_error_init(&problem);
    zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &problem);
    if (source != nullptr) { file_.reset(zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &problem)); }
    if (file_ == nullptr) {
      if (source != nullptr) { zip_source_free(source); }
      throw file_error(title_ + ": expected a zip file: " + text_of(&problem));
    }
    zip_error_fini(&problem);
  }

  [[nodiscard]] archive read() {
    const zip_int64_t count = zip_get_num_entries(file_.get(), 0);
    archive result(title_);
    for (zip_int64_t i = 0; i < count; ++i) { add(static_cast<zip_uint64_t>(i), result); }
    return result;
  }

 private:
  void add(zip_uint64_t i, archive& to) {
    zip_stat_t facts;
    zip_stat_init(&facts);
    constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE;
    if (zip_stat_index(file_.get(), i, ZIP_FL_ENC_RAW, &facts) != 0 || (facts.valid & needed) != needed) {
      throw file_error(title_ + ": expected a name and a size of entry " + std::to_string(i));
    }
    const std::string_view entry = facts.name;
    const std::string where = title_ + ": " + printable(entry);
    if (!entry.ends_with(".npy")) { throw file_error(where + ": expected a name that ends in .npy"); }
    if (facts.size > left_) {
      throw file_error(where + ": " + std::to_string(facts.size) + " bytes, where at most " + std::to_string(left_) +
                       " of all arrays are left; read_npz takes the limit as its second argument");
    }
    const auto bytes = std::make_shared<std::vector<std::byte>>(inflated(i, where, facts.size));
    left_ -= bytes->size();
    stored_array array = parse_npy(*bytes, where, std::string(entry.substr(0, entry.size() - 4)));
    if (array.own == nullptr) { to.keep(bytes); }
    to.add(std::move(array));  // libzip rejects duplicate names
  }
  // Memory grows with the data in the file, not with the size that its header states.
  std::vector<std::byte> inflated(zip_uint64_t i, const std::string& where, std::size_t size) {
    const std::unique_ptr<zip_file_t, close_zip_entry> entry(zip_fopen_index(file_.get(), i, 0));
    if (entry == nullptr) { throw file_error(where + ": cannot be read: " + zip_strerror(file_.get())); }
    std::vector<std::byte> bytes;
    for (;;) {
      constexpr std::size_t step = std::size_t{1} << 20;
      const std::size_t done = bytes.size();
      bytes.resize(std::max(std::min(done + step, size), done + 1));  // one more, so that libzip checks the CRC
      const zip_int64_t got = zip_fread(entry.get(), bytes.data() + done, bytes.size() - done);
      if (got < 0) { throw file_error(where + ": cannot be read: " + zip_file_strerror(entry.get())); }
      bytes.resize(done + static_cast<std::size_t>(got));
      if (got == 0) { break; }
      if (bytes.size() > size) { break; }
    }
    if (bytes.size() != size) {
      throw file_error(where + ": expected " + std::to_string(size) + " bytes, the size in the zip directory");
    }
    return bytes;
  }

  std::string title_;
  std::size_t left_;
  zip_pointer file_{};
};

}  // namespace detail

/// The default limit of the total size of the arrays in a .npz file: 4 GiB. A small compressed file can expand to any
/// size.
inline constexpr std::size_t npz_bytes = std::size_t{1} << 32;

/// The arrays of a .npz file in memory, each named without ".npy". The result borrows nothing. Throws `file_error` if
/// the file is not a zip file, an entry is not a .npy file, a checksum is wrong, or the arrays exceed `most_bytes`.
[[nodiscard]] inline archive parse_npz(std::span<const std::byte> bytes, const std::string& title,
                                       std::size_t most_bytes = npz_bytes) {
  return detail::npz_reader(bytes, title, most_bytes).read();
}

/// The arrays of a .npz file, compressed or not. Throws `file_error`.
[[nodiscard]] inline archive read_npz(const std::filesystem::path& path, std::size_t most_bytes = npz_bytes) {
  const file_bytes file(path);
  return parse_npz(file.bytes(), path.string(), most_bytes);
}

/// Writes arrays atomically as a .npz file without compression, like `numpy.savez`. Throws `file_error`.
inline void write_npz(const std::filesystem::path& path, std::span<const stored_array> arrays) {
  if (arrays.empty()) {  // libzip cannot write an empty archive: only its end record, as in NumPy
    new_file file(path);
    constexpr unsigned char end[22] = {'P', 'K', 5, 6};
    file.write(std::as_bytes(std::span(end)));
    return file.finish();
  }
  detail::file_draft draft(path, detail::throw_file_error);
  std::vector<std::string> heads;  // must live until the file is closed
  std::vector<zip_buffer_fragment_t> parts;
  heads.reserve(arrays.size());
  parts.reserve(2 * arrays.size());
  int reason = 0;
  detail::zip_pointer file(zip_open(draft.name().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &reason));
  if (file == nullptr) {
    zip_error_t problem;
    zip_error_init_with_code(&problem, reason);
    draft.refuse(detail::text_of(&problem));
  }
  for (const stored_array& a : arrays) {
    heads.push_back(detail::npy_head(path.string(), a));
    if (a.name.find('\0') != std::string::npos) {
      draft.refuse(detail::printable(a.name) + ": a name holds a NUL byte");
    }
    const auto part = [](const void* memory, std::size_t size) {
      return zip_buffer_fragment_t{static_cast<zip_uint8_t*>(const_cast<void*>(memory)), size};  // read only
    };
    parts.push_back(part(heads.back().data(), heads.back().size()));
    parts.push_back(part(a.bytes.data(), a.bytes.size()));
    zip_source_t* const source = zip_source_buffer_fragment(file.get(), &parts.back() - 1, 2, 0);
    const zip_int64_t at =
        source == nullptr ? -1 : zip_file_add(file.get(), (a.name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    const auto place = static_cast<zip_uint64_t>(at);
    // One date for all entries, so that equal arrays give equal files.
    if (at < 0 || zip_set_file_compression(file.get(), place, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(file.get(), place, 0, detail::first_of_1980, 0) != 0) {
      const std::string problem = zip_strerror(file.get());
      if (at < 0) { zip_source_free(source); }
      draft.refuse(detail::printable(a.name) + ": " + problem);
    }
  }
  if (zip_close(file.get()) != 0) { draft.refuse(zip_strerror(file.get())); }
  (void)file.release();
  draft.place();
}

}  // namespace dimwise::io
