#include "executor/probe.hpp"

#include "base/text.hpp"
#include "engine/transfer.hpp"
#include "executor/programs.hpp"
#include "image/file_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace autopack::executor {

namespace {

using engine::Docker;
using engine::LocalImage;

/// Returns the digests of `image` under the repository of `reference`.
std::vector<std::string> digests_under(const LocalImage& image, const image::Reference& reference) {
  std::vector<std::string> digests;
  for (const auto& name : image.repository_digests) {
    const auto at = name.find('@');
    const bool same = name.substr(0, at) == reference.repository() ||
                      name.substr(0, at) == reference.host + "/" + reference.path;
    if (at != std::string::npos && same) {
      digests.push_back(name.substr(at + 1));
    }
  }
  return digests;
}

/// The engine's knowledge of an image's origin: only the engine, its registry, or unknown.
enum class Origin { engine, registry, perhaps_registry };

Origin origin_of(Docker& docker, const image::Reference& reference, const LocalImage& local) {
  if (docker.info().podman) {
    // Podman's name for its own images. Others have a digest in any case.
    return reference.host == "localhost" ? Origin::engine : Origin::perhaps_registry;
  }
  if (!local.id_is_manifest) {
    return digests_under(local, reference).empty() ? Origin::engine : Origin::registry;
  }
  // BuildKit also adds the repository of a name that it only built from, and hosts lose their port.
  const auto repositories = docker.repositories_with(reference.tagged());
  const bool is_elsewhere =
      repositories && std::ranges::none_of(*repositories, [&](const std::string& repository) {
        return repository.ends_with("/" + reference.path);
      });
  return is_elsewhere ? Origin::engine : Origin::perhaps_registry;
}

/// Returns the part of an image's id that a tag uses.
std::string short_id(const std::string& id) {
  return id.substr(id.find(':') + 1).substr(0, 16);
}

LocalImage have_image(Docker& docker, const image::Reference& pinned, const std::string& platform) {
  const std::string name = pinned.with_digest(*pinned.digest);
  auto image = docker.inspect(name);
  if (!image || !platform_fits(image->platform, platform)) {
    docker.pull(pinned, platform);
    image = docker.inspect(name);
  }
  if (!image) {
    throw Error(ErrorKind::remote,
                fmt::format("the engine pulled `{}`, but does not have it", name));
  }
  return *image;
}

image::Reference pinned_to(image::Reference reference, const Digest& digest) {
  reference.digest = digest;
  return reference;
}

}  // namespace

image::BaseFacts probe_image_facts(Docker& docker,
                                   const std::string& local,
                                   const LocalImage& image,
                                   const std::string& platform) {
  image::BaseFacts facts{.image_id = non_empty(image.id),
                         .platform = image.platform,
                         .user = image.user,
                         .entrypoint = image.entrypoint,
                         .environment = image.environment};
  docker.with_files(local, platform, [&](engine::ImageFiles& files) {
    find_programs(facts, [&](const std::vector<std::string>& paths) { return files.probe(paths); });
  });
  return facts;
}

DigestNow digest_now(Docker& docker,
                     const image::Reference& reference,
                     const std::optional<std::string>& engines_own) {
  if (reference.digest) {
    return {.digest = reference.digest};
  }
  const auto local = docker.inspect(reference.tagged());
  const auto origin = local ? origin_of(docker, reference, *local) : Origin::registry;
  const bool is_in_doubt = origin == Origin::perhaps_registry;
  if (origin == Origin::engine || (is_in_doubt && local->id == engines_own)) {
    return {};
  }
  try {
    return {.digest = docker.resolve(reference)};
  } catch (Error& error) {
    // Docker Hub denies access to images that it lacks; another registry may have it.
    const bool needs_login =
        reference.names_registry() && engine::is_denied(join(error.causes(), ": "));
    if (is_in_doubt && error.kind() == ErrorKind::remote &&
        (local->id_is_manifest ? !needs_login : !reference.names_registry())) {
      return {.doubt = std::move(error)};
    }
    error.wrap(fmt::format("could not find out which image `{}` is now", reference.text));
    const auto known = local ? digests_under(*local, reference) : std::vector<std::string>{};
    if (!known.empty() && origin == Origin::registry) {
      error.hint(fmt::format("`{}@{}`, which the engine has, needs no registry",
                             reference.repository(), known.front()));
    }
    throw;
  }
}

image::BaseFacts probe_base(Docker& docker,
                            const image::Reference& reference,
                            const std::string& platform) {
  return probe_image(docker, reference, digest_now(docker, reference).digest, platform);
}

image::BaseFacts probe_image(Docker& docker,
                             const image::Reference& reference,
                             const std::optional<Digest>& digest,
                             const std::string& platform) {
  const std::string tagged = reference.tagged();
  const auto local = digest ? std::nullopt : docker.inspect(tagged);
  if (!digest && !local) {
    throw Error(ErrorKind::remote, fmt::format("the engine no longer has `{}`", reference.text));
  }
  const LocalImage image =
      digest ? have_image(docker, pinned_to(reference, *digest), platform) : *local;
  check_platform(image.platform, reference.text, platform);
  const std::string name = digest ? reference.with_digest(*digest) : tagged;
  image::BaseFacts facts = probe_image_facts(docker, name, image, platform);
  facts.reference = reference.text;
  facts.digest = digest;
  facts.vertex_prebuilt = image::is_vertex_prebuilt(reference.text);
  return facts;
}

std::optional<LocalImage> image_in_engine(Docker& docker, const image::BaseFacts& base) {
  const auto reference = image::Reference::parse(base.reference);
  const auto found =
      docker.inspect(base.digest ? reference.with_digest(*base.digest) : reference.tagged());
  // The digest alone is enough: in containerd's store it is the image's id, and facts that were
  // read there have no other. An index has several images, though, of which the engine has one.
  const bool is_pinned =
      found && base.digest && (found->id_is_manifest || found->platform == base.platform);
  return found && (is_pinned || found->id == base.image_id) ? found : std::nullopt;
}

BuildBase::BuildBase(Docker& docker, const image::BaseFacts& facts) : docker_{docker} {
  if (image::names_files(facts.reference)) {
    from_ = image::build_name(facts);
    const auto loaded = docker.inspect(from_);
    if (loaded && loaded->id_is_manifest) {
      name_for_build(loaded->id);
    }
    return;
  }
  const auto reference = image::Reference::parse(facts.reference);
  if (facts.digest) {
    from_ = reference.with_digest(*facts.digest);
    const auto image = have_image(docker, pinned_to(reference, *facts.digest), facts.platform);
    if (image.id_is_manifest) {
      name_for_build(image.id);
    }
    return;
  }
  const auto named = docker.inspect(reference.tagged());
  if (named && named->id_is_manifest) {
    // FROM uses the digest too, which shows whether the tag has moved.
    name_for_build(facts.image_id.value_or(""));
  } else if (named && named->id == facts.image_id) {
    from_ = reference.tagged();
  } else {
    // The tag moved after the facts were found, and FROM does not accept an image id.
    const std::string id = facts.image_id.value_or("");
    temporary_ = "autopack/base:" + short_id(id);
    docker.tag(id, image::Reference::parse(temporary_));
    from_ = temporary_;
  }
}

/// In containerd's store, BuildKit asks the registry of a name first, even with a digest, and uses
/// the engine's image only if there is no response. So the image gets a name whose registry refuses
/// immediately: a private name is sent to nobody, and no other image can replace it.
void BuildBase::name_for_build(const std::string& id) {
  std::random_device random;
  temporary_ = fmt::format("localhost:1/autopack/base:{}-{:08x}", short_id(id), random());
  docker_.tag(id, image::Reference::parse(temporary_));
  from_ = temporary_ + "@" + id;
}

BuildBase::~BuildBase() {
  if (!temporary_.empty()) {
    try {
      docker_.remove_image(temporary_);
    } catch (const std::exception&) {
      // A name that is left is harmless; only the build's result matters.
    }
  }
}

}  // namespace autopack::executor
