#pragma once
/// One training step, or one inference pass, of a network of images on every rank of a cluster.

#include <optional>

#include "workloads/models/images/image_network.hpp"
#include "workloads/program/operator_overheads.hpp"
#include "workloads/program/program.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace workloads {

struct ImageJob {
  ImageNetwork network = ImageNetwork::resnet_50;
  ImageBatch batch = {};                                      ///< of a rank
  Bytes bucket = Bytes{25.0 * kMebi};                         ///< of gradients; PyTorch's DDP: 25 MiB
  std::optional<OperatorOverheads> overheads = std::nullopt;  ///< none: hosts are never late
};

/// Stream `compute` runs the layers; in training then their gradients in reverse, and SGD with momentum.
/// Several ranks are replicas: as soon as a bucket of gradients is full (the first of 1 MiB, as DDP has it),
/// stream `gradients` sums it over all of them beside the rest of the backward pass, and the optimizer waits
/// for all. In 16 bits parameters are fp32 and cast once a step (autocast); gradients are cast to fp32 as they
/// go into a bucket, which is summed in fp32. Inference sums nothing. Each kernel is an operator of the
/// host, of the kind `other` but for the optimizer and sums, which are assumed to take what an all-to-all does.
/// Wrong when: a compiler fuses layers.
Program image_program(const ImageJob& job, int ranks);

/// What a rank holds, tensor by tensor: parameters and momentum throughout, with several ranks buckets as
/// large as all gradients; what layers keep from forward to backward; in a backward pass the gradient of a
/// layer's output and of its input; in inference the input and output of a layer. Wrong when: branches of a
/// layer are backpropagated at once; a library's workspace is large.
StageMemory memory_of(const ImageJob& job, int ranks);

}}  // namespace c3::workloads
