#include "studies/convolutions/find_db.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "gpu/calibration/kernel_fit.hpp"
#include "studies/checked_row.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 30U;
constexpr std::array<std::string_view, 3> kDirections = {"F", "B", "W"};  // in the order of ConvolutionPass
constexpr std::array<std::string_view, 2> kTypes = {"FP16", "FP32"};
constexpr std::array<std::string_view, 1> kLayouts = {"NCHW"};

/// Ends of the algorithms' names; the longer of two that end alike comes first.
constexpr std::array<std::pair<std::string_view, ConvolutionSolver>, 5> kAlgorithms = {
    {{"ImplicitGEMM", ConvolutionSolver::implicit_gemm},
     {"GEMM", ConvolutionSolver::gemm},
     {"Direct", ConvolutionSolver::direct},
     {"Winograd", ConvolutionSolver::winograd},
     {"FFT", ConvolutionSolver::fft}}};

ConvolutionSolver solver_in(const CheckedRow& row) {
  const std::string algorithm = row.text("algorithm");
  for (const auto& [end, solver] : kAlgorithms)
    if (algorithm.ends_with(end)) return solver;
  row.fail("algorithm", "is none of Direct, FFT, GEMM, ImplicitGEMM and Winograd");
}

/// A number that may be 0.
std::int64_t count_in(const CheckedRow& row, std::string_view column) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40U;
  return row.cell(column) == "0" ? 0 : row.whole(column, kMost);
}

ConvolutionShape shape_in(const CheckedRow& row) {
  const auto whole = [&](std::string_view column) { return row.whole(column, kLargest); };
  row.one_of("layout", kLayouts);
  const ConvolutionShape shape{.batch = whole("n"),
                               .channels = whole("c"),
                               .filters = whole("k"),
                               .groups = whole("groups"),
                               .image = {whole("h"), whole("w")},
                               .filter = {whole("r"), whole("s")},
                               .pad = {count_in(row, "pad_h"), count_in(row, "pad_w")},
                               .stride = {whole("stride_h"), whole("stride_w")},
                               .dilation = {whole("dilation_h"), whole("dilation_w")},
                               .dtype = row.one_of("dtype", kTypes) == 0 ? DType::fp16 : DType::fp32,
                               .pass = static_cast<ConvolutionPass>(row.one_of("direction", kDirections))};
  if (shape.channels % shape.groups != 0 || shape.filters % shape.groups != 0)
    row.fail("groups", "must divide channels and filters");
  const Extent2 out = output_extent(shape);
  if (out != Extent2{whole("p"), whole("q")})
    row.fail("p", fmt::format("the output of this convolution is {} x {}", out.h, out.w));
  return shape;
}

/// If two rows have the same kernel, the shorter time counts.
void add_kernel(FoundConvolution& found, FoundKernel kernel) {
  const auto known = std::ranges::find(found.kernels, kernel.name, &FoundKernel::name);
  if (known == found.kernels.end()) {
    found.kernels.push_back(std::move(kernel));
  } else {
    known->time = std::min(known->time, kernel.time);
  }
}

}  // namespace

FindDb read_find_db(const std::filesystem::path& file) {
  FindDb db;
  read_rows(file, "of a convolution", db.broken, [&](const CheckedRow& row) {
    const ConvolutionShape shape = shape_in(row);
    const ConvolutionSolver solver = solver_in(row);
    const Seconds time = row.above_0("ms") * 1.0_ms;
    if (db.convolutions.empty() || db.convolutions.back().shape != shape)
      db.convolutions.push_back({.shape = shape, .best = time, .by_solver = {}, .workspaces = {}});
    FoundConvolution& found = db.convolutions.back();
    found.best = std::min(found.best, time);
    add_kernel(found, {.name = row.text("solver"), .solver = solver, .time = time});
    if (row.text("solver").find("Naive") != std::string::npos) return;
    const auto [place, is_new] = found.by_solver.try_emplace(solver, time);
    if (!is_new && time >= place->second) return;
    place->second = time;
    found.workspaces[solver] = Bytes{static_cast<double>(count_in(row, "workspace_bytes"))};
  });
  return db;
}

GpuSpec as_in_find_db(GpuSpec gpu) {
  gpu.dispatch.launch_latency = {};
  gpu.governor.state = ClockState::burst;
  return gpu;
}

std::uint64_t layer_of(const ConvolutionShape& shape) { return shape_key(shape); }

}}  // namespace c3::studies
