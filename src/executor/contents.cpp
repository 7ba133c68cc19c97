#include "executor/contents.hpp"

#include "executor/probe.hpp"
#include "image/file_reference.hpp"
#include "image/programs.hpp"
#include "state/base_modules.hpp"

#include <algorithm>
#include <iterator>

namespace autopack::executor {

namespace {

/// Looks for `unknown` names in the image; returns nothing if no engine has it.
std::map<std::string, bool> look_for(Services& services,
                                     const image::BaseFacts& base,
                                     const std::vector<std::string>& unknown) {
  auto& docker = services.docker();
  const auto found = image_in_engine(docker, base);
  if (!found) {
    return {};
  }
  std::vector<std::string> there;
  docker.with_files(found->id, base.platform, [&](engine::ImageFiles& files) {
    there = image::find_contents(
        found->environment, unknown,
        [&](const std::vector<std::string>& paths) { return files.probe(paths); });
  });
  std::map<std::string, bool> modules;
  for (const auto& module : unknown) {
    modules[module] = std::find(there.begin(), there.end(), module) != there.end();
  }
  return modules;
}

}  // namespace

std::map<std::string, bool> known_contents(Services& services,
                                           const image::BaseFacts& base,
                                           const std::vector<std::string>& names,
                                           LookInto look) {
  // This is the configuration's digest: a manifest's may refer to several platforms.
  const auto id = Digest::parse(base.image_id.value_or(""));
  if (!id || image::names_files(base.reference)) {
    return {};
  }
  const state::BaseModules cache{services.environment.cache_directory() / "bases" / "modules"};
  auto known = cache.of(*id);
  std::vector<std::string> unknown;
  std::copy_if(names.begin(), names.end(), std::back_inserter(unknown),
               [&](const auto& name) { return !known.contains(name); });
  if (!unknown.empty() && look == LookInto::engine) {
    try {
      auto found = look_for(services, base, unknown);
      if (!found.empty()) {
        known.merge(found);
        cache.store(*id, known);
      }
    } catch (const Error& error) {
      services.reporter->detail(error.what());
    }
  }
  std::map<std::string, bool> wanted;
  for (const auto& name : names) {
    if (const auto found = known.find(name); found != known.end()) {
      wanted.insert(*found);
    }
  }
  return wanted;
}

}  // namespace autopack::executor
