#include "base/text.hpp"
#include "plan/advice.hpp"
#include "plan/import_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::plan {

namespace {

constexpr std::array<std::string_view, 4> signs{"torch.cuda", ".cuda()", "\"cuda", "'cuda"};

/// Returns the number of the first line of code that names CUDA.
std::optional<int> line_with_cuda(std::string_view text) {
  int number = 0;
  for (const auto& line : split(text, '\n')) {
    ++number;
    const auto code = std::string_view{line}.substr(0, line.find('#'));
    if (std::ranges::any_of(signs, [&](std::string_view sign) {
          return code.find(sign) != std::string_view::npos;
        })) {
      return number;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_gpu_use(const ReadablePlan& plan, const project::Project& project) {
  for (const auto* entry : walk_imports(plan, project).files) {
    if (const auto line = line_with_cuda(plan.read(*entry))) {
      return fmt::format("{}:{}", entry->path, *line);
    }
  }
  return std::nullopt;
}

}  // namespace autopack::plan
