#pragma once
/// The options of `c3sim collective`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace c3 { inline namespace app {

/// Options as typed.
struct CollectiveOptions {
  std::string op;                     ///< empty: what the measured table is of
  std::string table;                  ///< measured, to compare with; empty: none
  std::string output;                 ///< page to write; empty: none
  std::string system;                 ///< "auto": the measured table's
  std::optional<std::int64_t> nodes;  ///< one
  std::string fabric;                 ///< empty: the node preset's own
  std::vector<std::string> sets;
  std::vector<std::string> environment;  ///< "NCCL_ALGO=Ring"
  std::vector<std::string> backends = {"cu"};
  std::vector<std::string> algorithms = {"auto"};
  std::vector<std::string> protocols = {"auto"};
  std::vector<std::string> launches = {};      ///< empty: graph; eager, or as it says, beside a measured table
  int channels = 0;                            ///< most; 0: as many as the library takes
  int min_channels = 0;                        ///< 0: likewise
  std::vector<std::string> dma_variants = {};  ///< empty: pcpy
  bool prelaunch = false;
  std::string dma_host;        ///< empty: gpu
  std::string dtype = "fp32";  ///< a measured table's rows use it only where they do not say theirs
  std::string smallest = "8 B", largest = "8 GiB";
  double factor = 2.0;
  std::string ranks;  ///< empty: all, or as many as the measured table is of
  int root = 0;
  bool in_place = false;  ///< not with a measured table, whose rows say it
  std::string grain = "auto";
  bool json = false;
  bool quiet = false;
};

}}  // namespace c3::app
