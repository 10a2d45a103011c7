#include "collectives/spec.hpp"

#include <stdexcept>

namespace c3 {

std::string_view name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::direct:
      return "direct";
    case Algorithm::ring:
      return "ring";
    case Algorithm::tree:
      return "tree";
    case Algorithm::nvls:
      return "nvls";
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

}  // namespace c3
