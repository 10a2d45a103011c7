#include "app/trace_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "files/io_error.hpp"
#include "files/unpacked_file.hpp"
#include "workloads/traces/kineto_reader.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3::inline app {
namespace {

namespace fs = std::filesystem;

bool is_named_like_a_trace(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (is_named_like_a_trace(entry->path()) && entry->is_regular_file()) files.push_back(entry->path());
  }
  if (error) throw IoError(folder.string(), "read", error.message());
  std::ranges::sort(files);
  return files;
}

Trace read_trace(const fs::path& path) {
  UnpackedFile file(path);
  return read_kineto(path.string(), [&file](std::span<char> part) { return file.read(part); });
}

void read_folder(const fs::path& folder, TraceFiles& files) {
  const std::size_t before = files.ranks.size();
  std::vector<std::string> others;
  for (const fs::path& path : files_in(folder)) {
    try {
      files.ranks.emplace_back(read_trace(path));
    } catch (const OtherFormatError&) {
      others.push_back(path.filename().string());
    }
  }
  if (files.ranks.size() == before)
    throw IoError(folder.string(), "import", "it holds no Kineto traces whose names end in .json or .json.gz");
  if (!others.empty())
    files.notes.push_back(
        fmt::format("{}: PyTorch execution traces are left out: {}", folder.string(), fmt::join(others, ", ")));
}

}  // namespace

TraceFiles read_traces(const std::vector<std::string>& paths) {
  TraceFiles files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      read_folder(path, files);
    } else {
      files.ranks.emplace_back(read_trace(path));
    }
  }
  return files;
}

}  // namespace c3::app
