#pragma once
/// CSV files, plain or packed by gzip, that are read in pieces: only what is kept of them takes memory.

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "configs/toml/config_error.hpp"
#include "files/unpacked_file.hpp"

namespace c3 { inline namespace configs {

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

/// Rows under a header.
class CsvTable {
 public:
  explicit CsvTable(const std::filesystem::path& file) : lines_(file) {}
  virtual ~CsvTable() = default;
  CsvTable(const CsvTable&) = delete;
  CsvTable& operator=(const CsvTable&) = delete;

 protected:
  /// Calls read_header once, then read_row for each row. \throws ConfigError where there is no header or no
  /// row, and where a row has more or fewer cells than the header
  void read();
  virtual void read_header() = 0;
  virtual void read_row() = 0;

  /// Cells of the line that is read.
  const std::vector<std::string_view>& cells() const { return cells_; }
  std::size_t rows() const { return rows_; }  ///< so far, with this one
  [[noreturn]] void fail(std::string_view cell, std::string_view key, const std::string& reason) const;
  /// An error that concerns the whole line.
  [[noreturn]] void fail(std::string_view key, const std::string& reason) const { fail(line_, key, reason); }

 private:
  CsvScanner lines_;
  std::string_view line_;
  std::uint32_t number_ = 1;
  std::vector<std::string_view> cells_;
  std::size_t columns_ = 0, rows_ = 0;
};

}}  // namespace c3::configs
