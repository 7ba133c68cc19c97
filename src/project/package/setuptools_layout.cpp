#include "base/contains.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/package/module_layout.hpp"
#include "project/package/package.hpp"
#include "project/tables/python_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace autopack::project {

namespace {

using Names = std::vector<std::string>;

constexpr std::size_t largest_settings{std::size_t{1} << 20U};

std::optional<Names> strings_in(const toml::node* node) {
  const auto* const array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr) {
    return std::nullopt;
  }
  Names names;
  for (const auto& item : *array) {
    names.push_back(item.value_or(std::string{}));
  }
  return names;
}

class SetuptoolsLayout {
public:
  SetuptoolsLayout(const toml::table& document, LookingTree& tree, StaticInstallation& installation)
      : document_{document}, tree_{tree}, installation_{installation} {}

  std::optional<std::string> read() {
    for (const auto& step : {&SetuptoolsLayout::refuse_other_files, &SetuptoolsLayout::read_root,
                             &SetuptoolsLayout::find_modules, &SetuptoolsLayout::check_modules}) {
      if (auto reason = (this->*step)()) {
        return reason;
      }
    }
    return std::nullopt;
  }

private:
  const toml::table* settings() const { return document_["tool"]["setuptools"].as_table(); }

  const toml::node* find(std::string_view key) const {
    return settings() == nullptr ? nullptr : settings()->get(key);
  }

  std::optional<std::string> refuse_other_files() {
    if (tree_.is_file("setup.py")) {
      return "setup.py runs";
    }
    if (tree_.is_file("setup.cfg")) {
      const auto text = tree_.read("setup.cfg", largest_settings);
      for (const auto& [section, options] : text ? parse_ini(*text) : Ini{{"metadata", {}}}) {
        if (!is_of_other_tools(section)) {
          return "setup.cfg has settings of its own";
        }
      }
    }
    static constexpr std::array<std::string_view, 8> known{
        "packages",      "py-modules", "package-dir",          "package-data",
        "license-files", "zip-safe",   "include-package-data", "exclude-package-data"};
    for (const auto& [key, value] : settings() == nullptr ? toml::table{} : *settings()) {
      if (!contains(known, key.str()) || key == "license-files") {
        return fmt::format("`tool.setuptools.{}` may say otherwise", printable(key.str()));
      }
    }
    return std::nullopt;
  }

  /// Reads the directory of modules, if it is not the root.
  std::optional<std::string> read_root() {
    if (const auto* const node = find("package-dir"); node != nullptr) {
      const auto* const table = node->as_table();
      const auto path =
          table == nullptr || table->size() != 1 ? std::nullopt : (*table)[""].value<std::string>();
      const auto root = path ? source::normalise(*path) : std::nullopt;
      if (!root) {
        return "`tool.setuptools.package-dir` names several directories";
      }
      root_ = *root;
    }
    return std::nullopt;
  }

  std::optional<std::string> find_modules() {
    const auto* const packages = find("packages");
    const auto* const modules = find("py-modules");
    if (packages == nullptr && modules == nullptr) {
      return discover();
    }
    if (modules != nullptr) {
      const auto names = strings_in(modules);
      if (!names) {
        return "`tool.setuptools.py-modules` is not a list";
      }
      installation_.top_level.insert(names->begin(), names->end());
    }
    if (packages == nullptr) {
      return std::nullopt;
    }
    if (const auto names = strings_in(packages)) {
      for (const auto& name : *names) {
        installation_.top_level.insert(name.substr(0, name.find('.')));
      }
      return std::nullopt;
    }
    return find_packages(*packages);
  }

  /// Applies the default behaviour of setuptools.
  std::optional<std::string> discover() {
    if (!root_ && tree_.is_directory("src")) {
      root_ = "src";
    }
    if (root_) {
      take(tree_.packages_in(*root_));
      take(tree_.modules_in(*root_));
      return std::nullopt;
    }
    auto packages = tree_.packages_in("");
    std::erase_if(packages, is_reserved_name);
    auto found = packages.empty() ? tree_.modules_in("") : packages;
    if (found.size() != 1 || is_reserved_name(found.front())) {
      return "setuptools finds no single package in it";
    }
    take(found);
    return std::nullopt;
  }

  /// Reads `packages.find`.
  std::optional<std::string> find_packages(const toml::node& packages) {
    const auto* const table = packages.as_table();
    const auto* const find =
        table == nullptr || table->size() != 1 ? nullptr : (*table)["find"].as_table();
    if (find == nullptr) {
      return "`tool.setuptools.packages` is not a list";
    }
    for (const auto& [key, value] : *find) {
      if (key != "where" && key != "include" && key != "exclude" && key != "namespaces") {
        return fmt::format("`tool.setuptools.packages.find.{}` is not known", printable(key.str()));
      }
    }
    const auto where = strings_in(find->get("where")).value_or(Names{"."});
    const auto place = where.size() == 1 ? source::normalise(where.front()) : std::nullopt;
    if (!place || (root_ && *root_ != *place)) {
      return "`tool.setuptools.packages.find.where` names several directories";
    }
    if (!place->empty()) {
      root_ = *place;
    }
    const auto include = strings_in(find->get("include")).value_or(Names{"*"});
    const auto exclude = strings_in(find->get("exclude")).value_or(Names{});
    const auto is_simple = [](const std::string& pattern) {
      return is_identifier(pattern.substr(0, pattern.find('*'))) || pattern == "*";
    };
    if (!std::ranges::all_of(include, is_simple)) {
      return "`tool.setuptools.packages.find.include` names packages in packages";
    }
    const auto matches = [](const Names& patterns, const std::string& name) {
      return std::ranges::any_of(patterns,
                                 [&](const auto& pattern) { return matches_glob(pattern, name); });
    };
    for (const auto& name : tree_.packages_in(*place)) {
      if (matches(include, name) && !matches(exclude, name)) {
        installation_.top_level.insert(name);
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> check_modules() {
    auto& installation = installation_;
    installation.directory = root_.value_or("");
    // Without a separate root, setuptools maps modules one by one, so that no others are found.
    installation.finds_top_level_only = !root_;
    if (installation.top_level.empty()) {
      return "setuptools finds no package in it";
    }
    for (const auto& name : installation.top_level) {
      const auto path = join_path(installation.directory, name);
      if (!is_identifier(name) ||
          !(tree_.is_file(path + "/__init__.py") || tree_.is_file(path + ".py"))) {
        return fmt::format("`{}` has no `__init__.py`", printable(path));
      }
    }
    // From another installation: the build rewrites it, and Python may find it first.
    for (const auto& written : {installation.name, replace_all(installation.name, "-", "_")}) {
      if (const auto left = join_path(installation.directory, written + ".egg-info");
          tree_.is_directory(left)) {
        return fmt::format("`{}` is written again", left);
      }
    }
    return std::nullopt;
  }

  void take(const Names& names) { installation_.top_level.insert(names.begin(), names.end()); }

  const toml::table& document_;
  LookingTree& tree_;
  StaticInstallation& installation_;
  std::optional<std::string> root_{};  ///< of modules; absent: that of the tree
};

}  // namespace

bool is_of_other_tools(std::string_view section) {
  static constexpr std::array<std::string_view, 12> tools{
      "flake8", "pycodestyle",   "pydocstyle", "pep8",        "isort", "yapf",
      "pylint", "pylint.master", "pytest",     "bumpversion", "doc8",  "codespell"};
  return section.starts_with("mypy") || section.starts_with("tool:") ||
         section.starts_with("coverage:") || section.starts_with("bumpversion:") ||
         contains(tools, section);
}

std::optional<std::string> read_setuptools_layout(const toml::table& document,
                                                  LookingTree& tree,
                                                  StaticInstallation& installation) {
  return SetuptoolsLayout{document, tree, installation}.read();
}

}  // namespace autopack::project
