#include "studies/study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <ranges>

#include "configs/preset_folders.hpp"
#include "configs/shipped_files.hpp"
#include "files/io_error.hpp"

namespace c3 { inline namespace studies {

namespace fs = std::filesystem;

namespace {

fs::path first_of(const std::vector<fs::path>& folders, std::string_view study, const fs::path& wanted) {
  for (const fs::path& folder : folders) {
    fs::path file = folder / wanted;
    if (fs::is_regular_file(file)) return file;
  }
  const auto texts = folders | std::views::transform([](const fs::path& folder) { return folder.string(); });
  throw IoError(wanted.string(), fmt::format("reproduce {}", study),
                fmt::format("it is in none of the folders {}", fmt::join(texts, ", ")));
}

}  // namespace

fs::path study_file(std::string_view study, std::string_view name) {
  std::vector<fs::path> folders = preset_folders();
  folders.pop_back();  // the shipped presets
  for (fs::path& folder : folders)
    folder /= "studies";
  folders.push_back(shipped_folder("studies", C3_SOURCE_STUDIES));
  return first_of(folders, study, fs::path(study) / name);
}

fs::path experiment_of_study(std::string_view study, std::string_view name) {
  return first_of(preset_folders(), study, fs::path("experiments") / study / name);
}

fs::path data_folder(const std::string& asked) {
  if (!asked.empty()) return asked;
  const char* variable = std::getenv("C3SIM_DATA");
  return variable != nullptr && *variable != '\0' ? variable : "data";
}

void check_files(const Study& study, const fs::path& data) {
  std::vector<std::string> missing;
  for (const StudyFile& file : study.files) {
    if (!fs::exists(data / file.path)) missing.push_back(fmt::format("{} ({})", file.path, file.what));
  }
  if (missing.empty()) return;
  throw IoError(data.string(), fmt::format("reproduce {}", study.name),
                fmt::format("the measurements are not there: {}; name their folder with --data or C3SIM_DATA",
                            fmt::join(missing, ", ")));
}

bool passes(const StudyReport& report) {
  return std::ranges::all_of(report, [](const StudySection& section) {
    return std::ranges::all_of(section.lines,
                               [](const StudyLine& line) { return passes(line.figure).value_or(true); });
  });
}

}}  // namespace c3::studies
