#include "compare/difference.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace autopack::compare {

namespace {

constexpr std::string_view code_directory{"usr/app/"};

template <typename Value>
std::vector<Change<Value>> changes(const std::map<std::string, Value>& before,
                                   const std::map<std::string, Value>& after) {
  std::vector<Change<Value>> all;
  for (const auto& [name, value] : before) {
    const auto found = after.find(name);
    if (found == after.end()) {
      all.push_back({.name = name, .before = value});
    } else if (found->second != value) {
      all.push_back({.name = name, .before = value, .after = found->second});
    }
  }
  for (const auto& [name, value] : after) {
    if (!before.contains(name)) {
      all.push_back({.name = name, .after = value});
    }
  }
  std::ranges::sort(all, [](const auto& one, const auto& other) { return one.name < other.name; });
  return all;
}

/// Adds a change for each file that one side removed from layers that were not read, as if the
/// other side had it.
void add_removed(const Contents& gone_from, const Contents& other, auto& files, bool is_after) {
  for (const auto& path : gone_from.removed) {
    if (!other.removed.contains(path) && !gone_from.files.contains(path) &&
        !other.files.contains(path)) {
      Change<FileFacts> change{.name = path};
      (is_after ? change.before : change.after) = FileFacts{.kind = 'o'};
      files.push_back(std::move(change));
    }
  }
}

/// Returns the known packages of `side`, including those that the other side removed from unread
/// layers.
std::map<std::string, std::string> packages_of(const Contents& side, const Contents& other) {
  auto packages = side.packages;
  for (const auto& [name, version] : other.removed_packages) {
    if (!side.removed_packages.contains(name)) {
      packages.emplace(name, version);
    }
  }
  return packages;
}

std::map<std::string, FileFacts> code_of(const Contents& contents) {
  std::map<std::string, FileFacts> code;
  for (const auto& [path, facts] : contents.files) {
    if (path.starts_with(code_directory)) {
      code.emplace(path, facts);
    }
  }
  return code;
}

std::string size_change(std::uint64_t before, std::uint64_t after) {
  return before == after ? human_size(after)
                         : fmt::format("{} -> {}", human_size(before), human_size(after));
}

std::string describe(const Change<FileFacts>& change) {
  if (!change.after) {
    return fmt::format("  - {}", printable(change.name));
  }
  if (!change.before) {
    return fmt::format("  + {}  {}", printable(change.name), human_size(change.after->size));
  }
  const bool same_content = change.before->content == change.after->content;
  return fmt::format("  ~ {}  {}", printable(change.name),
                     same_content ? fmt::format("{} -> {}", change.before->kind, change.after->kind)
                                  : size_change(change.before->size, change.after->size));
}

std::string describe(const Change<std::string>& change) {
  if (!change.after) {
    return fmt::format("  - {} {}", printable(change.name), printable(*change.before));
  }
  if (!change.before) {
    return fmt::format("  + {} {}", printable(change.name), printable(*change.after));
  }
  return fmt::format("  ~ {}  {} -> {}", printable(change.name), printable(*change.before),
                     printable(*change.after));
}

template <typename Changes>
void add(std::string& text, const char* title, const Changes& changes, std::size_t most) {
  if (changes.empty()) {
    return;
  }
  text += fmt::format("{} ({})\n", title, changes.size());
  const auto shown = most == 0 ? changes.size() : std::min(most, changes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    text += describe(changes[i]) + "\n";
  }
  if (shown < changes.size()) {
    text += fmt::format("  and {} more: -v shows all\n", changes.size() - shown);
  }
}

}  // namespace

Difference difference(const Contents& before, const Contents& after) {
  Difference found;
  const bool are_images = before.is_image && after.is_image;
  found.files = before.is_image == after.is_image ? changes(before.files, after.files)
                                                  : changes(code_of(before), code_of(after));
  if (are_images) {
    add_removed(after, before, found.files, true);
    add_removed(before, after, found.files, false);
    std::ranges::sort(found.files,
                      [](const auto& one, const auto& other) { return one.name < other.name; });
    found.packages = changes(packages_of(before, after), packages_of(after, before));
    for (const auto& layer : after.layers) {
      const bool is_shared = std::ranges::any_of(
          before.layers, [&](const LayerFacts& other) { return other.digest == layer.digest; });
      found.shared_layers += is_shared ? 1 : 0;
      found.shared_size += is_shared ? layer.size : 0;
    }
  }
  if (before.is_image == after.is_image) {
    found.configuration = changes(before.configuration, after.configuration);
  }
  std::erase_if(found.files, [](const auto& change) {
    const auto is_directory = [](const auto& facts) { return !facts || facts->kind == 'd'; };
    return is_directory(change.before) && is_directory(change.after);
  });
  return found;
}

std::string to_text(const Difference& difference,
                    const Contents& before,
                    const Contents& after,
                    std::size_t most) {
  std::string text = fmt::format("--- {}\n+++ {}\n", printable(before.name), printable(after.name));
  if (before.is_image == after.is_image) {
    text += fmt::format("Size      {}\n", size_change(before.size, after.size));
  }
  if (before.is_image && after.is_image) {
    text += fmt::format("Layers    {} -> {}, {} in both ({})\n", before.layers.size(),
                        after.layers.size(), difference.shared_layers,
                        human_size(difference.shared_size));
  }
  for (const auto& requirement : difference.requirements) {
    text += fmt::format("Installs  {}\n", printable(requirement));
  }
  add(text, "Packages", difference.packages, most);
  add(text, "Configuration", difference.configuration, most);
  add(text, "Files", difference.files, most);
  return text + (difference.empty() ? "no difference\n" : "");
}

}  // namespace autopack::compare
