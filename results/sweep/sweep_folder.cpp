#include "results/sweep/sweep_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/json.hpp"
#include "files/input_files.hpp"
#include "files/io_error.hpp"
#include "files/sealed_text.hpp"
#include "files/sha256.hpp"
#include "files/temporary_file.hpp"
#include "results/build_info.hpp"
#include "results/schema.hpp"

namespace c3 { inline namespace results {
namespace {

namespace fs = std::filesystem;

constexpr std::array kStatuses = {PointStatus::ok, PointStatus::out_of_memory, PointStatus::failed};
constexpr const char* kManifest = "manifest.json";
constexpr const char* kPoints = "points";
constexpr std::uintmax_t kLargestFile = std::uintmax_t{2} << 30U;

/// The first line of every file of the folder; the object goes on below it.
constexpr SealLine kSeal{.before = R"({"sha256": ")", .after = R"(",)"};

void write_whole(const fs::path& path, const Json& json) {
  constexpr std::string_view kOpening = "{\n";  // for which the seal stands
  TemporaryFile file(path);
  file.append(sealed(kSeal, json.dump(1).substr(kOpening.size()) + "\n"));
  file.rename_to_target();
}

/// \returns nothing when there is no such file.
std::optional<std::string> text_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  const std::vector<char> text = read_own_file(path, kLargestFile);
  return std::string(text.begin(), text.end());
}

/// \param text of \p path
Json parsed(const fs::path& path, const std::string& text, std::string_view schema) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const JsonError&) {
    json = nullptr;
  }
  if (!json.contains("schema") || json["schema"] != schema)
    throw IoError(path.string(), "read", fmt::format("it is no {} file", schema));
  return json;
}

/// \throws IoError when \p path is not as this version of c3sim wrote it: a copy may have been cut short, and
/// people edit
void require_intact(const fs::path& path, const std::string& text, const Json& json) {
  if (!json.contains("schema_version") || json["schema_version"] != kSweepSchemaVersion)
    throw IoError(path.string(), "read", "another version of c3sim made it; repeat c3sim sweep with this one");
  if (!is_sealed(kSeal, text))
    throw IoError(path.string(), "read",
                  "it was changed after c3sim wrote it: its SHA-256 is not the one it was sealed with; repeat "
                  "c3sim sweep, which simulates it again");
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

/// Whether \p text, as write_whole() writes it, is of the point \p id: one may have been copied over another.
bool is_of_point(const std::string& text, const std::string& id) {
  return text.find(fmt::format("\n \"id\": {},\n", json_quoted(id))) != std::string::npos;
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
  const std::optional<std::string> text = text_of(file);
  if (!text) return std::nullopt;
  const Json json = parsed(file, *text, kSweepManifestSchema);
  require_intact(file, *text, json);
  return expecting(file, [&] { return manifest_of(json); });
}

std::optional<EarlierSweep> SweepFolder::earlier() const {
  const fs::path file = path_ / kManifest;
  const std::optional<std::string> text = text_of(file);
  if (!text) return std::nullopt;
  const Json json = parsed(file, *text, kSweepManifestSchema);
  return EarlierSweep{.manifest = expecting(file, [&] { return manifest_of(json); }),
                      .is_intact = is_sealed(kSeal, *text)};
}

std::vector<fs::path> SweepFolder::remove_changed(const std::vector<std::string>& ids) const {
  std::vector<fs::path> removed;
  std::error_code ignored;
  for (const std::string& id : ids) {
    for (const bool failed : {false, true}) {
      const fs::path file = file_of(id, failed);
      if (!fs::is_regular_file(file, ignored) || is_intact_point(id, failed)) continue;
      if (fs::remove(file, ignored)) removed.push_back(file);
    }
  }
  return removed;
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

bool SweepFolder::is_intact_point(const std::string& id, bool failed) const {
  const fs::path file = file_of(id, failed);
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  try {
    const std::optional<std::string> text = text_of(file);
    return text && is_sealed(kSeal, *text) && is_of_point(*text, id);
  } catch (const IoError&) {  // another process replaced it in between
    if (fs::exists(file, ignored)) throw;
    return false;
  }
}

bool SweepFolder::has(const std::string& id) const { return is_intact_point(id, false); }

bool SweepFolder::has_failed(const std::string& id) const { return !has(id) && is_intact_point(id, true); }

std::optional<PointResult> SweepFolder::read(const std::string& id) const {
  for (const bool failed : {false, true}) {
    const fs::path file = file_of(id, failed);
    const std::optional<std::string> text = text_of(file);
    if (!text) continue;
    const Json json = parsed(file, *text, kSweepPointSchema);
    require_intact(file, *text, json);
    if (!is_of_point(*text, id)) throw IoError(file.string(), "read", "it is a copy of another point");
    return expecting(file, [&] { return result_of(json); });
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

}}  // namespace c3::results
