#pragma once

#include "executor/python_facts.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::executor {

/// Surveys of executor images by digest and platform, in a directory of two files each: the facts,
/// and the compressed lists of files. Files that are damaged, foreign or of another format count as
/// absent; a failed write is no error. They may hold what pip's settings in an image hold, so they
/// are for their owner alone.
class PythonCache {
public:
  explicit PythonCache(std::filesystem::path directory) : directory_{std::move(directory)} {}

  /// What was found on this machine.
  static PythonCache of(const Services& services);

  std::optional<PythonFacts> load_facts(const image::BaseFacts& base) const;
  std::optional<PythonSurvey> load(const image::BaseFacts& base) const;
  void store(const image::BaseFacts& base, const PythonSurvey& survey) const;

private:
  /// Without its ending; none for an image that has no digest of any kind.
  std::optional<std::filesystem::path> file_of(const image::BaseFacts& base) const;

  std::filesystem::path directory_;
};

/// A text that installed_files_from_json() takes.
std::string to_json(const InstalledFiles& files);
/// None when `text` is damaged.
std::optional<InstalledFiles> installed_files_from_json(std::string_view text);

}  // namespace autopack::executor
