#include "base/text.hpp"
#include "plan/advice.hpp"
#include "project/findings.hpp"
#include "project/imports.hpp"
#include "project/python_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>

namespace autopack::plan {

namespace {

constexpr std::size_t most_files{2000};
constexpr std::uint64_t largest_file{2'000'000};

/// Where a module is: in the image, and whether it is a package there.
struct Module {
  std::string path{};                 ///< below the working directory, without `.py`
  const ContextEntry* file{nullptr};  ///< what is run by importing it; null for a namespace
};

/// Follows the imports of a program through the files of its image.
class ImportWalk {
public:
  ImportWalk(const Plan& plan, const project::Project& project, project::Started start)
      : plan_{plan},
        project_{project},
        start_{std::move(start)},
        named_{project::named_distributions(*plan.trees.front().tree, project)} {
    roots_.push_back(start_.root);
    for (const auto& root : project.python_path) {
      add_root(root);
    }
    if (project.package) {
      add_root(project.package->import_root);
    }
    const auto has_path = [](const std::string& pair) { return pair.starts_with("PYTHONPATH="); };
    if (std::any_of(plan.base.environment.begin(), plan.base.environment.end(), has_path)) {
      add_root("");
    }
  }

  Problems run(const BaseModules& in_base) {
    if (const auto* entry = entry_in_image(plan_, start_.file)) {
      visit(entry, start_.file);
    }
    for (; !waiting_.empty() && seen_.size() < most_files; waiting_.pop_front()) {
      read(waiting_.front().first, waiting_.front().second);
    }
    settle_unnamed(in_base);
    return std::move(problems_);
  }

private:
  void add_root(const std::string& root) {
    if (std::find(roots_.begin(), roots_.end(), root) == roots_.end()) {
      roots_.push_back(root);
    }
  }

  void visit(const ContextEntry* entry, const std::string& path) {
    if (entry->size <= largest_file && seen_.insert(path).second) {
      waiting_.emplace_back(entry, path);
    }
  }

  void read(const ContextEntry* entry, const std::string& path) {
    const auto file = project::read_imports(plan_.trees[entry->tree].read(*entry));
    if (file.changes_path) {
      add_root("");
    }
    for (const auto& import : file.imports) {
      if (import.level > 0) {
        follow_relative(import, path);
      } else {
        follow_absolute(import, path);
      }
    }
  }

  /// The module `name` in the directory `root` of the image.
  std::optional<Module> find(const std::string& root, const std::string& name) const {
    const std::string path = project::join_path(root, name);
    for (const auto* end : {"/__init__.py", ".py"}) {
      if (const auto* file = entry_in_image(plan_, path + end)) {
        return Module{.path = path, .file = file};
      }
    }
    const auto* directory = entry_in_image(plan_, path);
    if (directory != nullptr && directory->type == source::EntryType::directory) {
      return Module{.path = path};
    }
    const auto next =
        std::lower_bound(plan_.code.begin(), plan_.code.end(), path + ".",
                         [](const ContextEntry& a, const std::string& b) { return a.path < b; });
    const bool is_extension = next != plan_.code.end() && next->path.starts_with(path + ".") &&
                              next->path.ends_with(".so");
    return is_extension ? std::optional{Module{.path = path}} : std::nullopt;
  }

  /// Visits `module` and what of `import` lies in it.
  void enter(const Module& module, const project::Import& import, std::string_view rest) {
    Module at = module;
    const auto visit_module = [&](const Module& one) {
      if (one.file != nullptr) {
        const bool is_package = one.file->path.ends_with("/__init__.py");
        visit(one.file, one.path + (is_package ? "/__init__.py" : ".py"));
      }
    };
    visit_module(at);
    while (!rest.empty()) {
      const auto dot = std::min(rest.find('.'), rest.size());
      const auto next = find(at.path, std::string{rest.substr(0, dot)});
      if (!next) {
        return;
      }
      at = *next;
      visit_module(at);
      rest.remove_prefix(std::min(dot + 1, rest.size()));
    }
    for (const auto& name : import.names) {
      if (const auto next = find(at.path, name)) {
        visit_module(*next);
      }
    }
  }

  void follow_relative(const project::Import& import, const std::string& path) {
    std::string directory = project::parent_path(path);
    for (int level = 1; level < import.level; ++level) {
      directory = project::parent_path(directory);
    }
    if (import.module.empty()) {
      enter({.path = directory}, import, {});
      return;
    }
    const auto dot = std::min(import.module.find('.'), import.module.size());
    const std::string first = import.module.substr(0, dot);
    if (const auto module = find(directory, first)) {
      enter(*module, import,
            std::string_view{import.module}.substr(std::min(dot + 1, import.module.size())));
    } else if (const auto there = on_disk(directory, first); there && !import.optional) {
      tell_missing(import, path, first, *there);
    }
  }

  void follow_absolute(const project::Import& import, const std::string& path) {
    const auto dot = std::min(import.module.find('.'), import.module.size());
    const std::string first = import.module.substr(0, dot);
    const auto rest =
        std::string_view{import.module}.substr(std::min(dot + 1, import.module.size()));
    for (const auto& root : roots_) {
      if (const auto module = find(root, first)) {
        enter(*module, import, rest);
        return;
      }
    }
    if (project::is_standard_module(first) || import.optional || !told_.insert(first).second) {
      return;
    }
    if (brought(import)) {
      return;
    }
    for (const auto& root : disk_roots(path)) {
      if (const auto there = on_disk(root, first)) {
        tell_missing(import, path, first, *there);
        return;
      }
    }
    if (!import.nested) {
      tell_unnamed(import, path, first);
    }
  }

  bool brought(const project::Import& import) const {
    const auto is_it = [&](const std::string& module) {
      return project::is_brought_by(module, named_.names);
    };
    if (is_it(import.module)) {
      return true;
    }
    return std::any_of(import.names.begin(), import.names.end(), [&](const std::string& name) {
      return import.module.starts_with("google") && is_it(import.module + "." + name);
    });
  }

  std::vector<std::string> disk_roots(const std::string& path) const {
    std::vector<std::string> roots = roots_;
    for (const auto& root : {std::string{}, std::string{"src"}, project::parent_path(path)}) {
      if (std::find(roots.begin(), roots.end(), root) == roots.end()) {
        roots.push_back(root);
      }
    }
    return roots;
  }

  /// The module `name` of the working directory, image or not.
  std::optional<source::Entry> on_disk(const std::string& root, const std::string& name) const {
    const auto& tree = *plan_.trees.front().tree;
    const std::string path = project::join_path(root, name);
    if (auto file = tree.find(path + ".py"); file && file->type == source::EntryType::file) {
      return file;
    }
    auto directory = tree.find(path);
    if (!directory || directory->type != source::EntryType::directory) {
      return std::nullopt;
    }
    const auto children = tree.list(path);
    const bool has_code = std::any_of(children.begin(), children.end(), [](const auto& child) {
      return child.path.ends_with(".py");
    });
    return has_code ? directory : std::nullopt;
  }

  void tell_missing(const project::Import& import,
                    const std::string& path,
                    const std::string& name,
                    const source::Entry& there) {
    const bool is_directory = there.type == source::EntryType::directory;
    Problem problem{.severity = Problem::Severity::warning};
    const std::string where =
        fmt::format("`{}` line {} imports `{}`", printable(path), import.line, printable(name));
    const std::string as_module =
        replace_all(start_.file.substr(0, start_.file.rfind('.')), "/", ".");
    const std::string module_hint = start_.origin.empty()
                                        ? fmt::format("--python-module={}", shell_quote(as_module))
                                        : fmt::format("python -m {}", shell_quote(as_module));
    const bool is_script = start_.kind == project::EntryKind::python_script;
    const bool needs_module = is_script && !project::parent_path(start_.file).empty();
    if (entry_in_image(plan_, there.path) != nullptr) {
      problem.message = fmt::format("{}: `{}` is in the image, but not where Python looks", where,
                                    printable(there.path));
      problem.hints = {
          start_.origin.empty()
              ? fmt::format("`{}` instead of `--script` looks in the whole directory", module_hint)
              : fmt::format("`{}` in `{}` looks in the whole directory", module_hint,
                            printable(start_.origin))};
    } else if (const auto rule = project_.ignore.excludes(there.path)) {
      problem.message = fmt::format("{}, which the rule `{}` leaves out of the image", where,
                                    printable(rule->pattern));
      problem.origin = rule->line == 0 ? rule->file : fmt::format("{}:{}", rule->file, rule->line);
      problem.hints = {source::bring_back_command(there.path, is_directory, *rule)};
    } else {
      problem.message = fmt::format("{}, which is not in the image", where);
      if (is_directory) {
        problem.hints.push_back(
            fmt::format("add `--extra-dirs={}`{}", shell_quote(there.path),
                        needs_module ? fmt::format(", and `{}` instead of `--script`: a script "
                                                   "finds only what is beside it",
                                                   module_hint)
                                     : ""));
      } else {
        problem.hints.push_back(fmt::format("move `{}` to `{}`, which is copied",
                                            printable(there.path),
                                            printable(project::parent_path(path))));
      }
    }
    problems_.push_back(std::move(problem));
  }

  void tell_unnamed(const project::Import& import,
                    const std::string& path,
                    const std::string& name) {
    if (!named_.certain || (plan_.dependencies.install && plan_.dependencies.resolves)) {
      return;
    }
    const bool is_google = import.module.starts_with("google") && !import.names.empty();
    const std::string module =
        is_google ? import.module + "." + import.names.front() : import.module;
    const auto distribution = project::usual_distribution(module);
    unnamed_.emplace_back(problems_.size(), is_google ? module : name);
    problems_.push_back(
        {.severity = Problem::Severity::warning,
         .message = fmt::format("`{}` line {} imports `{}`, which no requirement names",
                                printable(path), import.line, printable(is_google ? module : name)),
         .hints = {
             fmt::format("add `{}` to `requirements.txt`, unless the executor image brings it",
                         printable(distribution))}});
  }

  /// Takes back what the executor image brings.
  void settle_unnamed(const BaseModules& in_base) {
    if (unnamed_.empty() || !in_base) {
      return;
    }
    std::vector<std::string> modules;
    std::transform(unnamed_.begin(), unnamed_.end(), std::back_inserter(modules),
                   [](const auto& one) { return one.second; });
    const auto there = in_base(modules);
    for (auto one = unnamed_.rbegin(); one != unnamed_.rend(); ++one) {
      if (std::find(there.begin(), there.end(), one->second) != there.end()) {
        problems_.erase(problems_.begin() + static_cast<std::ptrdiff_t>(one->first));
      }
    }
  }

  const Plan& plan_;
  const project::Project& project_;
  project::Started start_;
  project::NamedDistributions named_;
  std::vector<std::string> roots_;  ///< sys.path, below the working directory
  std::deque<std::pair<const ContextEntry*, std::string>> waiting_;
  std::set<std::string> seen_;
  std::set<std::string> told_;  ///< top-level names that are settled
  Problems problems_;
  std::vector<std::pair<std::size_t, std::string>> unnamed_;  ///< place in problems_, module
};

/// The files that Python starts with: the entry's, or those that a shell script starts.
std::vector<project::Started> starts_of(const Plan& plan, const project::Project& project) {
  if (!plan.user_dockerfile.empty()) {
    return {};
  }
  auto starts = project.started;
  if (!plan.entry.file.empty() && plan.entry.kind != project::EntryKind::shell_script) {
    const bool is_script = plan.entry.kind == project::EntryKind::python_script;
    starts.push_back({.kind = plan.entry.kind,
                      .value = plan.entry.value,
                      .file = plan.entry.file,
                      .root = is_script ? project::parent_path(plan.entry.file) : std::string{}});
  }
  return starts;
}

}  // namespace

const ContextEntry* entry_in_image(const Plan& plan, const std::string& path) {
  for (auto copy = plan.copies.rbegin(); copy != plan.copies.rend(); ++copy) {
    std::string rest = path;
    if (!copy->destination.empty()) {
      if (path != copy->destination && !path.starts_with(copy->destination + "/")) {
        continue;
      }
      rest = path == copy->destination ? "" : path.substr(copy->destination.size() + 1);
    }
    const std::string wanted = rest.empty() ? copy->source : project::join_path(copy->source, rest);
    const auto found =
        std::lower_bound(plan.code.begin(), plan.code.end(), wanted,
                         [](const ContextEntry& a, const std::string& b) { return a.path < b; });
    if (found != plan.code.end() && found->path == wanted) {
      return &*found;
    }
  }
  return nullptr;
}

Problems import_advice(const Plan& plan,
                       const project::Project& project,
                       const BaseModules& in_base) {
  Problems problems;
  for (auto& start : starts_of(plan, project)) {
    for (auto& problem : ImportWalk{plan, project, std::move(start)}.run(in_base)) {
      const bool is_told = std::any_of(problems.begin(), problems.end(), [&](const Problem& other) {
        return other.message == problem.message;
      });
      if (!is_told) {
        problems.push_back(std::move(problem));
      }
    }
  }
  return problems;
}

}  // namespace autopack::plan
