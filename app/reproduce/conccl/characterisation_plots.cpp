#include <fmt/format.h>

#include "app/reproduce/conccl/characterisation_part.hpp"
#include "app/reproduce/conccl/gemm_alone.hpp"

namespace c3 {
namespace {

double published_value(const PublishedFigures& published, std::string_view id) {
  return published.find(id).published.value_or(0.0);
}

}  // namespace

CurvePlot CharacterisationPart::gemm_plot(const PublishedFigures& published) const {
  const std::vector<GemmShape> shapes = compute_bound_gemms();
  CurvePlot plot{
      .title = "GEMMs alone with CUs removed",
      .x = "CUs removed",
      .y = "longer [%]",
      .curves = {{fmt::format("mean of {} LLaMA shapes", shapes.size()), {}},
                 {"LLaMA-405B up, 4,096 tokens", {}}},
      .published = {{"405B up", {0.5 * kMostRemoved, published_value(published, "gemm.405b_up_4096.minus32")}},
                    {"mean", {1.0 * kMostRemoved, published_value(published, "gemm.minus64.mean")}}}};
  if (!memory_bound_.empty()) plot.curves.push_back({"mean of the scenarios' memory-bound GEMMs", {}});
  const GpuSpec& gpu = nominal().cluster.gpu;
  for (int removed = 0; removed <= kMostRemoved; removed += gpu.compute.xcds) {
    plot.curves[0].points.push_back({1.0 * removed, slowdown(shapes, gpu, removed).mean});
    plot.curves[1].points.push_back({1.0 * removed, slowdown(llama_405b_up(), gpu, removed)});
    if (!memory_bound_.empty())
      plot.curves[2].points.push_back({1.0 * removed, slowdown(memory_bound_, gpu, removed).mean});
  }
  return plot;
}

CurvePlot CharacterisationPart::mask_plot(const PublishedFigures& published) const {
  CurvePlot plot{.title = "Collectives of 896 MiB on few CUs",
                 .x = "CUs given",
                 .y = "time over that on all",
                 .curves = {}};
  for (const MaskCurve& curve : masks_) {
    Curve& next = plot.curves.emplace_back(
        Curve{fmt::format("{}, {}", name_of(curve.kind), name_of(curve.algorithm)), {}});
    for (std::size_t i = 0; i < kMasks.size(); ++i)
      next.points.push_back({1.0 * kMasks.at(i), curve.on_cus[i] / curve.on_all});
    const double knee = published_value(published, curve.figure);
    plot.published.push_back({fmt::format("{:g}", knee), {knee, 1.0}});
  }
  plot.notes = {"The published knees under masks are inputs, no test."};
  return plot;
}

CurvePlot CharacterisationPart::copy_plot(const PublishedFigures& published) const {
  const double faster = published_value(published, "dma.large") / 100.0;
  CurvePlot plot{
      .title = "Copy engines beside RCCL, by size",
      .x = "size",
      .y = "time over RCCL's",
      .is_of_sizes = true,
      .curves = {{"all-gather, of RCCL direct", {}},
                 {"all-gather, of RCCL's ring", {}},
                 {"all-to-all, of RCCL direct", {}}},
      .published = {{"all-gather", {kSmall.value, published_value(published, "dma.small.all_gather")}},
                    {"all-to-all", {kSmall.value, published_value(published, "dma.small.all_to_all")}},
                    {"all-gather", {kLarge.value, 1.0 / (1.0 + faster)}}}};
  for (const SizePoint& point : sizes_) {
    plot.curves[0].points.push_back({point.bytes.value, point.gather.over_library()});
    plot.curves[1].points.push_back({point.bytes.value, point.gather.over_ring()});
    plot.curves[2].points.push_back({point.bytes.value, point.all_to_all.over_library()});
  }
  return plot;
}

std::vector<CurvePlot> CharacterisationPart::plots(const PublishedFigures& published) const {
  return {gemm_plot(published), mask_plot(published), copy_plot(published)};
}

}  // namespace c3
