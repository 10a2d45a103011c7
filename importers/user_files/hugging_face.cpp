#include "configs/foreign/hugging_face.hpp"

#include "importers/user_files/entries.hpp"

namespace c3 { inline namespace importers {

constexpr FileFormat kHuggingFace{.name = "hugging-face",
                                  .what = kHuggingFaceFile,
                                  .role = FileRole::model,
                                  .recognises = is_hugging_face,
                                  .read = read_hugging_face,
                                  .command = "c3sim new --model FILE --system NAME"};

}}  // namespace c3::importers
