#include "plan/modules.hpp"

#include "plan/advice.hpp"
#include "project/findings.hpp"
#include "python/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace autopack::plan {

namespace {

/// True for the `ending` of an extension module that Python `version` on `platform` does not load:
/// `.cpython-39-x86_64-linux-gnu.so`, `.pyd`. A version that is not known loads any.
bool is_foreign(std::string_view ending,
                const std::optional<std::string>& version,
                std::string_view platform) {
  if (ending.ends_with(".pyd")) {
    return true;
  }
  constexpr std::string_view suffix{".so"};
  if (!ending.ends_with(suffix)) {
    return false;
  }
  ending.remove_suffix(suffix.size());
  if (ending.find("darwin") != std::string_view::npos ||
      (platform == "linux/amd64" && ending.find("aarch64") != std::string_view::npos) ||
      (platform == "linux/arm64" && ending.find("x86_64") != std::string_view::npos)) {
    return true;
  }
  constexpr std::string_view implementation{".cpython-"};
  const auto python = python::Version::parse(version.value_or(""));
  if (!python || python->release.size() < 2 || !ending.starts_with(implementation)) {
    return false;
  }
  ending.remove_prefix(implementation.size());
  const auto tag = ending.substr(0, ending.find_first_not_of("0123456789"));
  return tag != fmt::format("{}{}", python->release[0], python->release[1]);
}

}  // namespace

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
  return extension(path, false) != nullptr
             ? std::optional{Module{.path = path, .is_compiled = true}}
             : std::nullopt;
}

const ContextEntry* Modules::extension(const std::string& path, bool foreign) const {
  const auto beginning = path + ".";
  auto next = std::lower_bound(plan_.code.begin(), plan_.code.end(), beginning, comes_before);
  for (; next != plan_.code.end() && next->path.starts_with(beginning); ++next) {
    const auto ending = std::string_view{next->path}.substr(path.size());
    if (next->type == source::EntryType::file &&
        is_foreign(ending, plan_.base.python_version, plan_.base.platform) == foreign) {
      return &*next;
    }
  }
  return nullptr;
}

const ContextEntry* Modules::foreign_extension(const std::string& root,
                                               const std::string& name) const {
  return extension(project::join_path(root, name), true);
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
  const bool has_code =
      std::ranges::any_of(children, [](const auto& child) { return child.path.ends_with(".py"); });
  return has_code ? directory : std::nullopt;
}

}  // namespace autopack::plan
