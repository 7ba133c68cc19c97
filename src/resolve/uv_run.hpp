#pragma once

#include "base/scratch_directory.hpp"
#include "resolve/resolver.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::resolve {

/// A `[[packages]]` table of uv's answer.
struct Package {
  std::string name{};
  std::string version{};
  std::string text{};
};

/// Splits a lock that uv wrote. The reader of the lock checks it.
std::vector<Package> packages_in(std::string_view lock);

/// One question, which uv may have to answer several times with further conditions.
class Run {
public:
  /// The arguments must outlive this.
  Run(const Question& question, const Means& means);

  /// Adds what a source distribution requires, so that uv need not build it.
  void add_metadata(const SourceMetadata& source);

  /// Assumes that the package of a directory, a repository or a URL requires nothing.
  void assume_no_requirements(const std::string& name);

  /// Replaces the assumption about `name`.
  void set_metadata(const std::string& name, const SourceMetadata& source);

  /// Writes the files of the question again.
  void rewrite() const { write_question_files(); }

  /// Never chooses that version.
  void exclude(const std::string& name, const std::string& version);

  /// Sets further constraints, one line each.
  void set_bounds(std::vector<std::string> bounds);

  /// Returns true if the image has a package that is worth keeping at its version.
  bool has_heavy() const;

  /// Returns the text of the lock; nothing if there is no solution that keeps the heavy packages.
  /// Throws as resolve() does.
  std::optional<std::string> solve(bool keeps_heavy);

  /// Returns the extras of the last solution that their packages do not have.
  const std::vector<MissingExtra>& missing_extras() const { return missing_extras_; }

private:
  std::filesystem::path project() const { return scratch_.path() / "project"; }

  std::filesystem::path python() const { return scratch_.path() / "python"; }

  std::filesystem::path lock() const { return project() / "pylock.toml"; }

  void write_question_files() const;
  void write_requirements();
  void set_variables();
  std::string constraints(bool keeps_heavy) const;
  std::vector<std::string> words() const;

  const Question& question_;
  const Means& means_;
  ScratchDirectory scratch_{"resolve"};
  std::map<std::string, std::string> variables_{};
  std::string settings_{};                        ///< of uv, as are these:
  std::string metadata_{};                        ///< of source distributions
  std::map<std::string, std::string> assumed_{};  ///< further metadata, by name
  std::vector<std::string> inputs_{};             ///< further files with requirements
  std::vector<std::string> bounds_{};             ///< further constraints, as are these:
  std::string excluded_{};                        ///< lines
  std::vector<MissingExtra> missing_extras_{};
};

}  // namespace autopack::resolve
