#pragma once
/// What c3sim sample is asked for, and what it says.

#include <cstdint>
#include <string>
#include <vector>

#include "configs/tables/timed_table.hpp"
#include "workloads/sampling/methods/method.hpp"

namespace c3 { inline namespace app {

struct SampleKernelsRequest {
  std::vector<std::string> files;  ///< one CSV file, one HDF5 file (a result, or an imported run), or traces
  std::string strategy;            ///< strategy in a result; empty: its first
  std::string method = "stem";
  SampleRequest sample;
  std::uint64_t seed = 0;
  std::uint64_t seeds = 200;  ///< seeds for every method under `compare`
  bool compare = false;
  std::string folder;  ///< for samples.csv and reduced.toml; empty: not written
  std::string system = "mi300x-8";
  TimedColumns columns;
  bool json = false;
  bool quiet = false;
};

/// \returns the exit code. \throws UsageError and whatever reading and writing files throw
int sample_kernels(const SampleKernelsRequest& request);

struct SampleLengthsRequest {
  std::string file;
  std::string other;  ///< a log of another machine; empty: none
  SeqPointRequest points;
  bool compare = false;
  TimedColumns columns;
  bool json = false;
  bool quiet = false;
};

int sample_lengths(const SampleLengthsRequest& request);

struct SampleEpochRequest {
  std::string file;
  std::vector<std::string> sets;
  SeqPointRequest points;
  bool whole = false;  ///< also simulate every length, and compare
  bool json = false;
};

int sample_epoch(const SampleEpochRequest& request);

struct SampleLoopRequest {
  std::string file;
  std::vector<std::string> sets;
  bool whole = false;  ///< also run every iteration, and compare
  bool json = false;
};

int sample_loop(const SampleLoopRequest& request);

}}  // namespace c3::app
