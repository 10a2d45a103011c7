#include "files/written_files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <vector>

#include "files/input_files.hpp"
#include "files/io_error.hpp"
#include "files/sealed_text.hpp"

namespace c3 { inline namespace files {
namespace {

namespace fs = std::filesystem;

constexpr SealLine kTextSeal{.before = "# Written by c3sim; SHA-256 of the lines below: ", .after = ""};
constexpr std::array kMarks{kPageMark, kJsonSchemaMark, kJsonFormatMark, kJsonSoftwareMark};
constexpr std::size_t kMarkEnds = 1024;  // every mark lies within this many bytes from the file's start
constexpr std::uintmax_t kLongestSealedText = std::uintmax_t{64} << 20U;

std::atomic<bool> user_files_are_replaced{false};

bool is_marked(std::string_view start) {
  return start.starts_with(kSealedHdf5) || std::ranges::any_of(kMarks, [&](std::string_view mark) {
           return start.substr(0, kMarkEnds).find(mark) != std::string_view::npos;
         });
}

bool has_header(const fs::path& path, TableHeader table) {
  if (table.begins.empty() && table.ends.empty() && table.has.empty()) return false;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  return line.size() >= table.begins.size() + table.ends.size() && line.starts_with(table.begins) &&
         line.ends_with(table.ends) && line.find(table.has) != std::string::npos;
}

bool is_sealed_text(const fs::path& path) {
  try {
    const std::vector<char> text = read_own_file(path, kLongestSealedText);
    return is_sealed(kTextSeal, {text.data(), text.size()});
  } catch (const IoError&) {
    return false;  // longer than any text that is sealed
  }
}

}  // namespace

TableHeader header_of(std::string_view table) {
  return {.begins = table.substr(0, table.find('\n')), .ends = {}};
}

std::string marked_text(std::string_view rest) { return sealed(kTextSeal, rest); }

bool is_written_by_c3sim(const fs::path& path, TableHeader table) {
  std::array<char, kMarkEnds> buffer{};
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  file.read(buffer.data(), buffer.size());
  const std::string_view start(buffer.data(), static_cast<std::size_t>(file.gcount()));
  if (start.empty() || is_marked(start) || has_header(path, table)) return true;
  return start.starts_with(kTextSeal.before) && is_sealed_text(path);
}

void replace_files_of_user() { user_files_are_replaced = true; }

void refuse_file_of_user(const fs::path& target, TableHeader table) {
  // A target that cannot be looked at cannot be written either, and that failure has its own message.
  std::error_code ignored;
  if (user_files_are_replaced || !fs::is_regular_file(target, ignored)) return;
  if (is_written_by_c3sim(target, table)) return;
  throw OutputConflictError(target.string() +
                            ": this file would be replaced, and it is not as c3sim wrote it; choose another "
                            "output, or add --force");
}

}}  // namespace c3::files
