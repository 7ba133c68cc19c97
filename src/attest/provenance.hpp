#pragma once

#include "attest/statement.hpp"
#include "base/digest.hpp"
#include "packaging/settings.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::attest {

/// An input of an image (a ResourceDescriptor of in-toto).
struct Input {
  enum class Role { executor_image, source, wheel, resolution };

  Role role{Role::wheel};
  std::string name{};                           ///< `numpy-2.1.0-...whl`, `python:3.11`
  std::string uri{};                            ///< without a login; empty if it has none
  std::map<std::string, std::string> digest{};  ///< `sha256`, `gitCommit`, in hexadecimal digits
  std::optional<std::string> content{};         ///< of a resolution: the lock that uv made

  bool operator==(const Input&) const = default;
};

/// The project's files.
struct Source {
  std::string kind{"worktree"};  ///< `worktree`, `index` or `commit`
  std::string directory{};       ///< in the repository, without a slash at the end; "" for its root
  std::optional<std::string> commit{};  ///< absent: in no repository, or before its first commit
  std::optional<std::string> repository{};  ///< URL of its remote, without a login
  bool is_dirty{false};                     ///< the files differ from the commit

  bool operator==(const Source&) const = default;
};

/// How an image was made: what a rebuild needs (SLSA provenance 1.0, build definition), without
/// secrets.
struct Provenance {
  packaging::Settings settings{};  ///< with inferred values
  std::string platform{};
  std::string engine{};                            ///< `direct`, `docker`, `cloud-build`
  std::string resolver{};                          ///< `uv`, `engine`
  bool compiles_bytecode{false};                   ///< `--compile-bytecode`
  bool labels_git{false};                          ///< `--label-git`
  std::optional<std::string> dockerfile{};         ///< `--dockerfile`, the user's own
  std::optional<std::string> templates{};          ///< `--templates`
  std::optional<std::string> source_date_epoch{};  ///< the variable
  Source source{};
  std::string key{};                      ///< of the image
  std::string dependency_key{};           ///< of its dependency image
  std::string version{};                  ///< of autopack
  std::optional<std::string> finished{};  ///< when, in RFC 3339 format
  std::vector<Input> inputs{};

  /// Returns the first input with `role`, or null.
  const Input* input(Input::Role role) const;

  bool operator==(const Provenance&) const = default;
};

/// Returns the predicate of a statement.
nlohmann::json to_json(const Provenance& provenance);

/// Returns the provenance in the predicate of `statement`. Throws Error(remote) that names `what`
/// if it has another type, or autopack did not write it.
Provenance provenance_of(const Statement& statement, const std::string& what);

}  // namespace autopack::attest
