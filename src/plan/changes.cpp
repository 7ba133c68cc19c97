#include "plan/changes.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "plan/keys.hpp"

#include <fmt/format.h>

#include <set>

namespace autopack::plan {

namespace {

using Values = state::BuildRecord::Values;

constexpr std::size_t most_paths{1000};
constexpr std::size_t most_changes_reported{3};
constexpr std::size_t hash_digits{16};

/// Returns a hash of values in order, marked as not to be shown; empty if there are none.
std::string hash_of_all(const std::vector<std::string>& values) {
  return values.empty() ? "" : "#" + sha256(join(values, "\n")).hex().substr(0, hash_digits);
}

std::vector<std::string> texts_of(const std::vector<Copy>& copies) {
  std::vector<std::string> texts;
  texts.reserve(copies.size());
  for (const Copy& copy : copies) {
    texts.push_back(copy.source + " -> " + copy.destination);
  }
  return texts;
}

std::string hash_of(const ContextEntry& entry) {
  return entry.content ? entry.content->hex(hash_digits) : "";
}

/// Returns a letter for the kind of entry, followed by its hash.
std::string state_of(const ContextEntry& entry) {
  return entry.letter() + hash_of(entry);
}

Values values_by_path(const std::vector<ContextEntry>& entries) {
  Values values;
  for (const ContextEntry& entry : entries) {
    values[printable(entry.path)] = state_of(entry);
  }
  return values;
}

/// The same by top directory: `trainer/`.
Values by_directory(const std::vector<ContextEntry>& entries) {
  std::map<std::string, Sha256> hashes;
  Sha256* hash = nullptr;
  std::string_view directory;  // of `hash`; entries of one directory are consecutive
  std::string text;
  for (const ContextEntry& entry : entries) {
    const std::string_view path{entry.path};
    const auto top = path.substr(0, path.find('/') + 1);  // empty for a file at the top
    if (hash == nullptr || top != directory) {
      directory = top;
      hash = &hashes[top.empty() ? "files" : printable(top)];
    }
    text.assign(path).push_back('\0');
    text.push_back(entry.letter());
    if (entry.content) {
      text += entry.content->view();
    }
    hash->update(text);
  }
  Values values;
  for (auto& [name, sum] : hashes) {
    values[name] = "d" + ContentHash{sum.finish_bytes()}.hex(hash_digits);
  }
  return values;
}

std::vector<std::string> install_texts(const Dependencies& dependencies) {
  std::vector<std::string> texts{
      dependencies.install ? "yes" : "no", dependencies.isolated ? "isolated" : "",
      join(dependencies.package_extras, ","), join(dependencies.members, ","),
      join(dependencies.build_requirements, ",")};
  for (const auto& [name, value] : dependencies.build_environment) {
    texts.push_back(name);
  }
  for (auto& text : texts_of(dependencies.package_files)) {
    texts.push_back(std::move(text));
  }
  return texts;
}

/// A requirement line split for comparison: `-c numpy`, `==2.1`, hashes.
struct Line {
  std::string name{};
  std::string version{};
};

Line parse_line(const std::string& line) {
  const std::string text = line.substr(0, line.find(" --hash="));
  const std::size_t start = text.starts_with("-c ") ? 3 : 0;
  if (text.find("://") != std::string::npos || text.find('/') != std::string::npos ||
      text.starts_with("--")) {
    return {.name = text};
  }
  const auto end = text.find_first_of("=<>!~;@ ", start);
  return end == std::string::npos ? Line{.name = text}
                                  : Line{.name = text.substr(0, end), .version = text.substr(end)};
}

std::map<std::string, std::string> versions_of(const std::vector<std::string>& lines) {
  std::map<std::string, std::string> versions;
  for (const std::string& text : lines) {
    const Line line = parse_line(text);
    auto [found, is_new] = versions.emplace(line.name, line.version);
    if (!is_new) {
      found->second += " or " + line.version;
    }
  }
  return versions;
}

/// Returns `2.1 -> 2.2` for two pinned versions, else the conditions as written.
std::string step(const std::string& before, const std::string& now) {
  const auto pinned = [](const std::string& version) {
    return version.starts_with("==") && version.find_first_of(",;* ") == std::string::npos;
  };
  if (pinned(before) && pinned(now)) {
    return fmt::format("{} -> {}", before.substr(2), now.substr(2));
  }
  const auto shown = [](const std::string& version) {
    return version.empty() ? "any version" : std::string{trim(version)};
  };
  return fmt::format("{} -> {}", shown(before), shown(now));
}

/// Returns `numpy 2.1 -> 2.2, pandas added`; empty if the lines are equal.
std::string line_changes(const std::vector<std::string>& before,
                         const std::vector<std::string>& now) {
  if (before == now) {
    return {};
  }
  const auto old_versions = versions_of(before);
  const auto new_versions = versions_of(now);
  std::vector<std::string> parts;
  for (const auto& [name, version] : new_versions) {
    const auto old = old_versions.find(name);
    if (old == old_versions.end()) {
      parts.push_back(name + " added");
    } else if (old->second != version) {
      parts.push_back(name + " " + step(old->second, version));
    }
  }
  for (const auto& [name, version] : old_versions) {
    if (!new_versions.contains(name)) {
      parts.push_back(name + " removed");
    }
  }
  if (parts.empty()) {
    const bool same_lines = std::multiset<std::string>{before.begin(), before.end()} ==
                            std::multiset<std::string>{now.begin(), now.end()};
    parts.emplace_back(same_lines ? "another order" : "hashes");
  }
  return printable(summary(parts));
}

std::vector<std::string> changed_names(const Values& before, const Values& now) {
  std::vector<std::string> names;
  for (const auto& [name, value] : now) {
    const auto old = before.find(name);
    if (old == before.end() || old->second != value) {
      names.push_back(name);
    }
  }
  for (const auto& [name, value] : before) {
    if (!now.contains(name)) {
      names.push_back(name);
    }
  }
  return names;
}

std::string path_change(const std::string& name, const Values& before, const Values& now) {
  const auto old = before.find(name);
  const auto fresh = now.find(name);
  if (old == before.end()) {
    return fmt::format("{} is new", name);
  }
  if (fresh == now.end()) {
    return fmt::format("{} is gone", name);
  }
  const bool same_content = old->second.substr(1) == fresh->second.substr(1);
  const bool both_files =
      old->second.find_first_of("fx") == 0 && fresh->second.find_first_of("fx") == 0;
  return fmt::format("{} changed{}", name, same_content && both_files ? " its mode" : "");
}

void add_paths(std::vector<std::string>& all, const Values& before, const Values& now) {
  for (const auto& name : changed_names(before, now)) {
    all.push_back(path_change(name, before, now));
  }
}

/// Replaces the values of `names` in `code` by their previous ones.
void take_over(Values& code, const Values& before, const Values& names) {
  for (const auto& [name, value] : names) {
    const auto old = before.find(name);
    if (old == before.end()) {
      code.erase(name);
    } else {
      code[name] = old->second;
    }
  }
}

void add_facts(std::vector<std::string>& all, const Values& before, const Values& now) {
  for (const auto& name : changed_names(before, now)) {
    const auto value = [&](const Values& values) {
      const auto found = values.find(name);
      return found == values.end() || found->second.empty() ? "none" : found->second;
    };
    const std::string old = value(before);
    const std::string fresh = value(now);
    const bool shown = !old.starts_with('#') && !fresh.starts_with('#');
    all.push_back(shown ? fmt::format("{} changed ({} -> {})", name, old, fresh)
                        : fmt::format("{} changed", name));
  }
}

void add_requirements(std::vector<std::string>& all,
                      const state::BuildRecord& before,
                      const state::BuildRecord& now) {
  if (const auto text = line_changes(before.requirements, now.requirements); !text.empty()) {
    const auto files = changed_names(before.requirement_files, now.requirement_files);
    const bool is_new = files.size() == 1 && !before.requirement_files.contains(files[0]) &&
                        !before.code.contains(files[0]);
    const bool is_gone = files.size() == 1 && !now.requirement_files.contains(files[0]) &&
                         !now.code.contains(files[0]);
    const std::string names = files.empty() ? "requirements" : join(files, " and ");
    const auto* const how = is_new ? "is new" : is_gone ? "is gone" : "changed";
    all.push_back(fmt::format("{} {} ({})", names, how, text));
  }
  if (const auto text = line_changes(before.asked, now.asked); !text.empty()) {
    all.push_back(fmt::format("--requirements changed ({})", text));
  }
}

}  // namespace

state::BuildRecord record_of(const Plan& plan, const project::Project& project) {
  const Dependencies& dependencies = plan.dependencies;
  const auto& keys = plan.keys.value();
  state::BuildRecord record{.dependency_key = keys.dependencies, .image_key = keys.image};
  const std::string base = plan.base.reference;
  record.dependency_facts = {
      {"the executor image",
       base.empty() ? "" : fmt::format("{} {}", base, base_identity(plan.base).substr(0, 19))},
      {"the platform", plan.platform},
      {"the interpreter", plan.python.value_or("")},
      {"what apt installs", printable(join(dependencies.apt_packages, " "))},
      {"--extra-packages", printable(join(dependencies.packages, " "))},
      {"how the project is installed", hash_of_all(install_texts(dependencies))},
  };
  if (!dependencies.install_environment.empty()) {
    std::vector<std::string> variables;
    for (const auto& [name, value] : dependencies.install_environment) {
      variables.push_back(printable(name + "=" + value));
    }
    record.dependency_facts["--build-env"] = join(variables, " ");
  }
  if (dependencies.version) {
    record.dependency_facts["the project's version"] = printable(*dependencies.version);
  }
  if (const auto& lock = dependencies.lock) {
    record.dependency_facts["what the lock chooses"] = printable(
        join(std::vector{lock->file, join(lock->extras, ","), join(lock->groups, ",")}, " "));
  }
  record.image_facts = {
      {"the entry point", printable(join(plan.entrypoint, " "))},
      {"the user", plan.user},
      {"what is copied", hash_of_all(texts_of(plan.copies))},
      {"the Dockerfile", plan.user_dockerfile ? hash_of_all({plan.dockerfile}) : ""},
  };
  for (const std::string& line : project.normalised_requirements) {
    record.requirements.push_back(printable(line));
  }
  for (const std::string& requirement : dependencies.package_requirements) {
    record.requirements.push_back(printable(redact_credentials(normalised(requirement))));
  }
  for (const std::string& requirement : dependencies.requirements) {
    record.asked.push_back(printable(redact_credentials(normalised(requirement))));
  }
  for (const ContextEntry& input : dependencies.inputs) {
    if (input.type != source::EntryType::directory) {
      auto& values = input.tree == 0 && is_requirement_text(plan, project, input.path)
                         ? record.requirement_files
                         : record.installed;
      values[printable(input.path)] = state_of(input);
    }
  }
  record.code = plan.code.size() > most_paths ? by_directory(plan.code) : values_by_path(plan.code);
  return record;
}

Changes changes(const state::BuildRecord& before, const state::BuildRecord& now) {
  Changes result;
  if (before.dependency_key != now.dependency_key) {
    add_requirements(result.dependencies, before, now);
    add_facts(result.dependencies, before.dependency_facts, now.dependency_facts);
    add_paths(result.dependencies, before.installed, now.installed);
    if (result.dependencies.empty()) {
      result.dependencies.emplace_back("the way they are installed changed");
    }
  }
  if (before.image_key != now.image_key) {
    // A file that the installation reads may be in the image too; once is enough.
    Values code = now.code;
    if (!result.dependencies.empty()) {
      for (const Values* reported_already :
           {&before.requirement_files, &before.installed, &now.requirement_files, &now.installed}) {
        take_over(code, before.code, *reported_already);
      }
    }
    add_paths(result.code, before.code, code);
    add_facts(result.code, before.image_facts, now.image_facts);
  }
  return result;
}

std::string summary(const std::vector<std::string>& what) {
  const std::size_t shown =
      what.size() > most_changes_reported + 1 ? most_changes_reported : what.size();
  std::string text = join(std::span{what}.first(shown), ", ");
  return shown == what.size() ? text : text + fmt::format(" and {} more", what.size() - shown);
}

}  // namespace autopack::plan
