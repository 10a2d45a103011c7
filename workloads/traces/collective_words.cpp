#include <algorithm>
#include <array>
#include <cctype>

#include "workloads/traces/collective_issues.hpp"

namespace c3 { inline namespace traces {
namespace {

/// Small letters without anything but letters: "_allgather_base" and "ncclDevKernel_AllGather" both have
/// "allgather".
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char letter : text) {
    if (std::isalpha(static_cast<unsigned char>(letter)) != 0)
      letters.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
  }
  return letters;
}

struct Word {
  std::string_view letters;
  std::string_view kind;
};

/// The first that is found decides.
constexpr std::array kKinds{
    Word{"allreduce", "all_reduce"},
    Word{"reducescatter", "reduce_scatter"},
    Word{"allgather", "all_gather"},
    Word{"alltoall", "all_to_all"},
    Word{"broadcast", "broadcast"},
    Word{"gather", "gather"},
    Word{"scatter", "scatter"},
    Word{"reduce", "reduce"},
    Word{"barrier", "barrier"},
    Word{"sendrecv", "send_recv"},
    Word{"send", "send"},
    Word{"recv", "recv"},
    Word{"wait", "wait"},
};

struct Type {
  std::string_view letters;
  std::int64_t bytes;
};

constexpr std::array kTypes{
    Type{"double", 8},       Type{"long", 8},           Type{"longint", 8}, Type{"float", 4},
    Type{"int", 4},          Type{"half", 2},           Type{"bfloat", 2},  Type{"short", 2},
    Type{"byte", 1},         Type{"char", 1},           Type{"bool", 1},    Type{"unsignedchar", 1},
    Type{"signedchar", 1},   Type{"floate", 1},  // Float8_e4m3fn
    Type{"complexfloat", 8}, Type{"complexdouble", 16},
};

}  // namespace

std::string collective_kind(std::string_view text) {
  const std::string letters = letters_of(text);
  const auto* const found = std::ranges::find_if(
      kKinds, [&](const Word& word) { return letters.find(word.letters) != std::string::npos; });
  return found == kKinds.end() ? "" : std::string(found->kind);
}

std::optional<std::int64_t> element_bytes(std::string_view dtype) {
  std::string letters = letters_of(dtype.substr(dtype.starts_with("c10::") ? 5 : 0));
  if (letters.starts_with("floate")) letters = "floate";
  const auto* const found = std::ranges::find(kTypes, letters, &Type::letters);
  if (found == kTypes.end()) return std::nullopt;
  return found->bytes;
}

std::string split_text(const std::string& in, const std::string& out) {
  return in.size() > 2 || out.size() > 2 ? in + " > " + out : "";
}

std::optional<std::int64_t> collective_bytes(std::optional<std::int64_t> in_elements,
                                             std::optional<std::int64_t> out_elements, std::string_view dtype) {
  const std::optional<std::int64_t> size = element_bytes(dtype);
  std::int64_t bytes = 0;
  if (!size || (!in_elements && !out_elements)) return std::nullopt;
  if (__builtin_mul_overflow(*size, std::max(in_elements.value_or(0), out_elements.value_or(0)), &bytes))
    return std::nullopt;
  return bytes;
}

}}  // namespace c3::traces
