#include "base/text.hpp"
#include "plan/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::plan {

namespace {

/// Matches `num_workers=4`, with or without spaces.
bool sets_workers(std::string_view line) {
  static constexpr std::string_view name = "num_workers";
  const auto at = line.find(name);
  if (at == std::string_view::npos || line.starts_with('#')) {
    return false;
  }
  auto rest = trim(line.substr(at + name.size()));
  if (!rest.starts_with('=')) {
    return false;
  }
  rest = trim(rest.substr(1));
  return !rest.empty() && rest[0] >= '1' && rest[0] <= '9';
}

}  // namespace

bool sets_data_workers(std::string_view text) {
  const auto lines = split(text, '\n');
  return std::ranges::any_of(lines, [](std::string_view line) { return sets_workers(trim(line)); });
}

std::optional<Problem> data_worker_advice(const ReadablePlan& plan,
                                          const std::vector<ReachedFile>& reached) {
  const auto found = std::ranges::find_if(reached, [&](const ReachedFile& file) {
    return file.imports_torch && sets_data_workers(plan.read(*file.entry));
  });
  if (found == reached.end()) {
    return std::nullopt;
  }
  return Problem::warning(
      {.message = fmt::format("`{}` loads data in worker processes", printable(found->path)),
       .hints = {"torch.multiprocessing.set_sharing_strategy('file_system'), or num_workers=0"},
       .reason = "they share memory, and a container has little: `Bus error` means that it ran "
                 "out"});
}

}  // namespace autopack::plan
