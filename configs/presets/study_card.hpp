#pragma once
/// What `c3sim list`, completion and `c3sim reproduce` know of a study without running it:
/// `studies/NAME/study.toml`.

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "configs/toml/section.hpp"

namespace c3 { inline namespace configs {

/// A file of measurements, or a folder of them.
struct StudyMeasurements {
  std::string path;  ///< below the data folder
  std::string what;  ///< one line
};

/// The value that is shown of a formula that has one for each draw of what is uncertain.
enum class OverDraws { median, mean, nominal };
constexpr auto enum_names(OverDraws) {
  return std::to_array<EnumName<OverDraws>>(
      {{"median", OverDraws::median}, {"mean", OverDraws::mean}, {"nominal", OverDraws::nominal}});
}

/// A formula whose value stands beside a figure, or that others name.
struct NamedFormula {
  std::string name;  ///< heads a column; one that ends with a unit in brackets has that one
  std::string formula;
  OverDraws over = OverDraws::median;  ///< applies to numbers that the study's code finds
};

/// How the values of several rows become one figure; `mean_size` is of the values without their signs.
/// `deviation`: standard deviation of a sample over its mean; `spread`: largest over least, less 1; both in %.
enum class SummaryKind { mean, mean_size, median, largest, total, geometric_mean, deviation, spread };
constexpr auto enum_names(SummaryKind) {
  return std::to_array<EnumName<SummaryKind>>({{"mean", SummaryKind::mean},
                                               {"mean_size", SummaryKind::mean_size},
                                               {"median", SummaryKind::median},
                                               {"largest", SummaryKind::largest},
                                               {"total", SummaryKind::total},
                                               {"geometric_mean", SummaryKind::geometric_mean},
                                               {"deviation", SummaryKind::deviation},
                                               {"spread", SummaryKind::spread}});
}

/// A number of several rows. Rows for which the formula \p where is 0 are left out; empty: none is.
struct SummaryColumn {
  std::string name;   ///< heads the column; empty: the figure's own
  std::string value;  ///< formula of each row
  SummaryKind kind = SummaryKind::mean;
  std::string where = {};
};

/// A figure of all rows for which \p by is the same.
struct StudySummary {
  std::string by, id, label;
  std::vector<SummaryColumn> columns;  ///< the figure, then what stands beside it
  std::string blocks = {};             ///< rows that err alike have the same; empty: no interval is wanted
};

/// A line of the file of `--rows` for each row of a table.
struct ListedRow {
  std::string cells;                ///< texts with commas between
  std::vector<std::string> values;  ///< formulas of the cells behind them
};

/// A section that is a table of cases: what each row of a CSV file simulates or asks c3sim, and the figure that
/// it gives. In every text `${column}` stands for the row's cell; what sets a key to an empty cell is left out.
struct StudyTable {
  std::string heading;          ///< empty: the rows are only there for others' formulas
  PlacedText cases;             ///< CSV file of the study's folder, or of the folder that it names
  std::string experiment = {};  ///< file in the study's folder, else below experiments/; empty: nothing runs
  std::string ask = {};         ///< words of a c3sim command in place of simulating; `--json` is added
  std::string call = {};        ///< function of the studies' code in place of both (row_functions.hpp)
  std::string found = {};       ///< name of what the study's code finds; empty: it finds nothing for it
  bool has_spread = true;       ///< whether percentiles over draws and the nominal value are shown
  std::vector<std::string> sets =
      {};                 ///< `key=value` of the experiment or the function or, as `--set`, of the command
  std::string name = {};  ///< formulas of other rows use it, `NAME:NUMBER`; empty: the cell `id`, if any
  std::string id;         ///< the figure's, see published.csv
  std::string label = "${label}";  ///< empty: the row is only there for others' formulas
  std::string where = {};  ///< rows where it is empty, or a comparison that is false, are left out; empty: none
  std::vector<NamedFormula> steps = {};  ///< formulas below name these, and each those before it
  std::string value;  ///< formula of the figure: of columns, of numbers of the run, of other rows
  std::vector<NamedFormula> beside = {};
  std::vector<StudySummary> summaries = {};  ///< shown before the rows
  bool lists_rows = true;                    ///< false: only the summaries are shown
  std::string fitted = {}, input = {};       ///< regular expressions of labels whose figures are of this kind
  std::vector<ListedRow> listed = {};
  std::string rows = {}, skipped = {};  ///< formulas: measurements that a figure is made of, or leaves out
  std::vector<std::string> notes = {};
  std::string heads = "here";  ///< the column of values
  int decimals = 1;
};

struct StudyCard {
  std::string name;                              ///< the folder's name
  std::string about;                             ///< one line
  std::vector<StudyMeasurements> measured = {};  ///< data that it cannot do without
  bool takes_systems = false;                    ///< whether the user may bring a map of tables to systems
  bool has_rows = false;                         ///< whether it can list every measurement
  std::string row_columns = {};                  ///< heads what its tables list, see ListedRow
  bool has_page = false;                         ///< whether it draws itself as a page
  bool has_weights = false;                      ///< whether it trains what presets have
  bool has_draws = false;               ///< whether it is over draws of priors, and can be had calibrated
  std::vector<StudyTable> tables = {};  ///< sections that need no code
};

/// Every study that there is, by name: of one name that in the first folder that has it, of studies/ in the
/// folders of C3SIM_CONFIGS and the shipped studies/. \throws ConfigError for a broken card, with its place
std::vector<StudyCard> study_cards();

/// A file of scenarios, priors or published figures: STUDY/NAME in the first of those folders that has it.
/// \throws IoError
std::filesystem::path study_file(std::string_view study, std::string_view name);

/// Folder of the measured tables: \p asked (--data), else the environment's C3SIM_DATA, else `data` in the
/// working folder.
std::filesystem::path data_folder(const std::string& asked);

/// \throws IoError that says which files of measurements are not there and what they are.
void check_measurements(const StudyCard& study, const std::filesystem::path& data);

}}  // namespace c3::configs
