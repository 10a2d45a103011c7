/// Numbers of presets that nothing uses, in any experiment or study that is shipped.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "configs/jobs/unused_keys.hpp"
#include "configs/presets/document.hpp"
#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/hypotheses.hpp"
#include "studies/study.hpp"

namespace c3::studies_preset_use_test { namespace {

using Texts = std::vector<std::string>;

/// What some run asks of some system.
struct SystemUse {
  ClusterSpec cluster;
  RunUse use;
};

/// Uses of systems by the shipped experiments, those of studies, `c3sim collective` with a host that launches,
/// and `c3sim kernel`.
std::vector<SystemUse> shipped_uses() {
  std::vector<SystemUse> uses;
  std::vector<std::filesystem::path> files = experiment_files();
  for (const std::string_view study : {"conccl", "t3"})
    files.push_back(study_file(study, "one.toml"));
  for (const auto& file : files) {
    const Experiment experiment = ExperimentFile::load(file).sketch();
    uses.push_back({experiment.cluster, use_of(experiment)});
  }
  const Experiment with_hypotheses = under(hypotheses().back(), study_file("interference", "pair.toml"));
  uses.push_back({with_hypotheses.cluster, use_of(with_hypotheses)});
  RunUse collective;
  collective.add(CollectiveCall{.kind = CollectiveKind::all_to_all, .bytes = 1.0_MiB});
  collective.channels = collective.host_calls = true;
  uses.push_back({load_cluster({"h100-sxm-8", 2, "ib-ndr"}), collective});
  for (const std::string_view system : {"mi300x-8", "h100-sxm-8"}) {
    const ClusterSpec cluster = load_cluster(std::string(system));
    RunUse kernel;
    for (const DType dtype : {DType::bf16, DType::fp16, DType::fp8, DType::fp32})
      kernel.add(GemmShape{.m = 8, .n = 8, .k = 8, .dtype = dtype, .traffic = GemmTraffic::streamed},
                 cluster.gpu);
    kernel.add(ConvolutionShape{.image = {8, 8}}, cluster.gpu);
    kernel.alone = true;
    uses.push_back({cluster, kernel});
  }
  const ClusterSpec blackwell = load_cluster("b200-sxm-8");
  RunUse four_bits;
  four_bits.add(GemmShape{.m = 8, .n = 8, .k = 8, .dtype = DType::fp4, .scales = GemmScales::nv},
                blackwell.gpu);
  four_bits.alone = true;
  uses.push_back({blackwell, four_bits});
  return uses;
}

TEST_CASE("every number of a preset is used somewhere") {
  const std::vector<SystemUse> uses = shipped_uses();
  Texts unused;
  for (const PresetKind kind : {PresetKind::gpu, PresetKind::node, PresetKind::library, PresetKind::fabric}) {
    for (const std::string& name : preset_names(kind)) {
      Node preset = load_preset(kind, name, {}, "name");
      preset.table()->erase("name");  // a whole part overrides nothing
      Table document;
      document.put(noun_of(kind), {}, preset);
      for (const std::string& key : overridden_keys(document)) {
        const bool is_used = std::ranges::any_of(uses, [&](const SystemUse& system) {
          return unused_keys(Texts{key}, system.cluster, system.use).empty();
        });
        if (!is_used && std::ranges::find(unused, key) == unused.end()) unused.push_back(key);
      }
    }
  }
  CAPTURE(fmt::format("{}", fmt::join(unused, ", ")));
  CHECK(unused == Texts{});
}

}}  // namespace c3::studies_preset_use_test
