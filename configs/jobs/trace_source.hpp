#pragma once
/// What a `[trace]` runs: a program file, or operator lists and what is made of them.

#include <string>
#include <string_view>
#include <vector>

#include "configs/toml/section.hpp"
#include "configs/toml/tree.hpp"
#include "workloads/traces/kernel_class.hpp"
#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace configs {

struct TraceSource {
  std::vector<PlacedText> files;  ///< absolute paths
  std::vector<WorkClass> drop;    ///< classes of operators to leave out
  int repeat = 1;
  int scale_to = 0;  ///< ranks; 0: those listed
};

/// Makes each path of `trace.use` of \p root absolute (place_path).
void place_trace(Table& root);

/// A list of some of \p known. \throws ConfigError
std::vector<WorkClass> read_work_classes(Section& section, std::string_view key,
                                         const std::vector<WorkClass>& known);

/// The keys of \p section that say what runs. \throws ConfigError
TraceSource read_source(Section& section);

/// Whether \p source is of operator lists, whose work has no dates.
bool is_of_lists(const TraceSource& source);

/// Formats are recognised by content. \param section for messages. \throws ConfigError for files that are not
/// there or do not go together, and for changes of a list that cannot be made; IoError and TraceError for
/// damaged files
RecordedRun load(const TraceSource& source, Section& section);

}}  // namespace c3::configs
