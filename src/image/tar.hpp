#pragma once

#include "base/environment.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace autopack::image {

/// 1980-01-02 00:00 UTC in seconds since 1970: the first day that Python's zipfile accepts in every
/// time zone.
inline constexpr std::int64_t default_file_time = 315'619'200;

/// Returns the time of every file in an image: SOURCE_DATE_EPOCH, else default_file_time. Throws
/// Error(usage) if the variable is not a number of seconds that fits into a tar header.
std::int64_t file_time(const Environment& environment);

/// Writes a tar (ustar, with pax records where ustar does not suffice) in one pass. The same calls
/// give the same bytes everywhere: owner 0:0 without names, one time, no extended attributes.
class TarWriter {
public:
  using Take = std::function<void(std::string_view bytes)>;
  /// Passes a file's contents to `take`, piece by piece.
  using Contents = std::function<void(const Take& take)>;

  explicit TarWriter(Take out, std::int64_t time = default_file_time);

  /// `path` is relative and `/`-separated; it may contain any byte except NUL. A trailing `/` is
  /// added.
  void add_directory(std::string_view path, unsigned mode = 0755);
  /// Throws Error(project) if `contents` gives more or fewer bytes than `size`.
  void add_file(std::string_view path, unsigned mode, std::uint64_t size, const Contents& contents);
  void add_file(std::string_view path, unsigned mode, std::string_view text);
  /// Adds a file whose bytes bypass this writer: `write` passes exactly `size` bytes directly to
  /// the consumer of `out`.
  void add_file_around(std::string_view path,
                       unsigned mode,
                       std::uint64_t size,
                       const std::function<void()>& write);
  /// Writes `target` unchanged.
  void add_symlink(std::string_view path, std::string_view target);
  /// `target` is the path of an earlier file.
  void add_hard_link(std::string_view path, std::string_view target);

  /// Sets the time of the entries that follow.
  void set_time(std::int64_t time) { time_ = time; }

  /// Writes the end marker; no calls are allowed after it.
  void finish();

  /// Returns the number of bytes passed to `out` so far.
  std::uint64_t size() const { return size_; }

private:
  struct Header;

  void add_header(const Header& header);
  void add_pax_records(const Header& header);
  void write_block(const Header& header);
  void write(std::string_view bytes);
  void pad();

  Take out_;
  std::int64_t time_;
  std::uint64_t size_{0};
};

/// Returns the mode of every file in an image: 0755 or 0644.
constexpr unsigned file_mode(bool executable) {
  return executable ? 0755U : 0644U;
}

}  // namespace autopack::image
