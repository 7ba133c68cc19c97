#pragma once

#include "base/environment.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace autopack::image {

/// 1980-01-02 00:00 UTC, seconds since 1970: the oldest day Python's zipfile takes in every zone.
inline constexpr std::int64_t default_file_time = 315'619'200;

/// The time every file of an image carries: SOURCE_DATE_EPOCH, else default_file_time. Throws
/// Error(usage) when the variable is not a number of seconds that a tar header can hold.
std::int64_t file_time(const Environment& environment);

/// Writes a tar (ustar, with pax records where ustar ends) in one pass. The same calls give the
/// same bytes everywhere: owner 0:0 without names, one time, no extended attributes.
class TarWriter {
public:
  using Take = std::function<void(std::string_view bytes)>;
  /// Hands a file's contents to `take`, piece by piece.
  using Contents = std::function<void(const Take& take)>;

  explicit TarWriter(Take out, std::int64_t time = default_file_time);

  /// `path` is relative, `/`-separated, in any bytes but NUL; a trailing `/` is added.
  void add_directory(std::string_view path, unsigned mode = 0755);
  /// Throws Error(project) when `contents` gives more or fewer bytes than `size`.
  void add_file(std::string_view path, unsigned mode, std::uint64_t size, const Contents& contents);
  void add_file(std::string_view path, unsigned mode, std::string_view text);
  /// A file whose bytes do not come this way: `write` hands exactly `size` of them to whatever
  /// `out` hands the rest to.
  void add_file_around(std::string_view path,
                       unsigned mode,
                       std::uint64_t size,
                       const std::function<void()>& write);
  /// `target` is written as it is.
  void add_symlink(std::string_view path, std::string_view target);
  /// The end marker; nothing can be added after it.
  void finish();

  /// Bytes given to `out` so far.
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

/// The mode every file of an image gets: 0755 or 0644.
constexpr unsigned file_mode(bool executable) {
  return executable ? 0755U : 0644U;
}

}  // namespace autopack::image
