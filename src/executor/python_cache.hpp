#pragma once

#include "executor/python_facts.hpp"
#include "state/store.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::executor {

/// Caches surveys of executor images by digest and platform, in a directory with two files each:
/// the facts, and the compressed lists of files. Damaged, foreign or outdated files count as
/// absent; a failed write is not an error. Only the owner can read the files, because they may
/// contain an image's pip settings.
class PythonCache {
public:
  explicit PythonCache(std::filesystem::path directory) : store_{std::move(directory), limit} {}

  /// Returns the cache of this machine's own findings.
  static PythonCache of(const Services& services);

  std::optional<PythonFacts> load_facts(const image::BaseFacts& base) const;
  std::optional<PythonSurvey> load(const image::BaseFacts& base) const;
  void store(const image::BaseFacts& base, const PythonSurvey& survey) const;

private:
  static constexpr std::uint64_t limit{std::uint64_t{256} << 20U};

  state::Store store_;
};

/// Returns a text for installed_files_from_json().
std::string to_json(const InstalledFiles& files);
/// Returns nothing if `text` is damaged.
std::optional<InstalledFiles> installed_files_from_json(std::string_view text);

}  // namespace autopack::executor
