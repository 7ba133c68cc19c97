#pragma once

#include "packaging/packaging.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::build {

/// The options in requirement files that choose an index: uv gets them as variables, expanded.
inline constexpr std::array<std::string_view, 5> index_options{
    "--index-url", "--extra-index-url", "--no-index", "--find-links", "--trusted-host"};

/// The files of a project that uv reads. A directory, a repository or an archive that is required
/// without a name gets one, because uv would run its build to learn it.
class ResolverInput {
public:
  /// `work` must outlive this.
  explicit ResolverInput(const packaging::Packaging& work) : work_{work} {}

  /// A file that write() adds to those of the project; relative to the directory.
  static constexpr auto* own_file = "autopack-sources.txt";

  /// Adds a requirement without a name, such as `./lib`, that no file of the project has.
  void add(const std::string& requirement) { lines_.push_back(requirement); }

  /// Writes the files to `directory`, which may have those of an earlier call.
  void write(const std::filesystem::path& directory);

  /// Gives a provisional name to each unnamed source in the files last written; returns the names.
  std::vector<std::string> name_sources();

  /// Replaces a provisional name; returns false if `provisional` is another name.
  bool rename(const std::string& provisional, const std::string& actual);

private:
  void follow(const std::filesystem::path& directory, const std::string& path);
  std::string text_of(const plan::ContextEntry& entry) const;
  std::string named(const std::string& requirement);
  std::string one_a_line(std::string_view text);

  const packaging::Packaging& work_;
  std::vector<std::string> lines_{};
  std::map<std::string, std::string> names_{};  ///< by URL or path; empty: none yet
  std::set<std::string> written_{};             ///< paths of requirement files
};

}  // namespace autopack::build
