#pragma once
/// When a key matters to a run. Fields name the conditions (Field::used_if, and used_if for a whole table);
/// configs/jobs/run_conditions.cpp says what each asks of a run, and what a user is told where it does not
/// hold.

#include <algorithm>
#include <array>
#include <cstdint>

#include "configs/toml/rule.hpp"

namespace c3 { inline namespace configs {

enum class When : std::uint8_t {
  always,
  // Kernels.
  kernels_run,
  queues_are_simulated,
  device_launches,
  work_runs_beside,
  rate_is_taken,
  products_run,
  small_products_run,
  vector_products_run,
  attention_runs,
  convolutions_run,
  scans_run,
  gemms_are_streamed,
  memory_computes,
  // What shares a GPU.
  several_gpus,
  streams_run_beside,
  streams_have_own_cus,
  kernels_run_beside_collectives,
  kernels_run_beside_channels,
  stream_fair,
  compute_first,
  // Hypotheses and parts of a GPU.
  rotation_is_strict,
  several_shader_engines,
  power_couples,
  has_last_level_cache,
  // What moves data.
  collectives_run,
  channels_run,
  engines_move_data,
  collectives_are_fused,
  hosts_copy,
  node_moves_data,
  memory_of_hosts_moves_data,
  // Links.
  several_nodes,
  several_nodes_or_copies,
  links_fill,
  switch_reduces,
  ranks_send_in_pairs,
  ranks_send_messages,
  hosts_launch_collectives,
  // Training steps.
  parameters_are_sharded,
  gradients_are_bucketed,
  ranks_size_buckets,
  bucket_is_largest,
  first_bucket_is_largest,
  tensors_are_split,
  has_experts,
};

/// Adds \p condition behind the others. \pre there is room
constexpr void append(Conditions& conditions, When condition) {
  *std::ranges::find(conditions, When::always) = condition;
}

}}  // namespace c3::configs
