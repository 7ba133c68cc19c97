#pragma once

#include "base/content_hash.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::wheel {

/// What `METADATA` says of a distribution.
struct Metadata {
  std::string name{};
  std::string version{};
  std::vector<std::string> requires_dist{};  ///< requirements (PEP 508), as they are written
  std::optional<std::string> requires_python{};
  std::vector<std::string> provides_extra{};
};

/// What `WHEEL` says of the archive.
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

/// A program that an installation makes: `NAME = MODULE:CALLABLE`.
struct EntryPoint {
  std::string name{};
  std::string module{};
  std::string callable{};  ///< `main`, or `App.run`
};

struct EntryPoints {
  std::vector<EntryPoint> console{};
  std::vector<EntryPoint> gui{};
};

/// Throws Error(project) when `text` has no name or no version.
Metadata read_metadata(std::string_view text);

/// Throws Error(project) when `text` tells no version of the format, or one that is not 1.x.
Format read_format(std::string_view text);

/// The rows as Python's csv module reads them. Throws Error(project) when `text` is damaged.
std::vector<RecordRow> read_record(std::string_view text);

/// The rows sorted, as pip writes them.
std::string write_record(std::vector<RecordRow> rows);

/// The SHA-256 that a row tells; none when it tells none. Throws Error(project) when it is none.
std::optional<ContentHash> recorded_hash(const RecordRow& row);

/// `sha256=...` of `bytes`.
std::string record_hash(std::string_view bytes);

/// The programs of `entry_points.txt`, sorted; of a name that stands there twice the last. Throws
/// Error(project) when one cannot be made.
EntryPoints read_entry_points(std::string_view text);

}  // namespace autopack::wheel
