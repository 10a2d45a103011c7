#pragma once
/// What the command is doing, for the message when memory runs out.

#include <string>

namespace c3 { inline namespace app {

/// \p work names the work and its size, as in "simulating 'dma' of big.toml on 1024 GPUs".
void set_current_work(std::string work);

/// What to tell the user after std::bad_alloc: the work, and how much memory the process may have.
std::string out_of_memory_text();

}}  // namespace c3::app
