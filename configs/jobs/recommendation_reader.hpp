#pragma once
/// The table [recommendation] of an experiment: a training step of a recommendation model.

#include "collectives/spec.hpp"
#include "configs/toml/section.hpp"
#include "workloads/recommendation/job.hpp"

namespace c3 { inline namespace configs {

/// Also reads [host], which `recommendation.host` has put there. \throws ConfigError
RecommendationJob read_recommendation(Section& root, const Sampling& sampling, const ClusterSpec& cluster);

}}  // namespace c3::configs
