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

/// A wheel that can be installed: its archive is sound, its name, its `.dist-info` and what that
/// says fit each other (binary distribution format of packaging.python.org).
class Wheel {
public:
  /// `file_name` is what an index or the user calls it, whatever `path` is called. Throws
  /// Error(project) that says what is wrong with it, Error(environment) when it cannot be read.
  static Wheel open(const std::filesystem::path& path, const std::string& file_name);

  /// The distribution's name as the file's name writes it.
  const std::string& distribution() const { return distribution_; }

  /// As METADATA says it.
  const python::Version& version() const { return version_; }

  const Metadata& metadata() const { return metadata_; }

  const Format& format() const { return format_; }

  const EntryPoints& entry_points() const { return entry_points_; }

  const std::vector<RecordRow>& record() const { return record_; }

  /// `NAME-VERSION.dist-info`.
  const std::string& dist_info() const { return dist_info_; }

  const Zip& zip() const { return zip_; }

  /// What is odd, and no reason to refuse it.
  const Problems& warnings() const { return warnings_; }

  /// As Zip::read of a member of zip(); the bytes have to be those that RECORD tells of, too.
  void read(const Member& member, const Zip::Take& take, const Zip::Take& packed = {}) const;

private:
  explicit Wheel(Zip zip) : zip_{std::move(zip)} {}

  void find_dist_info();
  void read_texts();
  void check_names(const python::Version& said);
  void read_hashes();
  /// A file of `.dist-info`; none when there is none.
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
  std::vector<std::optional<ContentHash>> hashes_{};  ///< of each member, as RECORD tells it
  Problems warnings_{};
};

}  // namespace autopack::wheel
