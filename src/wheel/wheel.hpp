#pragma once

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "python/version.hpp"
#include "wheel/texts.hpp"
#include "wheel/zip.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::wheel {

/// A wheel that can be installed: its archive is valid, and its name, its `.dist-info` and their
/// contents agree (binary distribution format of packaging.python.org).
class Wheel {
public:
  /// `file_name` is the name in an index or as the user wrote it, whatever the name in `path`.
  /// Throws Error(project) if the wheel is invalid, Error(environment) if it cannot be read.
  static Wheel open(const std::filesystem::path& path, const std::string& file_name);

  /// Returns the distribution's name as in the file name.
  const std::string& distribution() const { return distribution_; }

  /// Returns the version in METADATA.
  const python::Version& version() const { return version_; }

  const Metadata& metadata() const { return metadata_; }

  const Format& format() const { return format_; }

  const EntryPoints& entry_points() const { return entry_points_; }

  const std::vector<RecordRow>& record() const { return record_; }

  /// `NAME-VERSION.dist-info`.
  const std::string& dist_info() const { return dist_info_; }

  const Zip& zip() const { return zip_; }

  /// Returns oddities that do not prevent an installation.
  const Problems& warnings() const { return warnings_; }

  /// Like Zip::read for a member of zip(), and also checks the bytes against RECORD.
  void read(const Member& member, const Zip::Take& take, const Zip::Take& packed = {}) const;

private:
  explicit Wheel(Zip zip) : zip_{std::move(zip)} {}

  void find_dist_info();
  void read_texts();
  void check_names(const python::Version& said);
  void read_hashes();
  /// Returns a file of `.dist-info`, or nothing if it does not exist.
  std::optional<std::string> dist_info_text(const char* name, std::uint64_t limit) const;
  void warn(std::string message);

  Zip zip_;
  std::string distribution_{};
  std::string dist_info_{};
  python::Version version_{};
  Metadata metadata_{};
  Format format_{};
  EntryPoints entry_points_{};
  std::vector<RecordRow> record_{};
  std::vector<std::optional<ContentHash>> hashes_{};  ///< of each member, from RECORD
  Problems warnings_{};
};

}  // namespace autopack::wheel
