#include "configs/jobs/image_network_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "configs/presets/spec_readers.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::int64_t kMostImages = 65'536;

/// What frameworks train networks of images in.
const auto kProductTypes =
    std::to_array<std::pair<std::string_view, DType>>({{name_of(DType::bf16), DType::bf16},
                                                       {name_of(DType::fp16), DType::fp16},
                                                       {name_of(DType::fp32), DType::fp32}});

const auto kImageKeys = std::to_array<KeyText>({
    {"use", "network"},
    {"batch", "images of each GPU"},
    {"dtype", "of the products"},
    {"pass", "training step, or forward alone", name_of(ImageBatch{}.pass)},
    {"layout", "of images", name_of(ImageBatch{}.layout)},
    {"bucket", "gradients summed together; default: 25 MiB"},
});

std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto place = static_cast<std::ptrdiff_t>(text.size()) - 3; place > 0; place -= 3)
    text.insert(static_cast<std::size_t>(place), ",");
  return text;
}

}  // namespace

ImageJob read_image_network(Section& root, const Sampling& sampling) {
  Section section = root.table("image_network");
  root.explain("image_network", "a network of images, in place of [[stream]]");
  ImageJob job;
  std::vector<std::pair<std::string_view, ImageNetwork>> networks;
  for (const ImageNetwork network : kImageNetworks)
    networks.emplace_back(name_of(network), network);
  job.network = section.choice<ImageNetwork>("use", networks);
  job.batch.images = section.integer("batch", 1, kMostImages);
  job.batch.dtype = section.choice<DType>("dtype", kProductTypes);
  if (section.has("pass")) job.batch.pass = section.choice<ImagePass>("pass");
  if (section.has("layout")) job.batch.layout = section.choice<ImageLayout>("layout");
  if (section.has("bucket")) job.bucket = section.bytes("bucket");
  job.overheads = read_overheads(root, section, sampling);
  section.explain(kImageKeys);
  section.finish();
  return job;
}

std::string note_on(const ImageJob& job, int ranks, Bytes memory) {
  const std::vector<ImageLayer> layers = layers_of(job.network, job.batch);
  const Bytes held = memory_of(job, ranks).peak.held;
  return fmt::format(
      "image_network: {} has {} parameters and takes {:.3g} G multiplications an image; a GPU holds {:.3g} of "
      "{:.3g} "
      "GB{}",
      name_of(job.network), with_commas(parameters_of(layers)), multiplications_of(layers) / 1e9,
      held.value / 1e9, memory.value / 1e9, held > memory ? ": more than it has; take a smaller batch" : "");
}

}}  // namespace c3::configs
