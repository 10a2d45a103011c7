#pragma once
/// Loop programs: a machine of units and the instructions that run on it in nested loops, as TOML.

#include <filesystem>
#include <span>
#include <string>

#include "workloads/sampling/loop_nest.hpp"

namespace c3 { inline namespace configs {

/// `[unit.NAME]` has `copies`, `latency` and `interval` [cycles]; `width` instructions start in a cycle; `run`
/// is a list of `{ unit = "mac", reads = ["a"], writes = ["c"] }` and `{ loop = 64, run = [..] }`. Registers
/// are made by being named. \param sets as in load_document(). \throws ConfigError, IoError
LoopProgram load_loop_program(const std::filesystem::path& path, std::span<const std::string> sets = {});

}}  // namespace c3::configs
