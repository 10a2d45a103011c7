#pragma once
/// `c3sim import --similarity`: a recording beside its replays, as tables and JSON.

#include <string>
#include <vector>

#include "app/import/import_program.hpp"
#include "app/import/import_tables.hpp"
#include "app/import/operator_list_output.hpp"
#include "app/import/trace_files.hpp"
#include "base/json.hpp"
#include "workloads/traces/replay/rank_figures.hpp"
#include "workloads/traces/replay/replay_model.hpp"

namespace c3 { inline namespace app {

struct Similarity {
  std::vector<RankSimilarity> ranks;
  std::vector<NotModelled> not_modelled;  ///< what the replay by the model leaves out
  std::vector<RankCoverage> coverage;     ///< only for a benchmark
};

/// Simulates what \p written runs, with recorded times and by the model, and sets both beside the Kineto
/// traces in \p files. Operators of a recording have the names of the list, or those of kernels.
/// \param made the list of a benchmark, none of whose operators was dropped or repeated; nullptr for a program
Similarity similarity_of(const TraceFiles& files, const WrittenProgram& written, const MadeList* made);

/// What --csv takes beside other tables, with -o.
std::vector<std::string> similarity_table_names();
/// Whether such a table requires --similarity: all do but that of what is not modelled.
bool needs_simulation(const std::string& table);

/// All tables; that of figures has the ranks one after another.
std::vector<ImportTable> similarity_tables(const Similarity& similarity);

std::string similarity_text(const Similarity& similarity);

/// {ranks: [{rank, figures: [{figure, unit, recorded, replayed, modelled, ratio}]}], not_modelled: [..],
/// coverage: [..]}
Json similarity_json(const Similarity& similarity);

}}  // namespace c3::app
