#pragma once

#include "base/digest.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::image {

/// The name of an image as docker reads it: `[host[:port]/]path[:tag][@sha256:...]`.
struct Reference {
  std::string host{};  ///< `docker.io` when the text names none
  std::string path{};  ///< `library/python`, `project/repository/image`
  std::optional<std::string> tag{};
  std::optional<Digest> digest{};
  std::string text{};  ///< as the user wrote it

  /// Throws Error(usage) that says which part is wrong and how names are formed.
  static Reference parse(std::string_view text);
  /// What parse would say; none when `text` is a valid reference.
  static std::optional<std::string> fault(std::string_view text);

  /// `host/path` as docker prints it: `docker.io/library/` is left out.
  std::string repository() const;
  /// repository() with `:tag`; `:latest` when there is neither tag nor digest.
  std::string tagged() const;
  /// repository() with `@digest`.
  std::string with_digest(const Digest& content) const;
  std::string with_tag(std::string_view name) const;
  /// True when the text named a registry host (so that a push goes somewhere meant).
  bool names_registry() const;
  /// True when the host is on loopback: plain HTTP is tried.
  bool is_loopback() const;
};

/// `text` as one path component of an image name: lower case, other characters made `.`, never
/// empty.
std::string sanitize_component(std::string_view text);

}  // namespace autopack::image
