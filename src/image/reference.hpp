#pragma once

#include "base/digest.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::image {

/// An image name in docker's syntax: `[host[:port]/]path[:tag][@sha256:...]`.
struct Reference {
  std::string host{};  ///< `docker.io` if the text names no host
  std::string path{};  ///< `library/python`, `project/repository/image`
  std::optional<std::string> tag{};
  std::optional<Digest> digest{};
  std::string text{};  ///< as the user wrote it

  /// Throws Error(usage) that names the wrong part and explains how names are formed.
  static Reference parse(std::string_view text);
  /// Returns the message that parse would throw, or nothing if `text` is a valid reference.
  static std::optional<std::string> fault(std::string_view text);

  /// Returns `host/path` as docker prints it, without `docker.io/library/`.
  std::string repository() const;
  /// Returns repository() with `:tag`, or with `:latest` if there is neither a tag nor a digest.
  std::string tagged() const;
  /// Returns repository() with `@digest`.
  std::string with_digest(const Digest& content) const;
  std::string with_tag(std::string_view name) const;
  /// True if the text named a registry host, so the user chose the destination of a push.
  bool names_registry() const;
  /// True if the host is on loopback; plain HTTP is tried there.
  bool is_loopback() const;
};

/// Returns `text` as one path component of an image name: lower case, with `.` for other
/// characters; never empty.
std::string sanitize_component(std::string_view text);

}  // namespace autopack::image
