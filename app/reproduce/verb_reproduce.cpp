/// c3sim reproduce: a published study, each figure beside ours. The studies are a program of their own, so that
/// who builds c3sim need not compile them.

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "app/command/verb.hpp"
#include "app/reproduce/reproduce_request.hpp"
#include "files/io_error.hpp"

namespace c3 { inline namespace app {
namespace {

/// Becomes c3sim-reproduce, which lies beside the running binary. \throws IoError when it cannot be started
int start_studies(char** argv) {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  std::string program = (self.parent_path() / "c3sim-reproduce").string();
  argv[0] = program.data();
  ::execv(program.c_str(), argv);
  const std::string reason = errno == ENOENT ? "it is not there: its CMake target is c3sim_reproduce"
                                             : std::generic_category().message(errno);
  throw IoError(program, "start the studies", reason);
}

}  // namespace

void add_reproduce_verb(Command& app, VerbAction& action, char** argv) {
  add_reproduce_command(app, action, [argv](const ReproduceRequest&) { return start_studies(argv); });
}

}}  // namespace c3::app
