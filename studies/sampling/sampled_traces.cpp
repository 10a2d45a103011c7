#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "files/unpacked_file.hpp"
#include "studies/jobs.hpp"
#include "studies/sampling/parts.hpp"
#include "workloads/traces/kineto_reader.hpp"
#include "workloads/traces/order_ranks.hpp"
#include "workloads/traces/trace_format.hpp"

namespace c3 { inline namespace studies {
namespace {

namespace fs = std::filesystem;

/// \p path without the ending of a file, or all files of the folder that it is.
std::vector<fs::path> files_of(const fs::path& path) {
  std::vector<fs::path> files;
  if (fs::is_directory(path)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
      files.push_back(entry.path());
    std::ranges::sort(files);
  } else if (const fs::path file = path.string() + ".json.gz"; fs::exists(file)) {
    files.push_back(file);
  }
  return files;
}

/// Files of other formats are left out.
std::vector<Rank> read_ranks(const fs::path& path) {
  std::vector<Rank> ranks;
  for (const fs::path& trace_file : files_of(path)) {
    UnpackedFile file(trace_file);
    PeekedSource source([&file](std::span<char> part) { return file.read(part); });
    if (format_of(trace_file.string(), source) == TraceFormat::kineto)
      ranks.emplace_back(
          read_kineto(trace_file.string(), [&source](std::span<char> part) { return source.read(part); }));
  }
  if (!ranks.empty()) order_ranks(ranks, /*allow_missing=*/true);
  return ranks;
}

}  // namespace

SampledTraces read_sampled_traces(const fs::path& folder, const StudyProgress& progress) {
  SampledTraces traces{{"megatron", "Megatron, 8 A100", "megatron_tp8_a100", {}},
                       {"dlrm", "DLRM, A100", "hta/a100_dlrm_rank3of8", {}},
                       {"ddp", "DDP, A100", "hta/a100_ddp_rank0of2_nccl_metadata", {}},
                       {"mi300x", "ResNet, MI300X", "tracelens/mi300x_ddp_rank0of8_resnet_act_checkpoint", {}},
                       {"linear", "linear layers, RTX 2080 Ti", "pytorch_et/linear_kineto", {}},
                       {"timesformer",
                        "TimeSformer, H100",
                        "tracelens/h100_facebook_timesformer-base-finetuned-k400__1016002",
                        {}},
                       {"mi210", "ResNet, MI210", "tracelens/mi210_gpu_only", {}}};
  Jobs jobs;
  for (SampledTrace& trace : traces)
    jobs.emplace_back([&trace, &folder] { trace.ranks = read_ranks(folder / trace.path); });
  run_jobs(jobs, progress);
  return traces;
}

}}  // namespace c3::studies
