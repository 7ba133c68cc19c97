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

/// The text for `request`; the base's facts as last seen, or as `committed`, a Dockerfile that was
/// written before, records them. With `pin` the base stands there by digest: Error(environment)
/// when it has none. `committed_ignore`, the ignore file beside it, is the answer's where it is as
/// good.
DockerfileText write_dockerfile(Services& services,
                                const packaging::Request& request,
                                bool pin,
                                const std::optional<std::string>& committed,
                                const std::optional<std::string>& committed_ignore = {});

/// `text` with a last line that holds its digest.
std::string seal(std::string text);

/// True when `text` ends in such a line and nothing was changed since.
bool is_unedited(std::string_view text);

}  // namespace autopack::pipeline
