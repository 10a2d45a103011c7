#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "files/io_error.hpp"
#include "results/file_seal.hpp"
#include "results/result_file.hpp"
#include "results/result_reader.hpp"
#include "results/utf8.hpp"
#include "tests/support/temporary_folder.hpp"

namespace c3::results_damage_test { namespace {

const RunHeader kHeader{.experiment = "hand", .config_resolved = "abc", .seed = 1, .command_line = "c3sim"};

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A result with a table of numbers and names.
std::string whole_file(const TemporaryFolder& folder) {
  const auto path = folder / "whole.h5";
  ResultFile file(path, kHeader);
  {
    const H5Id strategy = file.add_strategy("serial");
    const H5Id table = h5_create_group(strategy, "summary");
    Column<std::int64_t> time(table, {"time", "ps", "numbers"});
    Column<NameIndex> name(table, {"name", "1", "names"});
    for (int row = 0; row < 1000; ++row) {
      time.push(row * row);
      name.push(file.names().index("kernel " + std::to_string(row % 7)));
    }
    time.flush();
    name.flush();
  }
  file.commit();
  return content(path);
}

/// Everything that readers look at, as one text.
std::string all_of(const std::filesystem::path& path) {
  const ResultReader file(path);
  std::string text;
  for (const auto& [name, value] : file.attributes())
    text += name + "=" + value + ";";
  for (const std::string& strategy : file.strategies()) {
    const ResultTable table = file.table(strategy, "summary");
    for (const std::int64_t value : table.values<std::int64_t>("time"))
      text += std::to_string(value) + ",";
    for (const std::string& value : table.values<std::string>("name"))
      text += value + ",";
  }
  return text;
}

TEST_CASE("a result with any bit changed is refused") {
  const TemporaryFolder folder;
  const std::string whole = whole_file(folder);
  const auto damaged = folder / "damaged.h5";
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    std::string bytes = whole;
    const std::size_t at = std::uniform_int_distribution<std::size_t>(0, whole.size() - 1)(random);
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (i % 8)));
    write(damaged, bytes);
    CAPTURE(at);
    CHECK_THROWS_AS(all_of(damaged), IoError);
  }
}

TEST_CASE("a change of the file says that it is damaged or was changed") {
  const TemporaryFolder folder;
  std::string bytes = whole_file(folder);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write(folder / "x.h5", bytes);
  CHECK_THROWS_WITH_AS(
      check_seal((folder / "x.h5").string()),
      ((folder / "x.h5").string() +
       ": cannot read: the file is damaged, or was changed after c3sim wrote it: its SHA-256 is not "
       "the one it was sealed with; run the experiment again")
          .c_str(),
      IoError);
}

TEST_CASE("a result without a seal is read, as those of older versions are") {
  const TemporaryFolder folder;
  const std::string whole = whole_file(folder);
  const std::string expected = all_of(folder / "whole.h5");
  CHECK(check_seal((folder / "whole.h5").string()) == Seal::intact);
  const auto older = folder / "older.h5";
  write(older, std::string(kSealBytes, '\0') + whole.substr(kSealBytes));
  CHECK(check_seal(older.string()) == Seal::none);
  CHECK(all_of(older) == expected);
}

TEST_CASE(
    "a damaged result without a seal is refused or read as it was, and libhdf5 cannot crash this process") {
  // Every chunk of a file without a seal has a checksum, but texts in HDF5's heap have not.
  const TemporaryFolder folder;
  std::string whole = whole_file(folder);
  whole.replace(0, kSealBytes, kSealBytes, '\0');
  const auto damaged = folder / "damaged.h5";
  std::mt19937 random(2);
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    std::string bytes = whole;
    for (int flips = 0; flips < 8; ++flips) {
      const std::size_t at = std::uniform_int_distribution<std::size_t>(kSealBytes, whole.size() - 1)(random);
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << (flips % 8)));
    }
    write(damaged, bytes);
    try {
      static_cast<void>(all_of(damaged));
    } catch (const IoError&) {
      ++refused;
    }
  }
  CHECK(refused > 50);
}

TEST_CASE("a flipped bit in the numbers of a result without a seal is found by their checksum") {
  const TemporaryFolder folder;
  const auto path = folder / "numbers.h5";
  {
    const H5Id file = h5_create_file(path.string());
    Column<double> column(file, {.name = "x", .units = "1", .long_name = "noise", .is_deflated = false});
    for (int row = 0; row < 100; ++row)
      column.push(3.0 * row + 0.125);
    column.flush();
  }
  std::string bytes = content(path);
  const double value = 3.0 * 50 + 0.125;
  const auto at = bytes.find(std::string(reinterpret_cast<const char*>(&value), sizeof value));
  REQUIRE(at != std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write(path, bytes);
  CHECK_THROWS_AS(static_cast<void>(read_column(h5_open_unverified(path.string()), "x")), IoError);
}

TEST_CASE("a result that lacks strategies says so") {
  const TemporaryFolder folder;
  const auto path = folder / "run.h5";
  ResultFile file(path, kHeader);
  file.add_strategy("serial");
  file.add_strategy("half");
  file.remove_strategy("half");
  const std::vector<std::string> missing{"half", "dma"};
  file.mark_incomplete("interrupted", missing);
  file.commit();
  const ResultReader read(path);
  CHECK(read.strategies() == std::vector<std::string>{"serial"});
  CHECK(read.incomplete() == "this result is incomplete (interrupted); strategies that are missing: half, dma");
  CHECK_FALSE(
      ResultReader((static_cast<void>(whole_file(folder)), folder / "whole.h5")).incomplete().has_value());
}

TEST_CASE("bytes that are not UTF-8 are replaced where they are written, and only they") {
  const TemporaryFolder folder;
  const auto path = folder / "run.h5";
  RunHeader header = kHeader;
  header.command_line = "c3sim run caf\xE9 \xC3\xA9";
  ResultFile(path, header).commit();
  CHECK(ResultReader(path).attribute("command_line") == "c3sim run caf\xEF\xBF\xBD \xC3\xA9");
  // Overlong, a surrogate, beyond Unicode, cut short (RFC 3629, section 4).
  for (const char* text :
       {"\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80", "\xFF"}) {
    CAPTURE(text);
    CHECK_FALSE(is_utf8(text));
    CHECK(is_utf8(to_utf8(text)));
  }
  for (const char* text :
       {"", "a", "\xC3\xA9", "\xE2\x82\xAC", "\xED\x9F\xBF", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    CAPTURE(text);
    CHECK(is_utf8(text));
    CHECK(to_utf8(text) == text);
  }
}

}}  // namespace c3::results_damage_test
