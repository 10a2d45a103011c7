// Inception-V3 (Szegedy et al., arXiv 1512.00567) as torchvision has it, which training gives a second
// classifier.

#include "workloads/models/images/image_network.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr Extent2 kOne = {1, 1}, kThree = {3, 3}, kTwo = {2, 2};

/// One convolution of a branch; it keeps the size of its map unless it has a stride or is `tight`.
struct Unit {
  std::int64_t filters;
  Extent2 size = kOne;
  Extent2 stride = kOne;
  bool is_tight = false;
};

void unit(ImageLayers& net, const std::string& name, const Unit& what) {
  const bool keeps = what.stride == kOne && !what.is_tight;
  net.convolution(name, {.count = what.filters,
                         .size = what.size,
                         .stride = what.stride,
                         .pad = keeps ? Extent2{what.size.h / 2, what.size.w / 2} : Extent2{0, 0}});
  net.batch_norm(name + ".norm");
  net.relu(name + ".relu");
}

/// A module of parallel branches, whose outputs are concatenated.
class Module {
 public:
  Module(ImageLayers& net, std::string name) : net_(net), name_(std::move(name)), input_(net.here()) {}

  Module& branch(const std::vector<Unit>& units) {
    net_.go_to(input_);
    follow(units);
    branches_.push_back(net_.here());
    return *this;
  }
  Module& pooled(std::int64_t filters) {
    net_.go_to(input_);
    net_.mean_pool(name_ + ".pool", kThree, kOne, kOne);
    follow({{filters}});
    branches_.push_back(net_.here());
    return *this;
  }
  Module& maxima() {
    net_.go_to(input_);
    net_.max_pool(name_ + ".pool", kThree, kTwo);
    branches_.push_back(net_.here());
    return *this;
  }
  /// A branch of \p units whose output goes through 1 x 3 and through 3 x 1.
  Module& forked(const std::vector<Unit>& units, std::int64_t filters) {
    net_.go_to(input_);
    follow(units);
    const FeatureMap fork = net_.here();
    std::vector<FeatureMap> halves;
    for (const Extent2 size : {Extent2{1, 3}, Extent2{3, 1}}) {
      net_.go_to(fork);
      follow({{filters, size}});
      halves.push_back(net_.here());
    }
    net_.concatenate(name_ + ".halves" + std::to_string(branches_.size()), halves, fork);
    branches_.push_back(net_.here());
    return *this;
  }
  void end() { net_.concatenate(name_ + ".concatenate", branches_, input_); }

 private:
  void follow(const std::vector<Unit>& units) {
    for (const Unit& convolution : units)
      unit(net_, name_ + ".conv" + std::to_string(++convolutions_), convolution);
  }

  ImageLayers& net_;
  std::string name_;
  FeatureMap input_;
  std::vector<FeatureMap> branches_;
  int convolutions_ = 0;
};

void with_fives(ImageLayers& net, const std::string& name, std::int64_t pooled) {
  Module(net, name)
      .branch({{64}})
      .branch({{48}, {64, {5, 5}}})
      .branch({{64}, {96, kThree}, {96, kThree}})
      .pooled(pooled)
      .end();
}

void with_sevens(ImageLayers& net, const std::string& name, std::int64_t width) {
  constexpr Extent2 kWide = {1, 7}, kHigh = {7, 1};
  Module(net, name)
      .branch({{192}})
      .branch({{width}, {width, kWide}, {192, kHigh}})
      .branch({{width}, {width, kHigh}, {width, kWide}, {width, kHigh}, {192, kWide}})
      .pooled(192)
      .end();
}

void with_forks(ImageLayers& net, const std::string& name) {
  Module(net, name).branch({{320}}).forked({{384}}, 384).forked({{448}, {384, kThree}}, 384).pooled(192).end();
}

void second_classifier(ImageLayers& net) {
  const FeatureMap trunk = net.here();
  net.mean_pool("second.pool", {5, 5}, kThree);
  unit(net, "second.conv1", {128});
  unit(net, "second.conv2", {768, {5, 5}, kOne, true});
  net.mean("second.mean");
  net.linear("second.classes", 1000);
  net.softmax("second.softmax");
  net.go_to(trunk);
}

void write_inception_v3(ImageLayers& net) {
  unit(net, "conv1", {32, kThree, kTwo});
  unit(net, "conv2", {32, kThree, kOne, true});
  unit(net, "conv3", {64, kThree});
  net.max_pool("pool1", kThree, kTwo);
  unit(net, "conv4", {80});
  unit(net, "conv5", {192, kThree, kOne, true});
  net.max_pool("pool2", kThree, kTwo);
  with_fives(net, "mixed1", 32);
  with_fives(net, "mixed2", 64);
  with_fives(net, "mixed3", 64);
  Module(net, "mixed4")
      .branch({{384, kThree, kTwo}})
      .branch({{64}, {96, kThree}, {96, kThree, kTwo}})
      .maxima()
      .end();
  with_sevens(net, "mixed5", 128);
  with_sevens(net, "mixed6", 160);
  with_sevens(net, "mixed7", 160);
  with_sevens(net, "mixed8", 192);
  if (net.batch().trains()) second_classifier(net);
  Module(net, "mixed9")
      .branch({{192}, {320, kThree, kTwo}})
      .branch({{192}, {192, {1, 7}}, {192, {7, 1}}, {192, kThree, kTwo}})
      .maxima()
      .end();
  with_forks(net, "mixed10");
  with_forks(net, "mixed11");
  net.mean("mean");
  net.dropout("dropout");
  net.linear("classes", 1000);
  net.softmax("softmax");
}

}  // namespace

extern constexpr ImageNetworkEntry kInceptionV3 = {
    .name = "inception-v3", .input = {3, {299, 299}}, .write = write_inception_v3};

}}  // namespace c3::workloads
