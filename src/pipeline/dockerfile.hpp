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

/// The files that were written before, as far as they are there.
struct CommittedText {
  std::optional<std::string> dockerfile{};
  std::optional<std::string> dockerignore{};
};

/// The text for `request`; the base's facts as last seen, or as the `committed` Dockerfile records
/// them. With `pin` the base stands there by digest: Error(environment) when it has none. The
/// ignore file is the `committed` one where that is as good.
DockerfileText write_dockerfile(Services& services,
                                const packaging::Request& request,
                                bool pin,
                                const CommittedText& committed);

/// `text` with a last line that holds its digest.
std::string seal(std::string text);

/// True when `text` ends in such a line and nothing was changed since.
bool is_unedited(std::string_view text);

}  // namespace autopack::pipeline
