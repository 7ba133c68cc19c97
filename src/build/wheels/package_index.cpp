#include "build/wheels/package_index.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace autopack::build {

namespace {

index::IndexSettings settings_of(Services& services,
                                 const packaging::Packaging& work,
                                 const std::optional<std::string>& default_index) {
  auto settings = index::find_index_settings(services.environment, default_index);
  for (const auto& option : work.scanned().project.listed_options) {
    const auto file = work.request().project.directory / option.origin;  // `FILE:LINE`
    index::add_line_options(settings, {{option.name, option.value}}, file.parent_path(),
                            services.environment);
  }
  return settings;
}

}  // namespace

std::optional<Secret> google_token(Services& services) {
  try {
    return services.google().token().token;
  } catch (const Error&) {
    return std::nullopt;
  }
}

PackageIndex::PackageIndex(Services& services,
                           const packaging::Packaging& work,
                           const std::optional<std::string>& default_index)
    : reporter_{*services.reporter},
      access_{{.client = &services.client(),
               .settings = settings_of(services, work, default_index),
               .google = [&services] { return google_token(services); },
               .cancellation = services.cancellation,
               .reporter = services.reporter}},
      client_{access_, services.environment.cache_directory() / "indexes"},
      wheels_{access_, {.directory = services.environment.cache_directory() / "wheels"}} {}

bool PackageIndex::is_nowhere() const {
  const auto& settings = access_.settings();
  return settings.find_links.empty() && (settings.no_index || settings.indexes.empty());
}

void PackageIndex::fetch(const std::vector<index::Download>& wanted, std::size_t all) {
  std::vector<std::optional<index::CachedFile>> known(wanted.size());
  in_parallel(wanted.size(), std::max(1U, std::thread::hardware_concurrency()),
              [&](std::size_t i) { known[i] = wheels_.find(wanted[i]); });
  std::vector<index::Download> files;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!known[i]) {
      files.push_back(wanted[i]);
    }
  }
  if (files.empty()) {
    return;
  }
  StepEvent step{.id = "wheels", .name = fmt::format("download {} wheels", files.size())};
  reporter_.step(step);
  step.state = StepEvent::State::progress;
  wheels_.get_all(files, [&](std::uint64_t done, std::uint64_t total) {
    step.current = done;
    step.total = total;
    reporter_.step(step);
  });
  step.state = StepEvent::State::completed;
  reporter_.step(step);
  reporter_.done("Fetched",
                 fmt::format("{} of {} wheels, {}", files.size(), all, human_size(step.total)));
}

std::string PackageIndex::identity() const {
  const auto& settings = access_.settings();
  std::string text = settings.no_index ? "none" : "";
  for (const auto* places : {&settings.indexes, &settings.find_links}) {
    for (const auto& place : *places) {
      text += place.url + "\n";
    }
    text += "\n";
  }
  return text;
}

}  // namespace autopack::build
