#pragma once

#include "base/background.hpp"
#include "packaging/packaging.hpp"
#include "registry/client.hpp"
#include "services/services.hpp"

#include <memory>
#include <optional>
#include <string>

namespace autopack::publish {

/// The image last pushed to a repository from here. As long as it exists, its layers are not sent
/// again.
struct LastPushed {
  image::Manifest manifest;
  Digest digest;
};

/// The parts of an image that a repository has; absent ones are not there.
struct TargetContents {
  std::optional<image::Descriptor> image{};         ///< under the key's tag
  std::optional<image::Descriptor> dependencies{};  ///< under their key's tag
  bool asked_dependencies{true};
  std::optional<image::Descriptor> own{};  ///< under the user's tag, if `asked_own`
  bool asked_own{false};
  std::optional<LastPushed> last{};  ///< if known on this machine
};

/// The repository that an image is pushed to.
class Target {
public:
  /// Sends all queries that `work` will need in the background, in one round trip. Asks for the
  /// image pushed last and for the dependencies only if something changed or the dependencies may
  /// be too old, and for the user's tag only if nothing changed. With `--no-cache`, asks for
  /// nothing.
  Target(Services& services, const packaging::Packaging& work);

  registry::Repository& repository() { return *repository_; }

  /// For code that reads from it later.
  std::shared_ptr<registry::Repository> shared_repository() const { return repository_; }

  /// Waits for the answers. Throws the error of a query.
  TargetContents& contents();

  /// True if the image of `work` is there under its key. Then it also fetches what moving the
  /// user's tag needs.
  bool has_image(const packaging::Packaging& work);

  /// Returns the image's manifest, if has_image() found that the user's tag names something else.
  const std::optional<registry::StoredManifest>& to_be_tagged() const { return to_be_tagged_; }

private:
  std::shared_ptr<registry::Repository> repository_;
  Background<TargetContents> asked_{};
  std::optional<TargetContents> contents_{};
  std::optional<registry::StoredManifest> to_be_tagged_{};
};

}  // namespace autopack::publish
