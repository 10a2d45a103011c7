#pragma once
/// Lines of CSV files, plain or packed by gzip, that are read in pieces: only what is kept of them takes
/// memory.

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "files/unpacked_file.hpp"

namespace c3::inline configs {

/// What columns of sequence lengths are called, as plain_column() has it.
inline constexpr std::array<std::string_view, 9> kLengthColumns{"length",     "seq",    "seq len",
                                                                "seqlen",     "tokens", "tokens per sentence",
                                                                "seq length", "frames", "sequence length"};

/// The name of a column in lower case, "_" as a space.
std::string plain_column(std::string_view name);

class CsvScanner {
 public:
  explicit CsvScanner(const std::filesystem::path& path);

  const std::shared_ptr<const std::string>& name() const { return name_; }

  /// \param take called with each line that is neither blank nor a comment, and its number
  void scan(const std::function<void(std::string_view line, std::uint32_t number)>& take);

 private:
  void take_lines(std::string_view text, const std::function<void(std::string_view, std::uint32_t)>& take);

  UnpackedFile file_;
  std::shared_ptr<const std::string> name_;
  std::uint32_t before_ = 0;  ///< lines of earlier pieces
};

}  // namespace c3::configs
