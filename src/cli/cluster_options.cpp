#include "cli/cluster_options.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::cli {

std::vector<std::unique_ptr<ClusterOptions>> cluster_options() {
  std::vector<std::unique_ptr<ClusterOptions>> all;
  all.push_back(make_kubernetes_options());
  all.push_back(make_slurm_options());
  return all;
}

ClusterOptions* find_cluster(const std::vector<std::unique_ptr<ClusterOptions>>& all,
                             std::string_view word) {
  const auto found =
      std::ranges::find_if(all, [&](const auto& one) { return one->submitter() == word; });
  return found == all.end() ? nullptr : found->get();
}

std::string submitter_words(const std::vector<std::unique_ptr<ClusterOptions>>& all) {
  std::string words{"vertex|local"};
  for (const auto& one : all) {
    words += fmt::format("|{}", one->submitter());
  }
  return words;
}

void refuse_other_clusters(const std::vector<std::unique_ptr<ClusterOptions>>& all,
                           std::string_view submitter,
                           const FlagSet& typed) {
  for (const auto& one : all) {
    if (one->submitter() == submitter) {
      continue;
    }
    for (const auto flag : one->own_flags()) {
      if (typed.is_typed(std::string{flag})) {
        throw Error(ErrorKind::usage,
                    fmt::format("`{}` is for `--submitter={}`", flag, one->submitter()));
      }
    }
  }
}

}  // namespace autopack::cli
