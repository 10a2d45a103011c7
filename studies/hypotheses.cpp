#include "studies/hypotheses.hpp"

#include <optional>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/presets/study_card.hpp"
#include "importers/collective_times/headed_table.hpp"
#include "studies/cases/cells.hpp"

namespace c3 { inline namespace studies {

const std::vector<Hypothesis>& hypotheses() {
  static const std::vector<Hypothesis> kHypotheses = [] {
    std::vector<Hypothesis> list;
    const HeadedTable table(study_file("conccl", "hypotheses.csv"));
    for (const HeadedTable::Row& row : table.rows()) {
      const Cells cells(table, row);
      const std::string id(cells.find("id"));
      if (cells.find("set").empty() || id.starts_with("without.")) continue;
      list.push_back({id, std::string(cells.find("label")), listed(cells.find("set"))});
    }
    return list;
  }();
  return kHypotheses;
}

Experiment under(const Hypothesis& hypothesis, const std::filesystem::path& file) {
  return ExperimentFile::load(file, hypothesis.sets).make(std::nullopt);
}

}}  // namespace c3::studies
