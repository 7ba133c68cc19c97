#include "executor/base_distributions.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace autopack::executor {

namespace {

/// PEP 440: `==1.0` matches `1.0+cu118`; `==1.0+cu118` matches only itself.
bool satisfies(const InstalledDistribution& distribution, const python::Version& wanted) {
  const auto version = python::Version::parse(distribution.version.value_or(""));
  return version && (wanted.local.empty() ? version->without_local() : *version) == wanted;
}

bool is_installed_to(const python::Scheme& scheme, const std::string& directory) {
  return directory == scheme.purelib || directory == scheme.platlib;
}

/// Returns true if Python searches `directory` before the directories of `scheme`.
bool comes_before(const PythonFacts& facts,
                  const python::Scheme& scheme,
                  const std::string& directory) {
  for (const auto& each : facts.search_path) {
    if (each == directory) {
      return !is_installed_to(scheme, each);
    }
    if (is_installed_to(scheme, each)) {
      return false;
    }
  }
  return false;
}

std::string named(const InstalledDistribution& distribution) {
  return fmt::format("`{} {}`", printable(distribution.name),
                     printable(distribution.version.value_or("")));
}

/// Decides about one name.
class Decision {
public:
  Decision(const image::BaseFacts& base,
           const PythonFacts& facts,
           const WantedDistribution& wanted,
           GpuLibraries libraries)
      : base_{base}, facts_{facts}, wanted_{wanted}, libraries_{libraries} {}

  BaseDecision make() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < facts_.installed.size(); ++i) {
      if (facts_.installed[i].name == wanted_.name) {
        all.push_back(i);
      }
    }
    if (all.empty()) {
      return decided(BaseDecision::Action::install, {});
    }
    const auto& first = facts_.installed[all.front()];
    if (!wanted_.anew && satisfies(first, wanted_.version)) {
      return decided(BaseDecision::Action::keep, {all.front()});
    }
    if (base_.cuda_version && libraries_ == GpuLibraries::kept && belongs_to_gpu(wanted_.name)) {
      return decided(BaseDecision::Action::keep_for_gpu, {all.front()},
                     fmt::format("the image's {} belongs to its CUDA {}", named(first),
                                 printable(*base_.cuda_version)));
    }
    return make_room(all);
  }

private:
  /// Makes room for a version other than the one that is imported now.
  BaseDecision make_room(const std::vector<std::size_t>& all) const {
    const auto& scheme = facts_.interpreter->scheme;
    std::vector<std::size_t> gone;
    for (const std::size_t place : all) {
      const auto& there = facts_.installed[place];
      if (comes_before(facts_, scheme, there.directory)) {
        return decided(BaseDecision::Action::refuse, {place},
                       fmt::format("the image's {} in `{}` would be imported instead", named(there),
                                   printable(there.directory)));
      }
      if (!is_installed_to(scheme, there.directory)) {
        continue;
      }
      if (there.kept_by) {
        return decided(BaseDecision::Action::refuse, {place},
                       fmt::format("the image's {} cannot be replaced: {}", named(there),
                                   printable(*there.kept_by)));
      }
      gone.push_back(place);
    }
    if (!gone.empty()) {
      return decided(BaseDecision::Action::replace, std::move(gone));
    }
    const auto& there = facts_.installed[all.front()];
    return decided(BaseDecision::Action::install, {all.front()},
                   fmt::format("the image's {} stays in `{}`, and is passed over", named(there),
                               printable(there.directory)));
  }

  BaseDecision decided(BaseDecision::Action action,
                       std::vector<std::size_t> installed,
                       std::optional<std::string> reason = {}) const {
    return {.name = wanted_.name,
            .action = action,
            .installed = std::move(installed),
            .reason = std::move(reason)};
  }

  const image::BaseFacts& base_;
  const PythonFacts& facts_;
  const WantedDistribution& wanted_;
  GpuLibraries libraries_;
};

}  // namespace

bool belongs_to_gpu(std::string_view name) {
  static constexpr std::array names{"torch",
                                    "torchvision",
                                    "torchaudio",
                                    "torchtext",
                                    "triton",
                                    "pytorch-triton",
                                    "tensorflow",
                                    "keras",
                                    "tensorboard",
                                    "jax",
                                    "jaxlib",
                                    "tensorflow-gpu",
                                    "tensorflow-io-gcs-filesystem",
                                    "tensorflow-estimator",
                                    "xformers",
                                    "flash-attn",
                                    "apex",
                                    "transformer-engine"};
  static constexpr std::array beginnings{"nvidia-", "jax-cuda", "cupy-cuda"};
  return contains(names, name) || std::ranges::any_of(beginnings, [&](const char* beginning) {
           return name.starts_with(beginning);
         });
}

std::vector<BaseDecision> decide_on_base(const image::BaseFacts& base,
                                         const PythonFacts& facts,
                                         const std::vector<WantedDistribution>& wanted,
                                         GpuLibraries libraries) {
  std::vector<BaseDecision> decisions;
  decisions.reserve(wanted.size());
  for (const auto& each : wanted) {
    decisions.push_back(Decision{base, facts, each, libraries}.make());
  }
  return decisions;
}

}  // namespace autopack::executor
