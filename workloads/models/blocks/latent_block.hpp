#pragma once
/// What the kinds of latent attention have in common (arXiv 2405.04434, section 2.1).

#include <optional>
#include <string>
#include <vector>

#include "workloads/models/blocks/block_kind.hpp"
#include "workloads/models/parts.hpp"

namespace c3 { inline namespace workloads {

/// Projections to the latent vectors of queries, and of keys and values, their norms, and the projection of
/// queries to heads. \p model has latent dimensions.
std::vector<ModelPart> latent_queries(const ModelDimensions& model);

/// The projection of what attention makes.
ModelPart latent_output(const ModelDimensions& model);

std::vector<DividedCount> divided_heads(const ModelDimensions& model, const BlockSizes& sizes);
BlockCache latent_cache(const ModelDimensions& model, const BlockSizes& sizes);
std::optional<std::string> refused_latent_split(const BlockSizes& sizes, const ContextSplit& split);

}}  // namespace c3::workloads
