#include "app/reproduce/study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <ranges>

#include "app/reproduce/collectives/collectives_study.hpp"
#include "app/reproduce/conccl/conccl_study.hpp"
#include "app/reproduce/kernels/kernels_study.hpp"
#include "app/reproduce/t3/t3_study.hpp"
#include "app/reproduce/training/training_study.hpp"
#include "configs/preset_store.hpp"
#include "files/io_error.hpp"

namespace c3 {

namespace fs = std::filesystem;

const std::vector<Study>& studies() {
  static const std::vector<Study> kStudies = {collectives_study(), conccl_study(), kernels_study(), t3_study(),
                                              training_study()};
  return kStudies;
}

fs::path study_file(std::string_view study, std::string_view name) {
  for (const fs::path& folder : preset_folders()) {
    fs::path file = folder / "experiments" / study / name;
    if (fs::is_regular_file(file)) return file;
  }
  const auto folders =
      preset_folders() | std::views::transform([](const fs::path& folder) { return folder.string(); });
  throw IoError(fmt::format("experiments/{}/{}", study, name), fmt::format("reproduce {}", study),
                fmt::format("it is in none of the configuration folders: {}", fmt::join(folders, ", ")));
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

}  // namespace c3
