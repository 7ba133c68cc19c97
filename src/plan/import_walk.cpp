#include "plan/import_walk.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "plan/advice.hpp"
#include "project/certain.hpp"
#include "project/findings.hpp"
#include "project/program/python_path.hpp"
#include "project/tables/known_distributions.hpp"
#include "project/tables/python_names.hpp"
#include "python/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
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
  auto path = join_path(root, name);
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
  return extension(join_path(root, name), true);
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
      anywhere_->emplace(base_name(path), parent_path(path));
    }
  }
  const auto found = anywhere_->find(name);
  return found == anywhere_->end() ? std::nullopt : find(found->second, name);
}

std::optional<source::Entry> Modules::on_disk(const std::string& root,
                                              const std::string& name) const {
  const auto& tree = plan_.working_directory();
  const std::string path = join_path(root, name);
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

namespace {

constexpr std::string_view python_path{"PYTHONPATH="};
constexpr std::size_t most_files{2000};
constexpr std::uint64_t largest_file{2'000'000};

/// Modules that add the project's root to sys.path when they are imported or called.
constexpr std::array<std::string_view, 4> root_finders{"autoroot", "autorootcwd", "pyrootutils",
                                                       "rootutils"};

bool finds_root(const project::PythonFile& file) {
  return std::ranges::any_of(
      file.imports, [](const auto& import) { return contains(root_finders, import.module); });
}

bool imports_torch(const project::PythonFile& file) {
  return std::ranges::any_of(file.imports, [](const auto& import) {
    return import.module == "torch" || import.module.starts_with("torch.");
  });
}

/// Returns the first part of a dotted name, and the rest.
std::pair<std::string, std::string_view> split_module(std::string_view module) {
  const auto dot = std::min(module.find('.'), module.size());
  return {std::string{module.substr(0, dot)}, module.substr(std::min(dot + 1, module.size()))};
}

/// Moves `at` to the module that `rest` names below it, and calls `reached` with each on the way;
/// false where one does not exist.
bool descend(Modules& modules,
             Module& at,
             std::string_view rest,
             const std::function<void(const Module&)>& reached) {
  while (!rest.empty()) {
    const auto [name, left] = split_module(rest);
    const auto& next = modules.find(at.path, name);
    if (!next) {
      return false;
    }
    at = *next;
    reached(at);
    rest = left;
  }
  return true;
}

bool is_certain(const project::Import& import) {
  return !import.optional && !import.nested;
}

/// Returns true for files that builds of the project write: its version, extension modules.
bool may_be_generated(std::string_view module) {
  const auto name = module.substr(module.rfind('.') + 1);
  return name.starts_with('_') || name.find("version") != std::string_view::npos;
}

/// Returns the full name for namespaces that several distributions share: `google.cloud.storage`.
std::string judged_module(const project::Import& import, const std::string& name) {
  std::string first = split_module(import.module).first;
  if (first != "google") {
    return first;
  }
  return name.empty() || name == "*" ? import.module : import.module + "." + name;
}

}  // namespace

ImportWalk::ImportWalk(const ReadablePlan& plan, const project::Project& project, Start start)
    : plan_{plan},
      modules_{plan},
      project_{project},
      start_{std::move(start)},
      python_{python::Version::parse(plan.base.python_version.value_or(""))} {
  roots_.push_back(start_.root);
  for (const auto& root : project.python_path) {
    add_root(root);
  }
  if (project.package) {
    add_root(project.package->import_root);
  }
  for (const auto& pair : plan.base.environment) {
    if (pair.starts_with(python_path)) {
      for (const auto& root : project::roots_in_python_path(pair.substr(python_path.size()))) {
        add_root(root);
      }
    }
  }
}

project::PythonFile python_file_of(const ReadablePlan& plan,
                                   const project::Project& project,
                                   const ContextEntry& entry) {
  const auto known = project.python_files.find(entry.path);
  const bool is_known = entry.tree == 0 && known != project.python_files.end();
  return is_known ? known->second : project::read_python_file(plan.read(entry));
}

/// Returns true for an import that runs whenever the program does.
bool ImportWalk::is_sure(const project::Import& import) const {
  return is_certain(import) && !import.when_main && start_.is_sure;
}

/// Reports `problem`, which makes `import` fail.
void ImportWalk::report(const project::Import& import, Problem problem) {
  const bool ends = is_sure(import) && !plan_.dependencies.install;  // which may make modules
  findings_.problems.push_back(ends ? project::certain(std::move(problem)) : std::move(problem));
}

ImportFindings ImportWalk::run() {
  if (const auto* entry = modules_.in_image(start_.file)) {
    visit(entry, start_.file, true);
  }
  read_all(true);
  read_all(false);
  report_files();
  for (auto& problem : findings_.problems) {
    correct_hints(problem);
  }
  for (const bool certain : {true, false}) {
    for (auto& [module, open] : open_) {
      if (open.certain == certain && !answered_.contains(module)) {
        if (open.elsewhere) {
          correct_hints(*open.elsewhere);
        }
        open.sure = open.sure && !path_changes_ && !modules_change_;
        findings_.open.push_back(std::move(open));
      }
    }
  }
  return std::move(findings_);
}

void ImportWalk::add_root(const std::string& root) {
  if (!contains(roots_, root)) {
    roots_.push_back(root);
  }
}

void ImportWalk::visit(const ContextEntry* entry, const std::string& path, bool certain) {
  if (entry->size > largest_file) {
    return;
  }
  if (!certain) {
    perhaps_.emplace_back(entry, path);
  } else if (seen_.insert(path).second) {
    waiting_.emplace_back(entry, path);
  }
}

void ImportWalk::read_all(bool certain) {
  auto& files = certain ? waiting_ : perhaps_;
  for (; !files.empty() && seen_.size() < most_files; files.pop_front()) {
    const auto [entry, path] = files.front();
    if (certain || seen_.insert(path).second) {
      read(entry, path, certain);
    }
  }
}

/// The imports of a file that is imported only perhaps are not certain.
void ImportWalk::read(const ContextEntry* entry, const std::string& path, bool certain) {
  std::optional<project::PythonFile> read_now;
  const auto known = project_.python_files.find(entry->path);
  const bool is_known = entry->tree == 0 && known != project_.python_files.end();
  std::string text = is_known ? std::string{} : plan_.read(*entry);
  const project::PythonFile& file =
      is_known ? known->second : read_now.emplace(project::read_python_file(text));
  if (certain) {
    findings_.reached.push_back({.path = path,
                                 .entry = entry,
                                 .sure = start_.is_sure,
                                 .python2_line = file.python2_line,
                                 .notebook_line = file.notebook_line,
                                 .imports_torch = imports_torch(file)});
    if (file.ipython_line) {
      report_ipython(path, *file.ipython_line);
    }
  }
  modules_change_ = modules_change_ || file.changes_modules || file.changes_path;
  const bool has_literal_path = certain && note_uses(*entry, path, file, std::move(text));
  if ((file.changes_path && !has_literal_path) || finds_root(file)) {
    path_changes_ = true;
    add_root("");
  }
  for (auto import : file.imports) {
    if (import.when_main && path != start_.file) {
      continue;
    }
    import.optional = import.optional || !certain;
    if (import.level > 0) {
      follow_relative(import, path);
    } else {
      follow_absolute(import, path);
    }
  }
}

/// Visits `module` and the part of `import` in it. Returns false if a part of its name does not
/// exist.
bool ImportWalk::enter(const Module& module, const project::Import& import, std::string_view rest) {
  Module at = module;
  const auto visit_module = [&](const Module& one) {
    if (one.file != nullptr) {
      const bool is_package = one.file->path.ends_with("/__init__.py");
      visit(one.file, one.path + (is_package ? "/__init__.py" : ".py"), is_certain(import));
    }
  };
  visit_module(at);
  if (!descend(modules_, at, rest, visit_module)) {
    return false;
  }
  for (const auto& name : import.names) {
    if (const auto& next = modules_.find(at.path, name)) {
      visit_module(*next);
    }
  }
  return true;
}

void ImportWalk::follow_relative(const project::Import& import, const std::string& path) {
  const bool certain = is_certain(import);
  if (start_.is_script && path == start_.file) {
    if (certain) {
      report_nothing_there(import, path, "");
    }
    return;
  }
  std::string directory = parent_path(path);
  for (int level = 1; level < import.level; ++level) {
    directory = parent_path(directory);
  }
  if (import.module.empty()) {
    enter({.path = directory}, import, {});
    return;
  }
  const auto [first, rest] = split_module(import.module);
  const auto& module = modules_.find(directory, first);
  if (module && enter(*module, import, rest)) {
    return;
  }
  const auto there = modules_.on_disk(directory, first);
  if (there && !module && certain && reported_.insert(there->path).second) {
    report(import, missing(import, path, first, *there));
  } else if (certain && !there && !may_be_generated(import.module)) {
    report_nothing_there(import, path,
                         std::string(static_cast<std::size_t>(import.level), '.') + import.module);
  }
}

/// Returns false for a directory without `__init__.py` that has the name of a known package but not
/// the imported names: files that a run of `wandb` left in `wandb/` are not the package.
bool ImportWalk::stands_in(const Module& module,
                           const project::Import& import,
                           std::string_view rest) {
  const auto first = split_module(import.module).first;
  if (module.is_compiled || project::distributions_of(first).empty()) {
    return true;
  }
  Module at = module;
  if (!descend(modules_, at, rest, [](const Module&) {})) {
    return false;
  }
  const bool has_names = std::ranges::any_of(
      import.names, [&](const auto& name) { return modules_.find(at.path, name).has_value(); });
  const bool is_answered = at.path != module.path || has_names;
  if (is_answered) {
    answered_.insert(first);
  }
  return is_answered;
}

void ImportWalk::follow_absolute(const project::Import& import, const std::string& path) {
  const auto [first, rest] = split_module(import.module);
  for (const auto& root : roots_) {
    if (const auto& module = modules_.find(root, first)) {
      if (module->file == nullptr && !stands_in(*module, import, rest)) {
        continue;
      }
      needs_first_root_ = needs_first_root_ || root == roots_.front();
      enter(*module, import, rest);
      return;
    }
  }
  if (project::is_standard_module(first)) {
    if (is_certain(import)) {
      report_removed(import, path);
    }
    return;
  }
  if (const auto module = path_changes_ ? modules_.find_anywhere(first) : std::nullopt) {
    enter(*module, import, rest);
    return;
  }
  if (is_certain(import)) {
    report_tensorflow1(import, path);
  }
  note_open(import, path);
}

/// Reports a module of that name where Python does not search. A file that imports its own name
/// means another module.
std::optional<Problem> ImportWalk::elsewhere(const project::Import& import,
                                             const std::string& path,
                                             const std::string& name) const {
  std::vector<std::string> roots = roots_;
  for (const auto& root : {std::string{}, std::string{"src"}, parent_path(path)}) {
    if (!contains(roots, root)) {
      roots.push_back(root);
    }
  }
  for (const auto& root : roots) {
    if (const auto there = modules_.on_disk(root, name); there && there->path != path) {
      return missing(import, path, name, *there);
    }
  }
  // The installation of the project may build it.
  for (const auto& root : plan_.dependencies.install ? std::vector<std::string>{} : roots_) {
    if (const auto* const foreign = modules_.foreign_extension(root, name)) {
      return foreign_extension(import, path, *foreign);
    }
  }
  return std::nullopt;
}

void ImportWalk::note_open(const project::Import& import, const std::string& path) {
  const bool certain = is_certain(import);
  const auto note_module = [&](const std::string& module) {
    const auto known = open_.find(module);
    const bool sure = is_sure(import);
    if (known == open_.end() || (certain && !known->second.certain) ||
        (sure && !known->second.sure)) {
      open_[module] = {.module = module,
                       .path = path,
                       .line = import.line,
                       .certain = certain,
                       .sure = sure,
                       .elsewhere = certain ? elsewhere(import, path, module) : std::nullopt};
    }
  };
  const auto note = [&](const std::string& name) {
    note_module(judged_module(import, name));
    // That part of torch imports it immediately, and torch does not provide it.
    if (import.module == "torch.utils.tensorboard" ||
        (import.module == "torch.utils" && name == "tensorboard")) {
      note_module("tensorboard");
    }
  };
  if (import.names.empty()) {
    note("");
  }
  for (const auto& name : import.names) {
    note(name);
  }
}

}  // namespace autopack::plan
