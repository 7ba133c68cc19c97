#include "plan/modules.hpp"

#include "plan/advice.hpp"
#include "project/findings.hpp"

#include <algorithm>
#include <utility>

namespace autopack::plan {

const ContextEntry* Modules::in_image(const std::string& path) const {
  return entry_behind_links(plan_, path);
}

const std::optional<Module>& Modules::find(const std::string& root, const std::string& name) {
  auto path = project::join_path(root, name);
  if (const auto known = found_.find(path); known != found_.end()) {
    return known->second;
  }
  auto module = look_for(path);
  return found_.emplace(std::move(path), std::move(module)).first->second;
}

std::optional<Module> Modules::look_for(const std::string& path) const {
  for (const auto* end : {"/__init__.py", ".py"}) {
    if (const auto* file = in_image(path + end)) {
      return Module{.path = path, .file = file};
    }
  }
  if (const auto* directory = in_image(path); directory != nullptr &&
                                              directory->type == source::EntryType::directory &&
                                              holds_python(plan_, directory->path)) {
    return Module{.path = path};
  }
  // Compiled, or to be compiled: `fast.cpython-311-x86_64-linux-gnu.so`, `fast.pyx`.
  const auto next =
      std::lower_bound(plan_.code.begin(), plan_.code.end(), path + ".", comes_before);
  const bool is_compiled = next != plan_.code.end() && next->path.starts_with(path + ".") &&
                           next->type == source::EntryType::file;
  return is_compiled ? std::optional{Module{.path = path, .is_compiled = true}} : std::nullopt;
}

std::optional<Module> Modules::find_anywhere(const std::string& name) {
  if (!anywhere_) {
    anywhere_.emplace();
    for (const auto& entry : plan_.code) {
      std::string_view path{entry.path};
      if (entry.type == source::EntryType::directory || !path.ends_with(".py")) {
        continue;
      }
      path.remove_suffix(path.ends_with("/__init__.py") ? 12 : 3);
      anywhere_->emplace(project::base_name(path), project::parent_path(path));
    }
  }
  const auto found = anywhere_->find(name);
  return found == anywhere_->end() ? std::nullopt : find(found->second, name);
}

std::optional<source::Entry> Modules::on_disk(const std::string& root,
                                              const std::string& name) const {
  const auto& tree = plan_.working_directory();
  const std::string path = project::join_path(root, name);
  if (auto file = tree.find(path + ".py"); file && file->type == source::EntryType::file) {
    return file;
  }
  auto directory = tree.find(path);
  if (!directory || directory->type != source::EntryType::directory) {
    return std::nullopt;
  }
  const auto children = tree.list(path);
  const bool has_code = std::any_of(children.begin(), children.end(),
                                    [](const auto& child) { return child.path.ends_with(".py"); });
  return has_code ? directory : std::nullopt;
}

}  // namespace autopack::plan
