#include "executor/contents.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "executor/probe.hpp"
#include "executor/programs.hpp"
#include "executor/record_cache.hpp"
#include "image/archive_reader.hpp"
#include "image/file_reference.hpp"

#include <algorithm>
#include <iterator>

namespace autopack::executor {

namespace {

/// Returns those of `names` that are users (`user:4321`) with an entry in /etc/passwd.
std::vector<std::string> find_users(engine::ImageFiles& files,
                                    const std::vector<std::string>& names) {
  constexpr std::string_view mark{"user:"};
  constexpr std::size_t most_bytes{1'000'000};
  const std::string file{"/etc/passwd"};
  std::vector<std::string> there;
  std::ranges::copy_if(names, std::back_inserter(there),
                       [&](const auto& name) { return name.starts_with(mark); });
  if (there.empty() || !files.probe({file}).contains(file)) {
    return {};
  }
  const auto text = image::read_member(files.archive(file), file, "passwd", most_bytes);
  if (!text) {
    return there;  // Nothing is known of them.
  }
  const auto lines = split(*text, '\n');
  std::erase_if(there, [&](const std::string& name) {
    return std::ranges::none_of(lines, [&](const std::string& line) {
      const auto fields = split(line, ':');
      return fields.size() > 2 && fields[2] == name.substr(mark.size());
    });
  });
  return there;
}

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
    there = find_contents(found->environment, unknown, [&](const std::vector<std::string>& paths) {
      return files.probe(paths);
    });
    const auto users = find_users(files, unknown);
    there.insert(there.end(), users.begin(), users.end());
  });
  std::map<std::string, bool> modules;
  for (const auto& module : unknown) {
    modules[module] = contains(there, module);
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
  const auto cache = own_records(services).contents;
  auto known = cache.of(*id);
  std::vector<std::string> unknown;
  std::ranges::copy_if(names, std::back_inserter(unknown),
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
