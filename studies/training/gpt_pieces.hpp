#pragma once
/// What a layer and what the rest of a micro-batch take, from steps that differ in layers and micro-batches
/// only.

#include <string>
#include <vector>

#include "studies/study.hpp"
#include "studies/training/step_scores.hpp"

namespace c3 { inline namespace studies {

enum class GptPieceKind {
  layer,  ///< time that one layer adds to a micro-batch
  rest,   ///< of a micro-batch without layers: embedding, head, loss
  whole,  ///< a micro-batch, where all steps have as many layers
};

struct GptPiece {
  GptPieceKind kind = GptPieceKind::layer;
  std::string name;  ///< of its group and kind: "2 GPUs h1024 tp1 mb4 layer"
  bool is_tensor_parallel = false;
  Seconds measured, here;
};

/// The pieces of every group of \p steps that share GPUs, tensor parallelism, width and micro-batch.
/// Micro-batches of a step, and layers of those, are fitted by least squares: the time is a + m (rest + layers
/// x layer) for m micro-batches, because the tables were composed of measured pieces. Groups whose steps do not
/// tell a piece lack it.
std::vector<GptPiece> gpt_pieces(const std::vector<SimulatedStep>& steps);

StudySection pieces_section(const std::vector<GptPiece>& pieces, const FirstTable& first,
                            const PublishedFigures& published);

}}  // namespace c3::studies
