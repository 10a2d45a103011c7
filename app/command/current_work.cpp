#include "app/command/current_work.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

namespace c3 { inline namespace app {
namespace {

std::string& current_work() {
  static std::string work;
  return work;
}

/// "the 2.0 GB that this process may use (ulimit -v)"
std::string limit_text() {
  constexpr double kGigabyte = 1e9;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    return fmt::format("the {:.1f} GB that this process may use (ulimit -v)",
                       static_cast<double>(limit.rlim_cur) / kGigabyte);
  }
  const double machine =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return fmt::format("this machine's {:.1f} GB", machine / kGigabyte);
}

}  // namespace

void set_current_work(std::string work) { current_work() = std::move(work); }

std::string out_of_memory_text() {
  const std::string& work = current_work();
  return fmt::format("out of memory: {} needs more than {}", work.empty() ? "this command" : work,
                     limit_text());
}

}}  // namespace c3::app
