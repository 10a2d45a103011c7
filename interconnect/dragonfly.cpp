#include <fmt/format.h>

#include "interconnect/switch_network.hpp"

namespace c3 { inline namespace interconnect {
namespace {

/// Minimal routes: within the group to the switch that has a link to the other group, over it, and on to the
/// switch of the receiver: one global link at most, and a local one before and behind it where needed. Source:
/// Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008. Adaptive
/// switches also go round by the others of the group, so that what leaves a switch shares all its local links,
/// and what leaves a group for another all links between the two. The second local link of a detour is not
/// counted.
class Dragonfly final : public SwitchNetwork {
 public:
  Dragonfly(const FabricSpec& fabric, int nodes)
      : shape_(fabric.dragonfly),
        spreads_(fabric.routing == FabricRouting::adaptive),
        link_(fabric.link.one_way),
        group_nics_(shape_.switch_nics * shape_.group_switches),
        groups_((nodes * fabric.nics_per_node + group_nics_ - 1) / group_nics_) {}

  void add_links(const AddLink& add) const override {
    const int switches = shape_.group_switches;
    for (int group = 0; group < groups_; ++group) {
      for (int from = 0; from < switches; ++from) {
        if (spreads_) {
          for (const char* way : {"up", "down"})
            add(fmt::format("g{}s{}.{}", group, from, way),
                link_ * double(shape_.local_links * (switches - 1)));
          continue;
        }
        for (int to = 0; to < switches; ++to) {
          if (from == to) continue;
          add(fmt::format("g{}s{}-g{}s{}", group, from, group, to), link_ * double(shape_.local_links));
        }
      }
    }
    for (int from = 0; from < groups_; ++from) {
      for (int to = 0; to < groups_; ++to) {
        for (int link = 0; from != to && link < shape_.global_links; ++link)
          add(fmt::format("g{}s{}-g{}s{}.{}", from, gateway(from, to, link), to, gateway(to, from, link), link),
              link_);
      }
    }
  }

  double links() const override {
    const double groups = groups_;
    return groups * locals_of_group() + groups * (groups - 1.0) * shape_.global_links;
  }

  void add_path(Route& route, int src, int dst, Bytes wire_bytes, std::uint64_t flow) const override {
    const auto add_local = [&](int group, int here, int there, Bytes bytes) {
      if (here == there) return;
      if (!spreads_) return route.add(local_link(group, here, there), bytes);
      route.add(port(group, here, 0), bytes);
      route.add(port(group, there, 1), bytes);
    };
    const int from = src / group_nics_;
    const int to = dst / group_nics_;
    if (from == to) {
      add_local(from, switch_of(src), switch_of(dst), wire_bytes);
      return;
    }
    const auto add_over = [&](int link, Bytes bytes) {
      add_local(from, switch_of(src), gateway(from, to, link), bytes);
      route.add(global_link(from, to, link), bytes);
      add_local(to, gateway(to, from, link), switch_of(dst), bytes);
    };
    if (!spreads_) {
      add_over(static_cast<int>(flow % static_cast<std::uint64_t>(shape_.global_links)), wire_bytes);
      return;
    }
    for (int link = 0; link < shape_.global_links; ++link)
      add_over(link, wire_bytes / double(shape_.global_links));
  }

  /// The most of any choice of a global link.
  int hops(int src, int dst) const override {
    const int from = src / group_nics_;
    const int to = dst / group_nics_;
    if (from == to) return switch_of(src) == switch_of(dst) ? 0 : 1;
    int most = 1;
    for (int link = 0; link < shape_.global_links; ++link) {
      const int local = (switch_of(src) != gateway(from, to, link) ? 1 : 0) +
                        (switch_of(dst) != gateway(to, from, link) ? 1 : 0);
      if (1 + local > most) most = 1 + local;
    }
    return most;
  }

 private:
  int switch_of(int nic) const { return nic % group_nics_ / shape_.switch_nics; }

  /// The switch of \p group that has link \p link to group \p other: consecutive ones take turns.
  int gateway(int group, int other, int link) const {
    const int distance = (other - group + groups_) % groups_ - 1;
    return (distance * shape_.global_links + link) % shape_.group_switches;
  }

  int locals_of_group() const { return shape_.group_switches * (spreads_ ? 2 : shape_.group_switches - 1); }
  /// \param way 0: up, 1: down
  ResourceId port(int group, int at, int way) const {
    return static_cast<ResourceId>(2 * (group * shape_.group_switches + at) + way);
  }
  ResourceId local_link(int group, int from, int to) const {
    const int switches = shape_.group_switches;
    return static_cast<ResourceId>((group * switches + from) * (switches - 1) + (to < from ? to : to - 1));
  }
  ResourceId global_link(int from, int to, int link) const {
    const int pair = from * (groups_ - 1) + (to < from ? to : to - 1);
    return static_cast<ResourceId>(groups_ * locals_of_group() + pair * shape_.global_links + link);
  }

  DragonflySpec shape_;
  bool spreads_;  ///< over all links of a switch, and between two groups
  BytesPerSecond link_;
  int group_nics_;
  int groups_;
};

}  // namespace

std::unique_ptr<SwitchNetwork> make_dragonfly(const FabricSpec& fabric, int nodes) {
  return std::make_unique<Dragonfly>(fabric, nodes);
}

}}  // namespace c3::interconnect
