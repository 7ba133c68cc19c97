#include "project/package/looking_tree.hpp"

#include "base/tree_path.hpp"
#include "project/tables/python_names.hpp"

#include <string_view>
#include <utility>

namespace autopack::project {

bool LookingTree::is_file(const std::string& path) {
  looked_.asked.insert(path);
  return findings_.is_file(path) && !findings_.is_ignored(path);
}

bool LookingTree::is_directory(const std::string& path) {
  looked_.asked.insert(path);
  return findings_.is_directory(path) && !findings_.is_ignored(path);
}

std::optional<std::string> LookingTree::read(const std::string& path, std::size_t limit) {
  const auto place = findings_.follow(path);
  if (!place.is_file() || !place.links.empty() || place.entry.size > limit ||
      findings_.is_ignored(path)) {
    return std::nullopt;
  }
  looked_.read.insert(path);
  return findings_.tree().read(path);
}

std::vector<std::string> LookingTree::list(const std::string& directory,
                                           source::EntryType type) const {
  std::vector<std::string> found;
  for (const auto& entry : findings_.tree().list(directory)) {
    if (entry.type == type && !findings_.is_ignored(entry.path)) {
      found.push_back(base_name(entry.path));
    }
  }
  return found;
}

std::vector<std::string> LookingTree::packages_in(const std::string& directory) {
  looked_.listed.insert(directory);
  auto found = list(directory, source::EntryType::directory);
  std::erase_if(found, [](const auto& name) { return !is_identifier(name); });
  return found;
}

std::vector<std::string> LookingTree::modules_in(const std::string& directory) {
  looked_.listed.insert(directory);
  constexpr std::string_view suffix{".py"};
  std::vector<std::string> found;
  for (auto& name : list(directory, source::EntryType::file)) {
    if (name.ends_with(suffix) &&
        is_identifier(std::string_view{name}.substr(0, name.size() - suffix.size()))) {
      name.resize(name.size() - suffix.size());
      found.push_back(std::move(name));
    }
  }
  return found;
}

std::vector<std::string> LookingTree::files_at_root() const {
  return list("", source::EntryType::file);
}

}  // namespace autopack::project
