#pragma once

#include "plan/plan.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace autopack::plan {

/// The place of a module in the image.
struct Module {
  std::string path{};                 ///< below the working directory, without `.py`
  const ContextEntry* file{nullptr};  ///< the file that an import runs; null for a namespace
  bool is_compiled{false};            ///< compiled, or to be compiled: `fast.pyx`
};

/// Finds the project's modules as Python would, in the image and in the working directory.
class Modules {
public:
  /// `plan` must outlive it.
  explicit Modules(const ReadablePlan& plan) : plan_{plan} {}

  /// Returns the file or directory at `path` of the image, behind its links; null if there is none.
  const ContextEntry* in_image(const std::string& path) const;
  /// Returns the module `name` in the directory `root` of the image. Caches results, because
  /// thousands of files import the same few. The reference is valid as long as this object.
  const std::optional<Module>& find(const std::string& root, const std::string& name);
  /// Returns the module `name` in any directory of the image, for code that changes sys.path.
  std::optional<Module> find_anywhere(const std::string& name);
  /// Returns the extension of the module `name` in the directory `root` of the image that its
  /// Python cannot load: `fast.cpython-39-x86_64-linux-gnu.so`, `fast.pyd`. Null if there is none.
  const ContextEntry* foreign_extension(const std::string& root, const std::string& name) const;
  /// Returns the module `name` in the directory `root` of the working directory, even if it is not
  /// in the image.
  std::optional<source::Entry> on_disk(const std::string& root, const std::string& name) const;

private:
  std::optional<Module> look_for(const std::string& path) const;
  /// The first file `path.*` that the image's Python can load or compile, or cannot load
  /// (`foreign`).
  const ContextEntry* extension(const std::string& path, bool foreign) const;

  const ReadablePlan& plan_;
  std::unordered_map<std::string, std::optional<Module>> found_{};  ///< by look_for's path
  /// Directories by the names of their modules, computed on first use.
  std::optional<std::map<std::string, std::string, std::less<>>> anywhere_{};
};

}  // namespace autopack::plan
