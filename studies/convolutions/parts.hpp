#pragma once
/// The parts of `reproduce convolutions`: each takes the find-db of a GPU and compares its times with ours.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/spec.hpp"
#include "studies/convolutions/find_db.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// A GPU with its find-db, and our time of each of its convolutions by each solver that can run it.
struct MeasuredGpu {
  std::string name;   ///< "MI100"
  std::string words;  ///< in ids of figures: "mi100"
  GpuSpec gpu;        ///< as in a find-db
  FindDb db;
};

/// Times by solver, in the order of `convolutions`.
using SolverTimes = std::vector<std::map<ConvolutionSolver, Seconds>>;

/// Times of \p convolutions at \p rows, predicted with the coefficients of \p gpu.
SolverTimes times_on(const GpuSpec& gpu, const std::vector<FoundConvolution>& convolutions,
                     const std::vector<std::size_t>& rows);

/// Shorter ones are printed, and not judged: what an event adds to a kernel's time is a part of theirs.
inline constexpr Seconds kLeastJudged{20e-6};

/// The error of the best solver's time, of each solver's, and what our choice would cost, by \p times.
/// \param id the first word of the figures' ids \param kind of all figures
StudyReport compared(const MeasuredGpu& gpu, const SolverTimes& times, const PublishedFigures& published,
                     const std::string& id, FigureKind kind);

/// A layer of a described network, for one image. The network has `count` of its shape.
struct NetworkLayer {
  std::string network;
  std::int64_t count = 1;
  ConvolutionShape shape;
};
/// \throws ConfigError, IoError
std::vector<NetworkLayer> read_networks(const std::filesystem::path& file);

/// Time of all convolutions of each network, and of those that were measured.
StudySection networks(const MeasuredGpu& gpu, const std::vector<NetworkLayer>& layers,
                      const PublishedFigures& published);

}}  // namespace c3::studies
