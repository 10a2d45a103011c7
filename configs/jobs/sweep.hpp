#pragma once
/// An experiment file with a [sweep]: its points, and the experiment of each.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/sweeps/sweep_cell.hpp"
#include "configs/sweeps/sweep_reader.hpp"

namespace c3 { inline namespace configs {

/// Most points of one sweep, before filters.
inline constexpr std::size_t kMostPoints = 1'000'000;

/// One combination: which value each key takes, in the order of Sweep::names.
using SweepPoint = std::vector<std::size_t>;

/// Immutable.
class Sweep {
 public:
  /// Reads \p path under \p sets, and finds the points that its filters leave. No experiment is read yet.
  /// \throws ConfigError for a file without a [sweep], and one of more than kMostPoints or no points
  static Sweep load(const std::filesystem::path& path, std::span<const std::string> sets = {});

  /// The points of \p description over \p document, which has neither [sweep] nor [tune] any more. \param table
  /// which of both described them, for errors \param stem the file's name, for an experiment that has none
  /// \param definition what the file says, as TOML. \throws as load()
  Sweep(Node document, SweepDescription description, const std::string& table, const std::string& stem,
        std::string definition);

  const std::string& name() const { return name_; }  ///< the experiment's name
  /// What is swept: groups that go together first, the seed last.
  const std::vector<std::string>& names() const { return names_; }
  /// The last name varies fastest.
  const std::vector<SweepPoint>& points() const { return points_; }

  /// The value of each name. A column of all points is of one kind: numbers of one unit, or texts.
  std::vector<SweepCell> cells(const SweepPoint& point) const;
  /// The values as the file has them, "4 TB/s".
  std::vector<std::string> texts(const SweepPoint& point) const;
  /// \throws ConfigError for a combination that makes no experiment
  ExperimentFile experiment(const SweepPoint& point) const;
  /// The experiment and an outline of it, see ExperimentFile::read_with_outline(). \throws like experiment()
  std::pair<ExperimentFile, Experiment> with_outline(const SweepPoint& point) const;
  /// The experiment and one stage of it, see ExperimentFile::read_with_stage(). \throws like experiment()
  std::pair<ExperimentFile, Experiment> with_stage(const SweepPoint& point) const;
  /// `key=value` of every key that makes the file's own experiment that of \p point.
  std::vector<std::string> sets(const SweepPoint& point) const;

  /// The file with `extends` and --set applied, as TOML, [sweep] with it.
  const std::string& definition() const { return definition_; }

 private:
  /// Axes that go together.
  struct Group {
    std::size_t first = 0, axes = 0;  ///< range of axes_
    std::size_t values = 0;
  };

  void add_groups(std::vector<SweepGroup> groups);
  void find_points();
  Node document_of(const SweepPoint& point) const;
  const Node& value(const SweepPoint& point, std::size_t axis) const { return axes_[axis].values[point[axis]]; }
  /// Calls \p change(key, value) for every key that the point sets.
  template <class Change>
  void each_change(const SweepPoint& point, Change change) const;

  std::string table_;  ///< "sweep" or "tune"
  std::string name_;
  std::string definition_;
  Node document_;  ///< without [sweep]
  std::vector<Group> groups_;
  std::vector<SweepAxis> axes_;
  std::vector<SweepSetting> settings_;
  std::vector<SweepFilter> filters_;
  std::vector<std::string> names_;
  std::vector<std::vector<SweepCell>> cells_;  ///< [axis][value]
  std::vector<SweepPoint> points_;
};

}}  // namespace c3::configs
