#include "studies/study_table.hpp"

#include "studies/bert/bert_study.hpp"
#include "studies/camping/camping_study.hpp"
#include "studies/cluster/cluster_study.hpp"
#include "studies/collectives/collectives_study.hpp"
#include "studies/conccl/conccl_study.hpp"
#include "studies/convolutions/convolutions_study.hpp"
#include "studies/dlrm/dlrm_study.hpp"
#include "studies/goldyloc/goldyloc_study.hpp"
#include "studies/interference/interference_study.hpp"
#include "studies/jitq/jitq_study.hpp"
#include "studies/kernels/kernels_study.hpp"
#include "studies/one_gpu/one_gpu_study.hpp"
#include "studies/sampling/sampling_study.hpp"
#include "studies/scaling_laws/scaling_laws_study.hpp"
#include "studies/selection/selection_study.hpp"
#include "studies/t3/t3_study.hpp"
#include "studies/traces/traces_study.hpp"
#include "studies/training/training_study.hpp"
#include "studies/tune/tune_study.hpp"

namespace c3 { inline namespace studies {

const std::vector<Study>& all_studies() {
  static const std::vector<Study> kStudies = {
      bert_study(),         camping_study(), cluster_study(),  collectives_study(),  conccl_study(),
      convolutions_study(), dlrm_study(),    goldyloc_study(), interference_study(), jitq_study(),
      kernels_study(),      one_gpu_study(), sampling_study(), scaling_laws_study(), selection_study(),
      t3_study(),           traces_study(),  training_study(), tune_study()};
  return kStudies;
}

}}  // namespace c3::studies
