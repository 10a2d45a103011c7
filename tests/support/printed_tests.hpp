#pragma once
/// Output in the shape of nccl-tests and rccl-tests, of our own making.

#include <fmt/format.h>

#include <string>

namespace c3 {

/// How a test was run and where.
struct PrintedJob {
  std::string program = "all_reduce_perf";
  int hosts = 1;
  int gpus_of_host = 8;
  std::string gpu = "NVIDIA H100 80GB HBM3";
  std::string release = "22703";  ///< NCCL's number of it; empty: a version that does not print it
  std::string launch = "nThread 1 nGpus 1";
  int graph = 0;
};

/// The list of devices.
inline std::string printed_devices(const PrintedJob& job) {
  std::string text = "# Using devices\n";
  for (int rank = 0; rank < job.hosts * job.gpus_of_host; ++rank)
    text += fmt::format("#  Rank {:2} Group  0 Pid {:6} on {:>10} device {:2} [0000:{:02x}:00] {}\n", rank,
                        4000 + rank, fmt::format("node-{}", rank / job.gpus_of_host), rank % job.gpus_of_host,
                        rank % job.gpus_of_host, job.gpu);
  return text;
}

/// All before the header of the table.
inline std::string printed_head(const PrintedJob& job = {}) {
  std::string text;
  if (!job.release.empty())
    text += fmt::format("# nccl-tests version 2.19.6 nccl-headers={0} nccl-library={0}\n", job.release);
  if (!job.program.empty()) text += fmt::format("# Collective test starting: {}\n", job.program);
  text += fmt::format(
      "# {} minBytes 8 maxBytes 32 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 "
      "graph: {} unalign: 0\n#\n",
      job.launch, job.graph);
  return text + printed_devices(job) + "#\n";
}

/// The header with \p time for its columns of times, \p after_place behind each place, and \p last at its end.
inline std::string printed_columns(const std::string& time = "time", const std::string& after_place = "",
                                   const std::string& last = "") {
  return fmt::format(
      "#                                  out-of-place                in-place\n"
      "#   size   count   type  redop   root   {0}  algbw  busbw  #wrong{1}   {0}  algbw  busbw  #wrong{1} "
      "{2}\n"
      "#    (B)  (elements)                   (us)  (GB/s)  (GB/s)       (us)  (GB/s)  (GB/s)\n",
      time, after_place, last);
}

/// A row of floats with times out of place and in place.
inline std::string printed_row(long size, double out, double in, const std::string& type = "float",
                               const std::string& redop = "sum") {
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}      -1  {:7.2f}  1.00  1.00  0  {:7.2f}  1.00  1.00  0\n",
                     size, size / 4, type, redop, out, in);
}

inline const std::string kPrintedFoot =
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 44.5 \n#\n# Collective test concluded: x\n#\n";

/// \p text with \p mark before each line.
inline std::string marked(const std::string& text, const std::string& mark) {
  std::string out = mark;
  for (std::size_t at = 0; at < text.size(); ++at) {
    out += text[at];
    if (text[at] == '\n' && at + 1 < text.size()) out += mark;
  }
  return out;
}

}  // namespace c3
