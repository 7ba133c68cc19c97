#pragma once

#include <cstddef>
#include <functional>

namespace autopack {

/// Runs `task(i)` for each i below `count`, at most `threads` at a time, including this thread.
/// Throws what the first failed task threw; starts no task after it. Uses fewer threads if no more
/// can be started.
void in_parallel(std::size_t count,
                 std::size_t threads,
                 const std::function<void(std::size_t)>& task);

}  // namespace autopack
