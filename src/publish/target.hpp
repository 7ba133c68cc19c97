#pragma once

#include "base/background.hpp"
#include "packaging/packaging.hpp"
#include "registry/client.hpp"
#include "services/services.hpp"

#include <memory>
#include <optional>
#include <string>

namespace autopack::publish {

/// What was pushed last to a repository from here. Its layers are not sent again when it is there.
struct LastPushed {
  image::Manifest manifest;
  Digest digest;
};

/// What a repository has of an image; each none when it is not there.
struct TargetContents {
  std::optional<image::Descriptor> image{};         ///< under the key's tag
  std::optional<image::Descriptor> dependencies{};  ///< under their key's tag
  bool asked_dependencies{true};
  std::optional<image::Descriptor> own{};  ///< under the user's tag, when `asked_own`
  bool asked_own{false};
  std::optional<LastPushed> last{};  ///< as far as that is known here
};

/// The repository that an image goes to.
class Target {
public:
  /// Asks in the background for all of `work` that will be needed, in one round trip: what was
  /// pushed last and the dependencies only when something changed or these may be too old, the
  /// user's tag only when nothing did. With `--no-cache` for nothing.
  Target(Services& services, const packaging::Packaging& work);

  registry::Repository& repository() { return *repository_; }

  /// For those who read from it later.
  std::shared_ptr<registry::Repository> shared_repository() const { return repository_; }

  /// Waits for the answers. Throws what asking threw.
  TargetContents& contents();

  /// True when the image of `work` is there under its key, with what it takes to move the user's
  /// tag to it.
  bool has_image(const packaging::Packaging& work);

  /// The image's manifest, once has_image() saw that the user's tag names something else.
  const std::optional<registry::StoredManifest>& to_be_tagged() const { return to_be_tagged_; }

private:
  std::shared_ptr<registry::Repository> repository_;
  Background<TargetContents> asked_{};
  std::optional<TargetContents> contents_{};
  std::optional<registry::StoredManifest> to_be_tagged_{};
};

}  // namespace autopack::publish
