#pragma once
/// One training step, or one inference pass, of a network of images on every rank of a cluster.

#include "workloads/models/images/image_network.hpp"
#include "workloads/program/program.hpp"

namespace c3::inline workloads {

struct ImageJob {
  ImageNetwork network = ImageNetwork::resnet_50;
  ImageBatch batch = {};               ///< of a rank
  Bytes bucket = Bytes{25.0 * kMebi};  ///< of gradients; PyTorch's DDP: 25 MiB
};

/// Stream `compute` runs the layers; in training then their gradients in reverse, and SGD with momentum.
/// Several ranks are replicas: as soon as a bucket of gradients is full (the first of 1 MiB, as DDP has it),
/// stream `gradients` sums it over all of them beside the rest of the backward pass, and the optimizer waits
/// for all. In 16 bits parameters are fp32 and cast once a step (autocast); gradients are cast to fp32 as they
/// go into a bucket, which is summed in fp32. Inference sums nothing. Hosts are never late. Wrong when: small
/// batches wait for their launches; a compiler fuses layers.
Program image_program(const ImageJob& job, int ranks);

/// What a rank holds where most layers have left what the backward pass needs: after the forward pass. In
/// inference parameters and the largest input and output of a layer. Wrong when: an allocator keeps what was
/// freed; a library's workspace is large.
struct ImageMemory {
  Bytes weights;    ///< as kept, and as cast
  Bytes gradients;  ///< fp32
  Bytes optimizer;  ///< momentum
  Bytes activations;
  Bytes buckets;  ///< of gradients on their way

  Bytes all() const { return weights + gradients + optimizer + activations + buckets; }
};
ImageMemory memory_of(const ImageJob& job, int ranks);

}  // namespace c3::workloads
