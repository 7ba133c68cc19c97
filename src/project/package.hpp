#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// The user's own package; none when the tree holds no setup.py, no pyproject.toml that builds
/// something and no setup.cfg that describes a package.
std::optional<Package> read_package(Findings& findings);

/// Where a build backend would look for modules.
struct Layout {
  enum class Kind {
    automatic,  ///< setuptools looks by itself
    found,      ///< every package below `root`
    listed,     ///< `packages` and `modules`
  };

  Kind kind{Kind::automatic};
  std::string root{};                   ///< the import root: "" or `src`
  bool namespaces{false};               ///< directories without `__init__.py` count
  std::vector<std::string> packages{};  ///< dotted
  std::vector<std::string> modules{};   ///< dotted, without `.py`
  std::string origin{};                 ///< the file that lists them
};

/// A Package while its files are read. Each reader adds what it knows; the first reason for a real
/// installation stays.
class PackageDraft {
public:
  explicit PackageDraft(Findings& findings) : findings_{&findings} {}

  Findings& findings() { return *findings_; }

  Package package{};
  Layout layout{};

  /// Adds a file that the build reads; with `required` its absence is an error.
  void add_file(std::string_view path, const std::string& origin, bool required);
  /// Adds the files at the root that `pattern` matches (`LICEN[CS]E*`); those ignored stay out.
  void add_matches(std::string_view pattern);
  /// The short way would be wrong: the code has to be installed for real.
  void install(const std::string& reason);
  /// As install(), and the build needs files besides the packages.
  void install_all(const std::string& reason);
  /// As install(), and even the metadata cannot be had without the code.
  void install_for_metadata(const std::string& reason);
  /// The version comes from version control, which does not travel: `variable` pins it.
  void pin_version(const std::string& variable, const std::string& origin);
  /// `attr: trainer.__version__`: its module is a metadata file when it can be read without import.
  void add_attribute(std::string_view dotted, const std::string& origin);

  /// Fills stub_packages, code and import_root from the layout.
  Package finish();

private:
  void place_found(const std::vector<std::string>& top_level);
  void place_listed();
  void add_stubs(const std::string& directory);
  std::vector<std::string> top_level_packages() const;
  std::vector<std::string> top_level_modules() const;
  bool holds_python(const std::string& directory) const;

  Findings* findings_;
  bool whole_tree_{false};
};

/// What setup.py and setup.cfg say.
void read_setuptools(PackageDraft& draft, bool has_setup_py, bool has_setup_cfg);
/// What pyproject.toml says; false when it holds the settings of tools only.
bool read_pyproject(PackageDraft& draft);

}  // namespace autopack::project
