#pragma once

#include "packaging/request.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::pipeline {

/// A generated Dockerfile and the ignore file beside it.
struct DockerfileText {
  std::string dockerfile{};
  std::string dockerignore{};
};

/// The previously written files, if they exist.
struct CommittedText {
  std::optional<std::string> dockerfile{};
  std::optional<std::string> dockerignore{};
};

/// Returns the text for `request`, with the last known facts of the base, or those in the
/// `committed` Dockerfile. With `pin`, names the base by digest; throws Error(environment) if it
/// has none. Keeps the `committed` ignore file if it is equivalent.
DockerfileText write_dockerfile(Services& services,
                                const packaging::Request& request,
                                bool pin,
                                const CommittedText& committed);

/// Returns `text` with a last line that contains its digest.
std::string seal(std::string text);

/// Returns true if `text` ends in such a line and was not changed since.
bool is_unedited(std::string_view text);

}  // namespace autopack::pipeline
