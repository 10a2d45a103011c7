#pragma once
/// Sections of a study that are tables of cases, see StudyTable (configs/presets/study_card.hpp): they need no
/// code.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "configs/presets/study_card.hpp"
#include "studies/cases/formula.hpp"
#include "studies/cases/source.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

class Cells;

class CaseTables {
 public:
  /// Reads the tables of \p study and what every row simulates or asks. \param data folder of the measured
  /// tables, for cases that lie there. \throws ConfigError for a formula, a column, an override or an id that
  /// is wrong, and for a table that shows no row, with its place; IoError
  CaseTables(const StudyCard& study, const std::filesystem::path& data, const PublishedFigures& published);
  CaseTables(const CaseTables&) = delete;
  CaseTables& operator=(const CaseTables&) = delete;
  ~CaseTables() = default;

  /// A job for each row of whose source a formula names a number. This must outlive \p jobs.
  void plan(SimulationJobs& jobs);

  /// Sections in the order of the card, after the jobs have run. Rows that could not run, or that need the
  /// number of one that could not, have no value: \p broken says why
  StudyReport sections(std::vector<std::string>& broken) const;

  /// What the tables list for `--rows`, without a header. After the jobs have run.
  std::string rows_csv() const;

 private:
  struct Column {
    std::string name;
    SummaryKind kind;
    Formula value;
    std::optional<Formula> where;
  };
  /// What a row is to one of its table's summaries.
  struct Share {
    PublishedFigure figure;
    std::string by, label, block;
    std::vector<Column> columns;  ///< the figure's first
  };
  struct Row {
    std::string name, label;  ///< without a label it is only there for others' formulas
    PublishedFigure figure;
    Origin at;
    std::map<std::string, double> columns;                  ///< those that are numbers
    std::map<std::string, Formula> steps;                   ///< that the others name
    std::vector<std::pair<std::string, Formula>> formulas;  ///< of the figure, and what stands beside it
    std::vector<Share> shares;                              ///< by summary
    std::vector<std::pair<std::string, std::vector<Formula>>> listed = {};  ///< lines of --rows
    std::optional<Formula> measurements = {}, left_out = {};
    NumberSource source = {};                    ///< of what it simulates or asks
    std::map<std::string, double> numbers = {};  ///< of the source; none before the jobs, and where it has none
    std::string refusal = {};                    ///< why it has none
  };
  struct Table {
    StudyTable spec;
    std::vector<Row> rows = {};
  };

  static Table read(const StudyCard& study, const StudyTable& table, const std::filesystem::path& data,
                    const PublishedFigures& published);
  static void add_steps(std::map<std::string, Formula>& steps, const Cells& cells, const StudyTable& table);
  static void add_formulas(Row& row, const Cells& cells, const StudyTable& table,
                           const PublishedFigures& published);
  void note_needs();
  void note_needs(const Row& row, const Formula& formula,
                  std::map<const Row*, std::set<std::string>>& needed) const;
  std::optional<double> value_of(const Row& row, const Formula& formula) const;
  double number_of(const Row& row, const std::string& name) const;
  std::size_t count_of(const Row& row, const Formula& formula) const;
  const Row& row_called(const std::string& name, const Row& by) const;
  StudyLine line_of(const Row& row) const;
  std::vector<StudyLine> summaries_of(const Table& table) const;
  StudyLine line_of(const std::vector<const Row*>& group, std::size_t summary) const;
  std::vector<double> values_of(const std::vector<const Row*>& group, std::size_t summary, std::size_t column,
                                std::vector<std::string>& blocks) const;
  StudySection section_of(const Table& table) const;

  std::vector<Table> tables_;
  std::map<std::string, const Row*> rows_;                 ///< by name
  std::map<const Row*, std::vector<std::string>> needed_;  ///< numbers of each run that formulas name
};

}}  // namespace c3::studies
