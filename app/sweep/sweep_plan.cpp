#include "app/sweep/sweep_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/usage_error.hpp"
#include "configs/toml/config_error.hpp"
#include "results/build_info.hpp"
#include "results/shell_word.hpp"

namespace c3 { inline namespace app {
namespace {

std::string with_sets(std::string command, const std::vector<std::string>& sets) {
  for (const std::string& set : sets)
    command += " --set " + shell_word(set);
  return command;
}

/// Columns of the values that points take.
std::vector<ColumnData> axis_columns(const Sweep& sweep) {
  std::vector<ColumnData> columns;
  const std::vector<std::string>& names = sweep.names();
  std::vector<std::vector<SweepCell>> cells;
  cells.reserve(sweep.points().size());
  for (const SweepPoint& point : sweep.points())
    cells.push_back(sweep.cells(point));
  for (std::size_t axis = 0; axis < names.size(); ++axis) {
    const SweepCell& first = cells.front()[axis];
    ColumnData column{.spec = {names[axis], first.is_text() ? "1" : first.units, "swept"}, .values = {}};
    std::visit(
        [&]<class T>(const T&) {
          std::vector<T> values;
          values.reserve(cells.size());
          for (const std::vector<SweepCell>& row : cells)
            values.push_back(std::get<T>(row[axis].value));
          column.values = std::move(values);
        },
        first.value);
    columns.push_back(std::move(column));
  }
  return columns;
}

ReadPoint read_point(const Sweep& sweep, const SweepPoint& point) {
  try {
    return {.id = point_id(sweep.experiment(point).resolved_toml())};
  } catch (const ConfigError& error) {
    return {.refused = error.what()};
  }
}

/// Takes results of \p points that are not as c3sim wrote them out of the folder. \returns a line for each of
/// the first.
std::vector<std::string> changed_points(const SweepPlan& plan, const std::vector<std::size_t>& points) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> ids;
  for (const std::size_t point : points)
    ids.push_back(plan.manifest.ids[point]);
  const std::vector<std::filesystem::path> changed = plan.folder.remove_changed(ids);
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < std::min(changed.size(), kMostNamed); ++i)
    notes.push_back(fmt::format("{}: it was changed after c3sim wrote it, or cut short: it is simulated again",
                                changed[i].string()));
  if (changed.size() > kMostNamed)
    notes.push_back(fmt::format("and {} other points that were changed", changed.size() - kMostNamed));
  return notes;
}

}  // namespace

SweepPlan plan_sweep(const SweepRequest& request,
                     const std::function<void(std::size_t, std::size_t)>& progress) {
  Sweep sweep = Sweep::load(request.file, request.sets);
  std::vector<ReadPoint> points;
  for (const SweepPoint& point : sweep.points()) {
    points.push_back(read_point(sweep, point));
    progress(points.size(), sweep.points().size());
  }
  return plan_points(std::move(sweep), points, "sweep", request);
}

SweepPlan plan_points(Sweep sweep, const std::vector<ReadPoint>& points, const std::string& verb,
                      const SweepRequest& request) {
  const bool any_is_sound =
      std::ranges::any_of(points, [](const ReadPoint& point) { return point.refused.empty(); });
  if (!any_is_sound) sweep.experiment(sweep.points().front());  // says why
  const std::string run = with_sets("c3sim run " + shell_word(request.file), request.sets);
  const auto folder = request.folder.empty() ? std::filesystem::path("out") / sweep.name() : request.folder;
  SweepManifest manifest{
      .experiment = sweep.name(),
      .file = request.file,
      .command_line = with_sets(fmt::format("c3sim {} {}", verb, shell_word(request.file)), request.sets),
      .definition = sweep.definition(),
      .software_version = std::string(build_info().version),
      .git_commit = std::string(build_info().git_commit),
      .axes = axis_columns(sweep),
      .ids = {},
      .commands = {}};
  std::vector<std::string> refused;
  for (std::size_t i = 0; i < points.size(); ++i) {
    manifest.commands.push_back(with_sets(run, sweep.sets(sweep.points()[i])));
    manifest.ids.push_back(points[i].id.empty() ? point_id(manifest.commands.back()) : points[i].id);
    refused.push_back(points[i].refused);
  }
  return {std::move(sweep), SweepFolder(folder), std::move(manifest), std::move(refused)};
}

std::vector<std::string> claim_folder(const SweepPlan& plan, const std::vector<std::size_t>& points) {
  const std::optional<EarlierSweep> earlier = plan.folder.earlier();
  if (earlier && earlier->manifest.definition != plan.manifest.definition) {
    throw UsageError(fmt::format("{} holds another sweep, of {}; take another folder with -o",
                                 plan.folder.path().string(), earlier->manifest.file));
  }
  plan.folder.remove_leftovers();
  std::vector<std::string> notes = changed_points(plan, points);
  const bool is_same = earlier && earlier->manifest.ids == plan.manifest.ids;
  if (is_same && earlier->is_intact) return notes;
  plan.folder.write_manifest(plan.manifest);
  if (is_same)
    notes.push_back(fmt::format("the manifest of {} was not as c3sim wrote it: it is written again",
                                plan.folder.path().string()));
  else if (earlier)
    notes.push_back(
        fmt::format("{} was simulated with other presets or by c3sim {} ({}): its points are simulated again",
                    plan.folder.path().string(), earlier->manifest.software_version,
                    earlier->manifest.git_commit.substr(0, 12)));
  return notes;
}

}}  // namespace c3::app
