#include "project/package/module_layout.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace autopack::project {

namespace {

using Node = toml::node_view<const toml::node>;
using KnownNames = std::initializer_list<std::string_view>;

/// Returns a key of `table` that is not in `known`; nothing if all are.
std::optional<std::string> other_key(Node table, KnownNames known) {
  if (const auto* const keys = table.as_table()) {
    for (const auto& [key, value] : *keys) {
      if (!contains(known, key.str())) {
        return std::string{key.str()};
      }
    }
  }
  return std::nullopt;
}

/// Converts a project's name like setuptools, poetry and others.
std::string module_name_of(const std::string& name) {
  return replace_all(python::normalise_name(name), "-", "_");
}

/// Reads one layout of modules.
class LayoutReader {
public:
  LayoutReader(const toml::table& document, LookingTree& tree, StaticInstallation& installation)
      : document_{document}, tree_{tree}, installation_{installation} {}

  std::optional<std::string> hatchling() {
    const auto hatch = document_["tool"]["hatch"];
    if (tree_.is_file("hatch.toml")) {
      return "hatch.toml has settings of its own";
    }
    if (auto other = refuse("tool.hatch", hatch, {"build", "metadata", "envs", "version"})) {
      return other;
    }
    const auto build = hatch["build"];
    const auto wheel = build["targets"]["wheel"];
    for (auto other :
         {refuse("tool.hatch.metadata", hatch["metadata"], {"allow-direct-references"}),
          refuse("tool.hatch.build", build, {"targets"}),
          refuse("tool.hatch.build.targets", build["targets"], {"wheel", "sdist"}),
          refuse("tool.hatch.build.targets.wheel", wheel, {"packages"})}) {
      if (other) {
        return other;
      }
    }
    const auto packages = wheel["packages"];
    if (!packages) {
      return one_place({"", "src"}, {""}, hatch_names());
    }
    return one_directory_of(packages);
  }

  std::optional<std::string> flit() {
    const auto flit = document_["tool"]["flit"];
    if (auto other = refuse("tool.flit", flit, {"module", "sdist"})) {
      return other;
    }
    const auto said = flit["module"]["name"].value<std::string>();
    const auto name = said.value_or(replace_all(installation_.name, "-", "_"));
    return one_place({"", "src"}, {"", "src"}, {name});
  }

  std::optional<std::string> poetry() {
    const auto poetry = document_["tool"]["poetry"];
    if (auto other = refuse("tool.poetry", poetry,
                            {"packages", "group", "source", "requires-poetry", "package-mode",
                             "include", "exclude"})) {
      return other;
    }
    const auto packages = poetry["packages"];
    if (!packages) {
      return one_place({"", "src"}, {"", "src"}, {module_name_of(installation_.name)});
    }
    const auto* const list = packages.as_array();
    const auto package = packages[0];
    const auto name = package["include"].value<std::string>();
    if (list == nullptr || list->size() != 1 || !name || other_key(package, {"include", "from"})) {
      return "`tool.poetry.packages` names more than one package";
    }
    const auto root = normal(package["from"].value_or(std::string{}));
    return one_place({root}, {}, {*name});
  }

  std::optional<std::string> pdm() {
    const auto pdm = document_["tool"]["pdm"];
    const auto build = pdm["build"];
    if (tree_.is_file("pdm_build.py")) {
      return "pdm_build.py runs";
    }
    for (auto other : {refuse("tool.pdm", pdm,
                              {"build", "distribution", "dev-dependencies", "source", "scripts",
                               "resolution", "version"}),
                       refuse("tool.pdm.build", build, {"package-dir", "source-includes"})}) {
      if (other) {
        return other;
      }
    }
    const bool has_src = tree_.is_directory("src") && !tree_.is_file("src/__init__.py");
    installation_.directory =
        normal(build["package-dir"].value_or(std::string{has_src ? "src" : ""}));
    if (!is_there(installation_.directory)) {
      return fmt::format("there is no `{}`", printable(installation_.directory));
    }
    return std::nullopt;
  }

  std::optional<std::string> uv() {
    const auto settings = document_["tool"]["uv"]["build-backend"];
    if (auto other = refuse("tool.uv.build-backend", settings,
                            {"module-root", "module-name", "source-include", "source-exclude",
                             "wheel-exclude", "default-excludes"})) {
      return other;
    }
    const auto name = settings["module-name"];
    if (name && !name.is_string()) {
      return "`tool.uv.build-backend.module-name` names several modules";
    }
    const auto root = normal(settings["module-root"].value_or(std::string{"src"}));
    return one_place({root}, {}, {name.value_or(module_name_of(installation_.name))});
  }

private:
  static std::optional<std::string> refuse(const std::string& name, Node table, KnownNames known) {
    if (table && !table.is_table()) {
      return fmt::format("`{}` is not a table", name);
    }
    if (const auto other = other_key(table, known)) {
      return fmt::format("`{}.{}` may say otherwise", name, printable(*other));
    }
    return std::nullopt;
  }

  /// `.` becomes empty; so does a path outside the tree, where nothing exists.
  static std::string normal(const std::string& path) {
    return source::normalise(path).value_or("..");
  }

  bool is_there(const std::string& directory) {
    return directory.empty() || tree_.is_directory(directory);
  }

  std::vector<std::string> hatch_names() const {
    std::vector<std::string> names{replace_all(installation_.name, "-", "_"),
                                   module_name_of(installation_.name)};
    if (names[0] == names[1]) {
      names.pop_back();
    }
    return names;
  }

  /// Returns the only place below `roots` with a package, or below `module_roots` with a module,
  /// named as in `names`.
  std::optional<std::string> one_place(const std::vector<std::string>& roots,
                                       const std::vector<std::string>& module_roots,
                                       const std::vector<std::string>& names) {
    std::vector<std::string> found;
    for (const auto& name : names) {
      if (!is_alphanumeric(name, "_")) {
        continue;
      }
      for (const auto& root : roots) {
        if (tree_.is_file(join_path(root, name + "/__init__.py"))) {
          found.push_back(root);
        }
      }
      for (const auto& root : module_roots) {
        if (tree_.is_file(join_path(root, name + ".py"))) {
          found.push_back(root);
        }
      }
    }
    if (found.size() != 1) {
      return fmt::format("there {} package `{}`", found.empty() ? "is no" : "is more than one",
                         printable(names.front()));
    }
    installation_.directory = found.front();
    return std::nullopt;
  }

  /// Handles packages that are all in one directory.
  std::optional<std::string> one_directory_of(Node packages) {
    const auto* const list = packages.as_array();
    if (list == nullptr || list->empty()) {
      return "the packages are not listed";
    }
    std::optional<std::string> directory;
    for (const auto& item : *list) {
      const auto path = normal(item.value_or(std::string{}));
      if (path.empty() || !tree_.is_file(path + "/__init__.py") ||
          (directory && *directory != parent_path(path))) {
        return "the packages are not in one directory, each with its `__init__.py`";
      }
      directory = parent_path(path);
    }
    installation_.directory = *directory;
    return std::nullopt;
  }

  const toml::table& document_;
  LookingTree& tree_;
  StaticInstallation& installation_;
};

}  // namespace

std::optional<std::string> read_module_layout(const toml::table& document,
                                              const Package& package,
                                              LookingTree& tree,
                                              StaticInstallation& installation) {
  LayoutReader reader{document, tree, installation};
  if (package.backend == "hatchling.build") {
    return reader.hatchling();
  }
  if (package.backend == "flit_core.buildapi") {
    return reader.flit();
  }
  if (package.backend == "poetry.core.masonry.api") {
    return reader.poetry();
  }
  if (package.backend == "pdm.backend") {
    return reader.pdm();
  }
  if (package.backend == "uv_build") {
    return reader.uv();
  }
  if (package.backend.starts_with("setuptools.build_meta")) {
    return read_setuptools_layout(document, tree, installation);
  }
  return fmt::format("`{}` is not known", printable(package.backend));
}

}  // namespace autopack::project
