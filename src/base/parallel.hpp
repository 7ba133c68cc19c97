#pragma once

#include <cstddef>
#include <functional>

namespace autopack {

/// Runs `task(i)` for each i below `count`, at most `threads` at a time, this thread among them.
/// Throws what the first task that failed threw; none is begun after it. With fewer threads to be
/// had, fewer are used.
void in_parallel(std::size_t count,
                 std::size_t threads,
                 const std::function<void(std::size_t)>& task);

}  // namespace autopack
