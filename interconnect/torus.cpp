#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "interconnect/switch_network.hpp"

namespace c3 { inline namespace interconnect {
namespace {

/// Dimension-order routes: all steps along the first dimension, then the second and so on, the shorter way
/// round, upwards where both are as long. Routers are numbered with the first dimension running fastest.
class Torus final : public SwitchNetwork {
 public:
  explicit Torus(const FabricSpec& fabric)
      : sizes_(fabric.torus), nics_(fabric.nics_per_node), link_(fabric.link.one_way) {
    for (const int size : sizes_)
      routers_ *= size;
  }

  void add_links(const AddLink& add) const override {
    for (int router = 0; router < routers_; ++router) {
      for (std::size_t dimension = 0; dimension < sizes_.size(); ++dimension) {
        for (const int step : {1, -1})
          add(fmt::format("router{}-router{}.{}", router, neighbour(router, dimension, step),
                          2 * dimension + (step < 0 ? 1U : 0U)),
              link_);
      }
    }
  }

  double links() const override { return 2.0 * routers_ * static_cast<double>(sizes_.size()); }

  void add_path(Route& route, int src, int dst, Bytes wire_bytes, std::uint64_t /*flow*/) const override {
    int here = src / nics_;
    for (std::size_t dimension = 0; dimension < sizes_.size(); ++dimension) {
      const int distance = distance_along(dimension, here, dst / nics_);
      const int step = distance < 0 ? -1 : 1;
      for (int left = std::abs(distance); left > 0; --left) {
        route.add(link_from(here, dimension, step), wire_bytes);
        here = neighbour(here, dimension, step);
      }
    }
  }

  int hops(int src, int dst) const override {
    int sum = 0;
    for (std::size_t dimension = 0; dimension < sizes_.size(); ++dimension)
      sum += std::abs(distance_along(dimension, src / nics_, dst / nics_));
    return sum;
  }

 private:
  int stride(std::size_t dimension) const {
    int product = 1;
    for (std::size_t lower = 0; lower < dimension; ++lower)
      product *= sizes_[lower];
    return product;
  }
  int place(int router, std::size_t dimension) const { return router / stride(dimension) % sizes_[dimension]; }

  int neighbour(int router, std::size_t dimension, int step) const {
    const int size = sizes_[dimension];
    const int at = place(router, dimension);
    return router + ((at + step + size) % size - at) * stride(dimension);
  }

  /// Steps the shorter way; negative downwards.
  int distance_along(std::size_t dimension, int from, int to) const {
    const int size = sizes_[dimension];
    const int up = (place(to, dimension) - place(from, dimension) + size) % size;
    return up <= size - up ? up : up - size;
  }

  ResourceId link_from(int router, std::size_t dimension, int step) const {
    const std::size_t first = (static_cast<std::size_t>(router) * sizes_.size() + dimension) * 2;
    return static_cast<ResourceId>(first + (step < 0 ? 1 : 0));
  }

  std::vector<int> sizes_;
  int nics_;
  int routers_ = 1;
  BytesPerSecond link_;
};

}  // namespace

std::unique_ptr<SwitchNetwork> make_torus(const FabricSpec& fabric) { return std::make_unique<Torus>(fabric); }

}}  // namespace c3::interconnect
