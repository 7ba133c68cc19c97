#pragma once

#include "packaging/packaging.hpp"
#include "packaging/request.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::pipeline {

/// Returns the `.dockerignore` of a Dockerfile with which `docker build` uses the files of `work`:
/// the rules in docker's syntax, then by path what they cannot express.
std::string dockerignore_text(const packaging::Packaging& work);

/// Returns a `.dockerignore` for a project with which the image contains the same files of `work`
/// as without: git's rules if they apply, and other exclusions by path. Omits the built-in rules;
/// empty if nothing else is excluded.
std::string starter_ignore_text(const packaging::Packaging& work);

/// Returns whether `committed` is equivalent to `text`: it has the same rules, and selects the
/// files of `work`, though it may name other paths.
bool is_as_good(std::string_view committed,
                std::string_view text,
                const packaging::Packaging& work);

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
