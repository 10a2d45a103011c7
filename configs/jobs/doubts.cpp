#include "configs/jobs/doubts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/nearest_name.hpp"
#include "configs/presets/preset_folders.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::array<std::string_view, 4> kMatrixPeaks = {"bf16_peak", "fp16_peak", "fp8_peak", "fp4_peak"};
constexpr std::array<std::string_view, 3> kBehindPeaks = {"xcds", "cus_per_xcd", "boost_clock"};

/// Keys of \p names that stand in the file of the preset itself, or that it inherits.
std::vector<std::string_view> keys_of(const Table& gpu, std::span<const std::string_view> names, bool own) {
  const std::string& file = *gpu.find("name")->origin.file;
  std::vector<std::string_view> keys;
  for (const std::string_view name : names) {
    const Node* found = gpu.find(name);
    if (found != nullptr && (*found->origin.file == file) == own) keys.push_back(name);
  }
  return keys;
}

const MatrixRate* rate_of(const GpuSpec& gpu, DType dtype) {
  const auto found = std::ranges::find(gpu.compute.matrix, dtype, &MatrixRate::dtype);
  return found == gpu.compute.matrix.end() ? nullptr : &*found;
}

/// A family that no file of coefficients describes, but whose name is nearly that of one that is; empty: all is
/// well.
std::string doubt_about_family(const GpuSpec& gpu) {
  std::vector<std::string> known;
  for (const std::filesystem::path& folder : preset_folders()) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "kernels", none))
      known.push_back(entry.path().stem().string());
  }
  if (std::ranges::find(known, gpu.family.name) != known.end()) return {};
  std::ranges::sort(known);
  const std::string near = nearest_name(gpu.family.name, known);
  if (near.empty()) return {};
  return fmt::format(
      "gpu '{}': no file kernels/{}.toml describes its family, so it takes the default shares; did you mean "
      "'{}'?",
      gpu.name, gpu.family.name, near);
}

/// A ratio of peaks between data types that no GPU had so far; empty: there is none.
std::string doubt_about_peaks(const GpuSpec& gpu) {
  constexpr double kUsual = 2.0;  // every GPU with fp8 so far multiplies it twice as fast as bf16
  constexpr double kMargin = 0.1;
  const MatrixRate* bytes = rate_of(gpu, DType::fp8);
  const MatrixRate* words = rate_of(gpu, DType::bf16);
  if (bytes == nullptr || words == nullptr) return {};
  const double ratio = bytes->peak / words->peak;
  if (ratio > kUsual * (1.0 - kMargin) && ratio < kUsual * (1.0 + kMargin)) return {};
  return fmt::format("gpu '{}': fp8_peak is {:.3g} times bf16_peak; {} times is usual", gpu.name, ratio,
                     kUsual);
}

}  // namespace

std::vector<std::string> doubts_about_preset(const Table& gpu) {
  const Node* name = gpu.find("name");
  const bool is_placed = name != nullptr && name->text() != nullptr && name->origin.file != nullptr;
  if (!is_placed) return {};
  const auto own = keys_of(gpu, kMatrixPeaks, true);
  const auto inherited = keys_of(gpu, kMatrixPeaks, false);
  std::vector<std::string> doubts;
  if (!own.empty() && !inherited.empty()) {
    doubts.push_back(fmt::format("gpu '{}': {} {} its own, but {} {} inherited: state all peaks together",
                                 *name->text(), fmt::join(own, " and "), own.size() > 1 ? "are" : "is",
                                 fmt::join(inherited, " and "), inherited.size() > 1 ? "are" : "is"));
  }
  const auto behind = keys_of(gpu, kBehindPeaks, true);
  if (!behind.empty() && own.empty() && !inherited.empty()) {
    doubts.push_back(fmt::format(
        "gpu '{}': {} {} its own, but {} {} inherited from a GPU with another number of compute units or "
        "another clock",
        *name->text(), fmt::join(behind, " and "), behind.size() > 1 ? "are" : "is",
        fmt::join(inherited, " and "), inherited.size() > 1 ? "are" : "is"));
  }
  return doubts;
}

std::vector<std::string> doubts_about(const GpuSpec& gpu) {
  std::vector<std::string> doubts;
  for (std::string doubt : {doubt_about_family(gpu), doubt_about_peaks(gpu)}) {
    if (!doubt.empty()) doubts.push_back(std::move(doubt));
  }
  return doubts;
}

std::vector<std::string> doubts_about(const ClusterSpec& cluster) {
  std::vector<std::string> doubts = doubts_about(cluster.gpu);
  if (!cluster.fabric || cluster.nodes == 1) return doubts;
  const int nics = cluster.fabric->nics_per_node;
  const int gpus = cluster.node.gpus;
  if (nics % gpus != 0 && gpus % nics != 0) {
    doubts.push_back(
        fmt::format("fabric '{}': {} NICs for the {} GPUs of a node: some GPUs get more NICs than others",
                    cluster.fabric->name, nics, gpus));
  }
  return doubts;
}

}}  // namespace c3::configs
