#pragma once
/// [image_network]: a training step or an inference pass of a network of images.

#include <string>

#include "configs/toml/section.hpp"
#include "workloads/training/image_step.hpp"

namespace c3 { inline namespace configs {

/// \pre \p root has the table
ImageJob read_image_network(Section& root, const Sampling& sampling);

/// "image_network: resnet-50 has 25,557,032 parameters and takes 4.09 G multiplications an image; a GPU
/// holds 5.6 of 64 GB": what a user should know before anything is simulated.
std::string note_on(const ImageJob& job, int ranks, Bytes memory);

}}  // namespace c3::configs
