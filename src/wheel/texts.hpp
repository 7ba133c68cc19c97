#pragma once

#include "base/content_hash.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::wheel {

/// The contents of `METADATA`.
struct Metadata {
  std::string name{};
  std::string version{};
  std::vector<std::string> requires_dist{};  ///< requirements (PEP 508), unparsed
  std::optional<std::string> requires_python{};
  std::vector<std::string> provides_extra{};
};

/// The format version in `WHEEL`.
struct Format {
  int major{0};
  int minor{0};
  bool root_is_purelib{false};
};

/// A line of `RECORD`.
struct RecordRow {
  std::string path{};
  std::optional<std::string> hash{};  ///< `sha256=...`
  std::optional<std::string> size{};  ///< a number

  auto operator<=>(const RecordRow&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// A launcher that an installation makes: `NAME = MODULE:CALLABLE`.
struct EntryPoint {
  std::string name{};
  std::string module{};
  std::string callable{};  ///< `main`, or `App.run`
};

struct EntryPoints {
  std::vector<EntryPoint> console{};
  std::vector<EntryPoint> gui{};
};

/// Throws Error(project) if `text` has no name or no version.
Metadata read_metadata(std::string_view text);

/// Throws Error(project) if `text` has no format version, or one that is not 1.x.
Format read_format(std::string_view text);

/// Returns the rows as Python's csv module reads them. Throws Error(project) if `text` is damaged.
std::vector<RecordRow> read_record(std::string_view text);

/// Writes the rows sorted, as pip does.
std::string write_record(std::vector<RecordRow> rows);

/// Returns the SHA-256 in a row, or nothing if there is none. Throws Error(project) if it is not a
/// valid SHA-256.
std::optional<ContentHash> recorded_hash(const RecordRow& row);

/// Returns `sha256=...` for `bytes`.
std::string record_hash(std::string_view bytes);

/// Returns the programs of `entry_points.txt`, sorted; of a repeated name, the last entry. Throws
/// Error(project) if one of them cannot be made.
EntryPoints read_entry_points(std::string_view text);

}  // namespace autopack::wheel
