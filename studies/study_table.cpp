#include "studies/study_table.hpp"

namespace c3 { inline namespace studies {

const std::map<std::string_view, std::function<StudyRun>>& study_runs() {
  static const std::map<std::string_view, std::function<StudyRun>> kRuns = {
      {"bert", reproduce_bert},
      {"camping", reproduce_camping},
      {"cluster", reproduce_cluster},
      {"collectives", reproduce_collectives},
      {"conccl", reproduce_conccl},
      {"convolutions", reproduce_convolutions},
      {"goldyloc", reproduce_goldyloc},
      {"interference", reproduce_interference},
      {"jitq", reproduce_jitq},
      {"kernels", reproduce_kernels},
      {"sampling", reproduce_sampling},
      {"scaling_laws", reproduce_scaling_laws},
      {"selection", reproduce_selection},
      {"t3", reproduce_t3},
      {"traces", reproduce_traces},
      {"training", reproduce_training},
      {"tune", reproduce_tune}};
  return kRuns;
}

}}  // namespace c3::studies
