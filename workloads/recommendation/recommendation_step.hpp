#pragma once
/// One training step of a recommendation model, on every rank of a cluster.

#include "collectives/spec.hpp"
#include "workloads/program/program.hpp"
#include "workloads/recommendation/job.hpp"

namespace c3 { inline namespace workloads {

/// A script for each rank, with streams `compute`, `copy` (inputs from the host), and with several ranks
/// `inputs` (their indices), `exchange` (sums of tables and their gradients) and `gradients` (of layers and of
/// tables that every rank has).
///
/// Forward: tables are looked up, sums go to the ranks of their samples beside the bottom layers, then
/// interaction and top layers. Backward: top layers and interaction, then the sums' gradients go back beside
/// the bottom layers, and tables are updated; layers' gradients are added up in two all-reduces, of the top
/// layers beside all of that. Sums of tables by row are added up by a reduce-scatter each, and their gradients
/// gathered; by grid, in each node, beside all-to-alls across nodes. Rows of the host's tables come before the
/// lookups and go back after their update (stream `host_rows`). An exact update sorts its lookups first. Ranks
/// wait for each other at collectives only. Wrong when: a library sorts lookups beside the forward pass, or
/// looks unlike tables up in one kernel; buckets of gradients are smaller. \throws InfeasibleError as placed()
/// and check_placement()
Program recommendation_program(const RecommendationJob& job, const ClusterSpec& cluster);

}}  // namespace c3::workloads
