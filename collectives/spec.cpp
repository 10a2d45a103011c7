#include "collectives/spec.hpp"

#include <stdexcept>

namespace c3 {

std::string_view name_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather:
      return "all_gather";
    case CollectiveKind::all_to_all:
      return "all_to_all";
  }
  throw std::logic_error("name_of: unknown collective");
}

std::string_view name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::direct:
      return "direct";
    case Algorithm::ring:
      return "ring";
  }
  throw std::logic_error("name_of: unknown algorithm");
}

std::string_view name_of(Backend backend) {
  switch (backend) {
    case Backend::cu:
      return "cu";
    case Backend::dma:
      return "dma";
  }
  throw std::logic_error("name_of: unknown backend");
}

Algorithm default_algorithm(Backend backend) {
  switch (backend) {
    case Backend::cu:
    case Backend::dma:
      return Algorithm::direct;
  }
  throw std::logic_error("default_algorithm: unknown backend");
}

}  // namespace c3
