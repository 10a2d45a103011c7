#include <fmt/format.h>

#include <algorithm>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "results/report/html.hpp"
#include "results/report/value_scale.hpp"
#include "studies/conccl/alone.hpp"
#include "studies/conccl/characterisation_part.hpp"

namespace c3 { inline namespace studies {
namespace {

double published_value(const PublishedFigures& published, std::string_view id) {
  return published.find(id).published.value_or(0.0);
}

/// Axes that begin at 0, or x at the least size and by doublings, and hold all points; what each point says.
void set_axes(CurvePlot& plot, bool is_of_sizes) {
  std::vector<CurvePoint> points;
  for (const Curve& curve : plot.curves)
    points.insert(points.end(), curve.points.begin(), curve.points.end());
  for (const PublishedPoint& published : plot.published)
    points.push_back(published.at);
  const auto [left, right] = std::ranges::minmax(points, {}, &CurvePoint::x);
  const auto [lowest, highest] = std::ranges::minmax(points, {}, &CurvePoint::y);
  plot.y = axis_from_zero(plot.y.name, lowest.y, highest.y);
  plot.x = {.name = plot.x.name, .low = is_of_sizes ? left.x : 0.0, .high = right.x, .is_log = is_of_sizes};
  constexpr double kMostTicks = 8, kSizes = 32;
  const double step = round_step(plot.x.high / kMostTicks);
  for (double at = plot.x.low; at <= right.x * 1.001; at = is_of_sizes ? kSizes * at : at + step)
    plot.x.ticks.push_back({at, is_of_sizes ? bytes_text(at) : short_number(at)});
  for (Curve& curve : plot.curves) {
    for (CurvePoint& point : curve.points) {
      point.title =
          fmt::format("{}, {}: {}", curve.label, is_of_sizes ? bytes_text(point.x) : short_number(point.x),
                      short_number(point.y));
    }
  }
}

}  // namespace

CurvePlot CharacterisationPart::gemm_plot(const PublishedFigures& published) const {
  const std::vector<GemmShape> shapes = compute_bound_gemms();
  CurvePlot plot{
      .title = "GEMMs alone with CUs removed",
      .x = {.name = "CUs removed"},
      .y = {.name = "longer [%]"},
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
  set_axes(plot, false);
  return plot;
}

CurvePlot CharacterisationPart::mask_plot(const PublishedFigures& published) const {
  CurvePlot plot{.title = "Collectives of 896 MiB on few CUs",
                 .x = {.name = "CUs given"},
                 .y = {.name = "time over that on all"},
                 .curves = {}};
  for (const MaskCurve& curve : masks_) {
    Curve& next = plot.curves.emplace_back(
        Curve{fmt::format("{}, {}", name_of(curve.kind), name_of(curve.algorithm)), {}});
    for (std::size_t i = 0; i < kMasks.size(); ++i)
      next.points.push_back({1.0 * kMasks.at(i), curve.over_all[i]});
    const double knee = published_value(published, fmt::format("knee.{}", name_of(curve.kind)));
    plot.published.push_back({fmt::format("{:g}", knee), {knee, 1.0}});
  }
  plot.notes = {"The published knees under masks are inputs, no test."};
  set_axes(plot, false);
  return plot;
}

CurvePlot CharacterisationPart::copy_plot(const PublishedFigures& published) const {
  const double faster = published_value(published, "dma.large") / 100.0;
  CurvePlot plot{
      .title = "Copy engines beside RCCL, by size",
      .x = {.name = "size"},
      .y = {.name = "time over RCCL's"},
      .curves = {{"all-gather, of RCCL direct", {}},
                 {"all-gather, of RCCL's ring", {}},
                 {"all-to-all, of RCCL direct", {}}},
      .published = {{"all-gather", {kSmall.value, published_value(published, "dma.small.all_gather")}},
                    {"all-to-all", {kSmall.value, published_value(published, "dma.small.all_to_all")}},
                    {"all-gather", {kLarge.value, 1.0 / (1.0 + faster)}}}};
  for (const SizePoint& point : sizes_) {
    plot.curves[0].points.push_back({point.bytes.value, point.gather.over_library()});
    plot.curves[1].points.push_back({point.bytes.value, point.gather.over_ring()});
    plot.curves[2].points.push_back({point.bytes.value, point.exchange.over_library()});
  }
  set_axes(plot, true);
  return plot;
}

std::vector<CurvePlot> CharacterisationPart::plots(const PublishedFigures& published) const {
  return {gemm_plot(published), mask_plot(published), copy_plot(published)};
}

}}  // namespace c3::studies
