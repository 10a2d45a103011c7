#include "results/sweep/sweep_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/json.hpp"
#include "files/input_files.hpp"
#include "files/io_error.hpp"
#include "files/temporary_file.hpp"
#include "results/build_info.hpp"
#include "results/schema.hpp"
#include "results/sha256.hpp"

namespace c3::inline results {
namespace {

namespace fs = std::filesystem;

constexpr std::array kStatuses = {PointStatus::ok, PointStatus::out_of_memory, PointStatus::failed};
constexpr const char* kManifest = "manifest.json";
constexpr const char* kPoints = "points";
constexpr std::uintmax_t kLargestFile = std::uintmax_t{2} << 30U;

void write_whole(const fs::path& path, const Json& json) {
  TemporaryFile file(path);
  file.append(json.dump(1) + "\n");
  file.rename_to_target();
}

/// Whether there is a file that ends as write_whole() ends it: a copy of a folder may have been cut short.
bool is_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 2> end{};
  file.seekg(-std::ssize(end), std::ios::end);
  return file.read(end.data(), std::ssize(end)) && end == std::array{'}', '\n'};
}

/// \returns null when there is no such file.
Json read_json(const fs::path& path, std::string_view schema) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return nullptr;
  const std::vector<char> text = read_own_file(path, kLargestFile);
  Json json;
  try {
    json = Json::parse({text.data(), text.size()});
  } catch (const JsonError&) {
    json = nullptr;
  }
  if (!json.contains("schema") || json["schema"] != schema)
    throw IoError(path.string(), "read", fmt::format("it is no {} file", schema));
  if (!json.contains("schema_version") || json["schema_version"] != kSweepSchemaVersion)
    throw IoError(path.string(), "read", "another version of c3sim made it");
  return json;
}

/// Calls \p read; what it misses in the file is an IoError.
template <class Read>
auto expecting(const fs::path& path, Read read) {
  try {
    return read();
  } catch (const JsonError& error) {
    throw IoError(path.string(), "read", fmt::format("it is damaged ({})", error.what()));
  }
}

Json column_json(const ColumnData& column) {
  return {{"name", column.spec.name},
          {"units", column.spec.units},
          {"values", std::visit([](const auto& values) { return Json(values); }, column.values)}};
}

ColumnData column_of(const Json& json) {
  ColumnData column{.spec = {json["name"].text(), json["units"].text(), "swept"}, .values = {}};
  const Json::Elements& values = json["values"].elements();
  if (std::ranges::all_of(values, &Json::is_integer)) {
    auto& integers = column.values.emplace<std::vector<std::int64_t>>();
    std::ranges::transform(values, std::back_inserter(integers), &Json::integer);
  } else if (std::ranges::all_of(values, &Json::is_number)) {
    auto& numbers = column.values.emplace<std::vector<double>>();
    std::ranges::transform(values, std::back_inserter(numbers), &Json::number);
  } else {
    column.values = json["values"].texts();
  }
  return column;
}

SweepManifest manifest_of(const Json& json) {
  SweepManifest manifest{.experiment = json["experiment"].text(),
                         .file = json["file"].text(),
                         .command_line = json["command_line"].text(),
                         .definition = json["definition"].text(),
                         .software_version = json["software_version"].text(),
                         .git_commit = json["git_commit"].text(),
                         .axes = {},
                         .ids = json["ids"].texts(),
                         .commands = json["commands"].texts()};
  for (const Json& axis : json["axes"].elements())
    manifest.axes.push_back(column_of(axis));
  return manifest;
}

PointResult result_of(const Json& json) {
  PointResult result{.error = json["error"].text(), .numbers = {}};
  for (const PointStatus status : kStatuses) {
    if (name_of(status) == json["status"].text()) result.status = status;
  }
  for (const Json& entry : json["numbers"].elements()) {
    result.numbers.push_back({.strategy = entry["strategy"].text(),
                              .name = entry["name"].text(),
                              .units = entry["units"].text(),
                              .long_name = entry["long_name"].text(),
                              .value = entry["value"].number()});
  }
  return result;
}

void make_folder(const fs::path& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) throw IoError(path.string(), "create", failed.message());
}

}  // namespace

std::string_view name_of(PointStatus status) {
  switch (status) {
    case PointStatus::ok:
      return "ok";
    case PointStatus::out_of_memory:
      return "out_of_memory";
    default:
      return "failed";
  }
}

PointNumber point_number(const std::string& strategy, SummaryNumber number) {
  const double value = number.number();
  std::string units = number.is_time() ? "us" : std::move(number.units);
  return {strategy, std::move(number.name), std::move(units), std::move(number.long_name), value};
}

std::string point_id(std::string_view resolved_configuration) {
  constexpr std::size_t kDigits = 24;  // 96 bits: two of a million points are alike once in 1e16 sweeps
  const BuildInfo& build = build_info();
  return sha256_hex(fmt::format("{}\n{}\n{}", resolved_configuration, build.version, build.git_commit))
      .substr(0, kDigits);
}

void SweepFolder::write_manifest(const SweepManifest& manifest) const {
  make_folder(path_ / kPoints);
  Json axes = Json::array();
  for (const ColumnData& axis : manifest.axes)
    axes.push_back(column_json(axis));
  write_whole(path_ / kManifest, {{"schema", kSweepManifestSchema},
                                  {"schema_version", kSweepSchemaVersion},
                                  {"experiment", manifest.experiment},
                                  {"file", manifest.file},
                                  {"command_line", manifest.command_line},
                                  {"definition", manifest.definition},
                                  {"software_version", manifest.software_version},
                                  {"git_commit", manifest.git_commit},
                                  {"axes", std::move(axes)},
                                  {"ids", manifest.ids},
                                  {"commands", manifest.commands}});
}

std::optional<SweepManifest> SweepFolder::manifest() const {
  const fs::path file = path_ / kManifest;
  const Json json = read_json(file, kSweepManifestSchema);
  if (json.is_null()) return std::nullopt;
  return expecting(file, [&] { return manifest_of(json); });
}

void SweepFolder::note_inputs(const SweepManifest& manifest) const {
  note_input(path_ / kManifest);
  std::error_code ignored;
  for (const std::string& id : manifest.ids) {
    for (const bool failed : {false, true}) {
      const fs::path file = file_of(id, failed);
      if (fs::is_regular_file(file, ignored)) note_input(file);
    }
  }
}

void SweepFolder::remove_leftovers() const { remove_stale_files(path_ / kPoints); }

fs::path SweepFolder::file_of(const std::string& id, bool failed) const {
  return path_ / kPoints / (id + (failed ? ".failed.json" : ".json"));
}

bool SweepFolder::has(const std::string& id) const { return is_whole(file_of(id, false)); }

bool SweepFolder::has_failed(const std::string& id) const { return !has(id) && is_whole(file_of(id, true)); }

std::optional<PointResult> SweepFolder::read(const std::string& id) const {
  for (const bool failed : {false, true}) {
    const fs::path file = file_of(id, failed);
    const Json json = read_json(file, kSweepPointSchema);
    if (!json.is_null()) return expecting(file, [&] { return result_of(json); });
  }
  return std::nullopt;
}

void SweepFolder::write(const std::string& id, const PointResult& result) const {
  Json numbers = Json::array();
  for (const PointNumber& entry : result.numbers) {
    numbers.push_back({{"strategy", entry.strategy},
                       {"name", entry.name},
                       {"units", entry.units},
                       {"long_name", entry.long_name},
                       {"value", entry.value}});
  }
  const bool failed = result.status == PointStatus::failed;
  write_whole(file_of(id, failed), {{"schema", kSweepPointSchema},
                                    {"schema_version", kSweepSchemaVersion},
                                    {"id", id},
                                    {"status", name_of(result.status)},
                                    {"error", result.error},
                                    {"numbers", std::move(numbers)}});
  std::error_code ignored;  // there may have been none, and it is looked at only where there is no result
  if (!failed) fs::remove(file_of(id, true), ignored);
}

}  // namespace c3::results
