// LeNet-5 (LeCun et al., Proceedings of the IEEE 86(11), 1998) as it is taught: every filter of the second
// convolution takes all six maps, pools learn nothing, and the output is a softmax.

#include "workloads/models/images/image_network.hpp"

namespace c3 { inline namespace workloads {
namespace {

void write_lenet_5(ImageLayers& net) {
  net.convolution("conv1", {.count = 6, .size = {5, 5}, .bias = true});
  net.relu("relu1");
  net.max_pool("pool1", {2, 2}, {2, 2});
  net.convolution("conv2", {.count = 16, .size = {5, 5}, .bias = true});
  net.relu("relu2");
  net.max_pool("pool2", {2, 2}, {2, 2});
  net.linear("linear1", 120);
  net.relu("relu3");
  net.linear("linear2", 84);
  net.relu("relu4");
  net.linear("classes", 10);
  net.softmax("softmax");
}

}  // namespace

extern constexpr ImageNetworkEntry kLeNet5 = {
    .name = "lenet-5", .input = {1, {32, 32}}, .write = write_lenet_5};

}}  // namespace c3::workloads
