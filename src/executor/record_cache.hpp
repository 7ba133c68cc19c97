#pragma once

#include "executor/python_facts.hpp"
#include "image/reference.hpp"
#include "state/base_cache.hpp"
#include "state/store.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::executor {

/// The facts about an executor image on one platform, and those about its Python.
struct Record {
  image::BaseFacts facts{};
  PythonSurvey python{};
};

/// Caches surveys of executor images by digest and platform, in a directory with three files each:
/// the facts, and the compressed lists of files and requirements. Damaged, foreign or outdated
/// files count as absent; a failed write is not an error. Only the owner can read the files,
/// because they may contain an image's pip settings.
class PythonCache {
public:
  explicit PythonCache(std::filesystem::path directory) : store_{std::move(directory), limit} {}

  std::optional<PythonFacts> load_facts(const image::BaseFacts& base) const;
  /// Returns facts and files, without the requirements.
  std::optional<PythonSurvey> load(const image::BaseFacts& base) const;
  std::optional<InstalledRequirements> load_requirements(const image::BaseFacts& base) const;
  void store(const image::BaseFacts& base, const PythonSurvey& survey) const;

private:
  static constexpr std::uint64_t limit{std::uint64_t{256} << 20U};

  state::Store store_;
};

/// The cached records of executor images. Each part of a record has files of its own, because a run
/// that only edits code reads nothing but the facts.
struct RecordCache {
  explicit RecordCache(const std::filesystem::path& directory)
      : facts{directory}, python{directory / "python"}, contents{directory / "modules"} {}

  /// Returns the facts of the digest of `reference`, or without a digest those last stored under
  /// its name, as facts of `reference`; nothing if there are none.
  std::optional<image::BaseFacts> find(const image::Reference& reference,
                                       const std::string& platform) const;
  void store(const Record& record) const;

  state::BaseCache facts;
  PythonCache python;
  state::BaseModules contents;
};

/// Returns the cache of this machine's own findings.
RecordCache own_records(const Services& services);
/// Returns the cache of the facts that the target repository remembers; nothing if the image of
/// this run goes to no registry.
std::optional<RecordCache> remembered_records(const Services& services);
/// Returns both, in the order of preference.
std::vector<RecordCache> record_caches(const Services& services);

/// Facts are the same for every name of a digest; the plan shows the requested name.
image::BaseFacts under_name(image::BaseFacts facts, const std::string& reference);

/// Returns a text for installed_files_from_json().
std::string to_json(const InstalledFiles& files);
/// Returns nothing if `text` is damaged.
std::optional<InstalledFiles> installed_files_from_json(std::string_view text);

}  // namespace autopack::executor
