#include "executor/probe.hpp"

#include "base/text.hpp"
#include "image/file_reference.hpp"
#include "image/programs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::executor {

namespace {

using engine::Docker;
using engine::LocalImage;

/// The digests that `image` has under the repository of `reference`.
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

/// None when the daemon's own image is the one to take: it came from no registry.
std::optional<Digest> find_digest(Docker& docker,
                                  const image::Reference& reference,
                                  const std::optional<LocalImage>& local) {
  if (reference.digest) {
    return reference.digest;
  }
  // Podman gives a digest to what it made itself, too.
  const bool tells_origin = !docker.info().podman;
  const auto known = local ? digests_under(*local, reference) : std::vector<std::string>{};
  if (local && tells_origin && known.empty()) {
    return std::nullopt;
  }
  // Podman's name for what it has without any registry.
  if (local && !tells_origin && reference.host == "localhost") {
    return std::nullopt;
  }
  try {
    return docker.resolve(reference);
  } catch (Error& error) {
    if (local && !tells_origin && !reference.names_registry() &&
        error.kind() == ErrorKind::remote) {
      return std::nullopt;
    }
    error.wrap(fmt::format("could not find out which image `{}` is now", reference.text));
    if (!known.empty()) {
      error.hint(fmt::format("`{}@{}`, which the engine has, needs no registry",
                             reference.repository(), known.front()));
    }
    throw;
  }
}

LocalImage have_image(Docker& docker, const image::Reference& pinned, const std::string& platform) {
  const std::string name = pinned.with_digest(*pinned.digest);
  auto image = docker.inspect(name);
  if (!image || !image::platform_fits(image->platform, platform)) {
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
    image::find_programs(facts,
                         [&](const std::vector<std::string>& paths) { return files.probe(paths); });
  });
  return facts;
}

image::BaseFacts probe_base(Docker& docker,
                            const image::Reference& reference,
                            const std::string& platform) {
  const std::string tagged = reference.tagged();
  const auto local = reference.digest ? std::nullopt : docker.inspect(tagged);
  const auto digest = find_digest(docker, reference, local);
  const LocalImage image =
      digest ? have_image(docker, pinned_to(reference, *digest), platform) : *local;
  image::check_platform(image.platform, reference.text, platform);
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
  return found && found->id == base.image_id ? found : std::nullopt;
}

BuildBase::BuildBase(Docker& docker, const image::BaseFacts& facts) : docker_{docker} {
  if (image::names_files(facts.reference)) {
    from_ = image::build_name(facts);
    return;
  }
  const auto reference = image::Reference::parse(facts.reference);
  if (facts.digest) {
    from_ = reference.with_digest(*facts.digest);
    have_image(docker, pinned_to(reference, *facts.digest), facts.platform);
    return;
  }
  const auto named = docker.inspect(reference.tagged());
  if (named && named->id == facts.image_id) {
    from_ = reference.tagged();
    return;
  }
  // The tag moved on after the facts were found, and FROM takes no image id.
  const std::string id = facts.image_id.value_or("");
  from_ = "autopack/base:" + id.substr(id.find(':') + 1).substr(0, 16);
  docker.tag(id, image::Reference::parse(from_));
  temporary_ = true;
}

BuildBase::~BuildBase() {
  if (temporary_) {
    try {
      docker_.remove_image(from_);
    } catch (const Error&) {
      // A name that stays behind harms nobody; the build's own outcome is what counts.
    }
  }
}

}  // namespace autopack::executor
