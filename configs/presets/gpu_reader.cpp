#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/nearest_name.hpp"
#include "configs/fields/gpu_fields.hpp"
#include "configs/presets/learned_products.hpp"
#include "configs/presets/preset_store.hpp"
#include "configs/presets/scales.hpp"
#include "configs/presets/selector_file.hpp"
#include "configs/presets/spec_readers.hpp"
#include "configs/toml/quantity_text.hpp"
#include "gpu/clock/sustained_level.hpp"
#include "gpu/kernels/coefficient_table.hpp"

namespace c3 { inline namespace configs {
namespace {

/// For every data type that has a peak. The sustained rate of large GEMMs and their clock may be left to the
/// family's share (set_coefficients).
std::optional<MatrixRate> read_matrix_rate(Section& section, DType dtype, const std::string& prefix,
                                           Hertz boost) {
  const auto& [peak, sustained, clock, peak_clock] = kMatrixFields;
  if (!section.has(prefix + "peak")) return std::nullopt;
  MatrixRate rate{.dtype = dtype, .peak = {}, .sustained = {}, .clock = {}};
  read_field(section, rate, peak, prefix);
  read_field(section, rate, peak_clock, prefix);
  rate.from_share = !section.has(prefix + "sustained");
  if (!rate.from_share) {
    read_field(section, rate, sustained, prefix);
    read_field(section, rate, clock, prefix);
    if (rate.sustained > rate.peak)
      section.fail(prefix + "sustained",
                   fmt::format("must not be above the peak, which is {:.6g} TFLOP/s", rate.peak.value / 1e12));
    if (rate.clock > boost)
      section.fail(prefix + "clock",
                   fmt::format("must not be above boost_clock, which is {:.6g} GHz", boost.value / 1e9));
  }
  return rate;
}
std::vector<MatrixRate> read_matrix_rates(Section& section, Hertz boost) {
  std::vector<MatrixRate> rates;
  for (const DType dtype : enum_values<DType>()) {
    const auto rate = read_matrix_rate(section, dtype, std::string(name_of(dtype)) + "_", boost);
    if (rate) rates.push_back(*rate);
  }
  return rates;
}

ComputeSpec read_compute(Section& section) {
  ComputeSpec compute;
  read_fields(section, compute, kComputeFields);
  compute.matrix = read_matrix_rates(section, compute.boost_clock);
  if (const auto rate = read_matrix_rate(section, DType::fp32, kFp32Matrix, compute.boost_clock)) {
    compute.fp32_matrix = *rate;
    if (!section.is_rehearsal() && !section.has("fp32_sustained"))
      section.fail("fp32_matrix_peak", "requires fp32_sustained: the family's share is its matrix units'");
  }
  return compute;
}

DispatchSpec read_dispatch(Section& section, int cus) {
  DispatchSpec dispatch;
  read_fields(section, dispatch, kDispatchFields);
  read_field(section, dispatch,
             number<&DispatchSpec::mask_granule>("mask_granule", {1, static_cast<double>(cus)},
                                                 "CU masks of streams are multiples of so many CUs")
                 .used_if(When::streams_have_own_cus));
  return dispatch;
}

/// With hbm_read alone, the other rates equal it, as they do under the memory technology's share.
void read_hbm_rates(Section& section, HbmSpec& hbm) {
  hbm.from_share = !section.has("hbm_read");
  if (hbm.from_share) {
    for (const std::string_view key : {"hbm_write", "hbm_copy"}) {
      if (!section.is_rehearsal() && section.has(key))
        section.fail(key, "requires hbm_read too; hbm_read alone sets all three rates");
    }
    return;
  }
  const auto& [read, write, copy] = kHbmRateFields;
  read_field(section, hbm, read);
  hbm.write = hbm.copy = hbm.read;
  read_field(section, hbm, write);
  read_field(section, hbm, copy);
  const auto check = [&](std::string_view key, BytesPerSecond rate) {
    if (rate > hbm.peak)
      section.fail(key, fmt::format("must not be above hbm_peak, which is {}", bandwidth_text(hbm.peak.value)));
  };
  check("hbm_read", hbm.read);
  check("hbm_write", hbm.write);
  check("hbm_copy", hbm.copy);
}

HbmSpec read_hbm(Section& section) {
  HbmSpec hbm;
  read_fields(section, hbm, kHbmFields);
  read_hbm_rates(section, hbm);
  read_fields(section, hbm.pim, kPimFields);
  read_fields(section, hbm.channels, kChannelFields);
  constexpr Bytes kBurst{32};
  if (!section.is_rehearsal() && hbm.channels.interleave < kBurst)
    section.fail("channel_interleave", "must not be below 32 B, a burst of HBM");
  return hbm;
}

DmaSpec read_dma(Section& section) {
  DmaSpec dma;
  read_fields(section, dma, kDmaFields);
  if (dma.write_bytes < 1.0) section.fail("dma_write_bytes", "must not be below 1");
  return dma;
}

/// Without a limit of its own a board has the one that it is sold with.
GovernorSpec read_governor(Section& section) {
  GovernorSpec governor;
  read_fields(section, governor, kGovernorFields);
  if (section.is_rehearsal()) return governor;
  const bool has_board = governor.board.value > 0.0;
  for (const std::string_view key : {"power_limit", "flop_pj", "sustained_level"}) {
    if (!has_board && section.has(key)) section.fail(key, "requires power_board");
  }
  if (governor.limit.value <= 0.0) governor.limit = governor.board;
  if (governor.flop_pj > 0.0 && governor.averaging.value <= 0.0)
    section.fail("flop_pj", "requires power_averaging");
  if (governor.level.value > 0.0 && governor.flop_pj <= 0.0)
    section.fail("sustained_level", "requires flop_pj: without it the sustained rates are the preset's");
  return governor;
}

/// A part may have been measured itself, whatever its name is.
void check_measured_on(const Section& section, const GpuSpec& gpu) {
  const std::string& part = gpu.governor.measured_on;
  if (part.empty() || part == kNoPart || part == gpu.name) return;
  std::vector<std::string> known = preset_names(PresetKind::gpu);
  known.emplace_back(kNoPart);
  if (std::ranges::find(known, part) == known.end())
    section.fail("level_measured_on", unknown_name("GPU preset", part, known));
}

TriggerSpec read_trigger(Section& section) {
  TriggerSpec trigger;
  read_fields(section, trigger, kTriggerFields);
  if (trigger.near_memory_update > 0.0 && trigger.near_memory_update < 1.0)
    section.fail("near_memory_update", "must be 0, for memory that cannot add, or not below 1");
  return trigger;
}

/// \p gpu has its family and the way its library chooses.
std::shared_ptr<const LibraryChoice> read_library_choice(const Section& section, const GpuSpec& gpu) {
  if (section.is_rehearsal() || gpu.library_kernels.gemm_choice != GemmChoice::library) return nullptr;
  try {
    return learned_products(find_selectors("rocblas"), gpu.family.name);
  } catch (const std::invalid_argument& error) {
    section.fail("gemm_choice", error.what());
  }
}

/// What \p gpu has is scaled, whether the file says it or it was derived.
void scale(GpuSpec& gpu, std::string_view name, double factor) {
  for (MatrixRate& rate : gpu.compute.matrix)
    scale_fields(rate, kMatrixFields, name, factor);
  scale_fields(gpu.compute.fp32_matrix, kMatrixFields, name, factor);
  scale_fields(gpu.governor, kGovernorFields, name, factor);
  scale_fields(gpu.hbm, kHbmFields, name, factor);
  scale_fields(gpu.hbm, kHbmRateFields, name, factor);
  scale_fields(gpu.hbm.channels, kChannelFields, name, factor);
  scale_fields(gpu.hypotheses, kHypothesisFields, name, factor);
}

}  // namespace

std::vector<GemmTile> read_tiles(Section& section, std::string_view key) {
  const PatternRule form{"[0-9]+x[0-9]+x[0-9]+ w[0-9]+", "128x256x64 w8"};
  std::vector<GemmTile> tiles;
  for (const PlacedText& text : section.sourced_texts(key, form)) {
    GemmTile tile;
    int end = 0;
    const int read = std::sscanf(text.name.c_str(), "%4" SCNd64 "x%4" SCNd64 "x%4" SCNd64 " w%2d%n", &tile.m,
                                 &tile.n, &tile.k, &tile.waves, &end);
    const bool fits = read == 4 && static_cast<std::size_t>(end) == text.name.size() && tile.m >= 8 &&
                      tile.m <= 1024 && tile.n >= 8 && tile.n <= 1024 && tile.k >= 8 && tile.k <= 1024 &&
                      tile.waves >= 1 && tile.waves <= 32;
    if (!fits) {
      throw ConfigError(
          text.origin, section.dotted(key),
          fmt::format("must be rows, columns and step of K, 8..1024, and wavefronts, 1..32, as in "
                      "\"{}\", not \"{}\"",
                      form.example, text.name));
    }
    tiles.push_back(tile);
  }
  return tiles;
}

DType read_dtype(Section& section, std::string_view key) { return section.choice<DType>(key); }

GpuSpec read_gpu(Section& section) {
  GpuSpec gpu;
  gpu.name = section.preset_name();
  gpu.compute = read_compute(section);
  gpu.dispatch = read_dispatch(section, gpu.compute.cus());
  read_fields(section, gpu.cache, kCacheFields);
  gpu.hbm = read_hbm(section);
  gpu.dma = read_dma(section);
  read_fields(section, gpu.library_kernels, kLibraryKernelFields);
  read_fields(section, gpu.hypotheses, kHypothesisFields);
  read_fields(section, gpu.hypotheses.streamed, kStreamedFields);
  read_fields(section, gpu.hypotheses.power, kPowerFields);
  read_fields(section, gpu.host, kHostFields);
  read_fields(section, gpu.simulation, kSimulationFields);
  gpu.governor = read_governor(section);
  if (!section.is_rehearsal()) check_measured_on(section, gpu);
  gpu.trigger = read_trigger(section);
  read_fields(section, gpu.family, kFamilyFields);
  gpu.library_choice = read_library_choice(section, gpu);
  const KernelCoefficients coefficients =
      read_kernel_coefficients(section.table("kernels"), gpu.family.name, gpu.hbm.technology);
  section.explain("kernels", "coefficients: extends = \"kernels/FAMILY.toml\"");
  const double hbm_scale = read_scale(section, "hbm_scale");
  const double flops_scale = read_scale(section, "flops_scale");
  section.finish();
  if (!section.is_rehearsal()) set_coefficients(gpu, coefficients);  // what it derives is scaled with the rest
  scale(gpu, "hbm_scale", hbm_scale);
  scale(gpu, "flops_scale", flops_scale);
  return gpu;
}

}}  // namespace c3::configs
