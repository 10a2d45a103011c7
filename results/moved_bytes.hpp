#pragma once
/// The bytes that each activity moves at HBM, caches and links, computed from what its flows take of resources.

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/observer.hpp"

namespace c3 { inline namespace results {

struct MovedBytes {
  Bytes hbm_read;
  Bytes hbm_written;
  Bytes l2;    ///< requested from L2s and stored to them
  Bytes link;  ///< sent on links of the node, by the GPU that they leave
  Bytes nic;   ///< sent through NICs

  void add(Counted counted, Bytes bytes);
};

/// Adds up. What an activity moves counts for those that it is a part of, too, with one exception: what a
/// collective's transfer moves at a GPU counts for the collective on that GPU, whichever rank sends it. So the
/// kernels and collectives of a GPU together moved what its resources carried.
class MovedBytesAccount {
 public:
  void resource_added(const ResourceInfo& info);
  void started(ActivityId id, const ActivityInfo& info);
  void takes(ActivityId activity, ResourceId resource, double amount);
  /// \returns what \p id and its parts moved. Nothing is added to it any more.
  MovedBytes finished(ActivityId id);

 private:
  struct Resource {
    Counted counted;
    int gpu;
    double of_gpu;
  };
  struct Open {
    ActivityId parent;
    MovedBytes moved = {};
    std::uint32_t collective = kNone;  ///< index in collectives_
    int gpu = -1;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// The collective \p open on the GPU of \p resource; itself where it has none there.
  ActivityId at_gpu_of(const Resource& resource, ActivityId id, const Open& open) const;

  std::vector<Resource> resources_;  ///< indexed by ResourceId
  std::unordered_map<ActivityId, Open> open_;
  std::map<std::pair<int, std::string>, std::uint32_t> collective_index_;  ///< keyed by stream and name
  std::vector<std::unordered_map<int, ActivityId>> collectives_;           ///< activities by GPU
};

}}  // namespace c3::results
