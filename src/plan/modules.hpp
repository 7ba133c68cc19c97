#pragma once

#include "plan/plan.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace autopack::plan {

/// Where a module is in the image.
struct Module {
  std::string path{};                 ///< below the working directory, without `.py`
  const ContextEntry* file{nullptr};  ///< what is run by importing it; null for a namespace
  bool is_compiled{false};            ///< or to be: `fast.pyx`
};

/// Finds the project's modules as Python would, in the image and in the working directory.
class Modules {
public:
  /// `plan` must outlive it.
  explicit Modules(const ReadablePlan& plan) : plan_{plan} {}

  /// The file or directory at `path` of the image, behind its links; null when there is none.
  const ContextEntry* in_image(const std::string& path) const;
  /// The module `name` in the directory `root` of the image. Thousands of files import the same
  /// few, so each is looked for once. The reference holds as long as this object.
  const std::optional<Module>& find(const std::string& root, const std::string& name);
  /// The module `name` in whichever directory of the image, for code that changes sys.path.
  std::optional<Module> find_anywhere(const std::string& name);
  /// The module `name` in the directory `root` of the working directory, in the image or not.
  std::optional<source::Entry> on_disk(const std::string& root, const std::string& name) const;

private:
  std::optional<Module> look_for(const std::string& path) const;

  const ReadablePlan& plan_;
  std::unordered_map<std::string, std::optional<Module>> found_{};  ///< by look_for's path
  /// Directories by the names of their modules, once they are asked for.
  std::optional<std::map<std::string, std::string, std::less<>>> anywhere_{};
};

}  // namespace autopack::plan
