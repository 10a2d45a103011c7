#include "studies/study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "configs/presets/preset_folders.hpp"
#include "files/io_error.hpp"

namespace c3 { inline namespace studies {

namespace fs = std::filesystem;

fs::path experiment_of_study(std::string_view study, std::string_view name) {
  const std::vector<fs::path> folders = preset_folders();
  const fs::path wanted = fs::path("experiments") / study / name;
  for (const fs::path& folder : folders)
    if (fs::is_regular_file(folder / wanted)) return folder / wanted;
  throw IoError(
      wanted.string(), fmt::format("reproduce {}", study),
      fmt::format(
          "it is in none of the folders {}",
          fmt::join(folders | std::views::transform([](const fs::path& folder) { return folder.string(); }),
                    ", ")));
}

bool passes(const StudyReport& report) {
  return std::ranges::all_of(report, [](const StudySection& section) {
    return std::ranges::all_of(section.lines,
                               [](const StudyLine& line) { return passes(line.figure).value_or(true); });
  });
}

}}  // namespace c3::studies
