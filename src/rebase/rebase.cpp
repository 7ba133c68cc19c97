#include "rebase/rebase.hpp"

#include "base/digest.hpp"
#include "base/elapsed.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "build/direct/assembly.hpp"
#include "image/file_output.hpp"
#include "image/file_reference.hpp"
#include "image/reference.hpp"
#include "image/source.hpp"
#include "packaging/packaging.hpp"
#include "rebase/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace autopack::rebase {

namespace {

using packaging::Output;

/// The image, its base, and the base that it gets.
struct Parts {
  Opened image;
  Opened before;
  Opened after;
};

std::string platform_of(const Opened& opened) {
  return image::Configuration::parse(
             opened.source.configuration,
             fmt::format("the configuration of `{}`", printable(opened.text)))
      .platform();
}

/// A tag must not lose the other images of its index.
void refuse_index(Services& services, const Opened& image) {
  if (!image.reference) {
    return;
  }
  const auto platforms = platforms_of(services, *image.reference);
  if (platforms.size() > 1) {
    throw Error(ErrorKind::usage, fmt::format("`{}` has images for {}, and one image is moved",
                                              printable(image.text), join(platforms, ", ")))
        .hint(fmt::format("`--platform={}` takes that one", platforms.front()));
  }
}

/// Throws Error(remote) if `base` is not the recorded one.
void require_recorded(const Opened& image, const Opened& base, const RecordedBase& recorded) {
  if (base.source.digest != recorded.digest) {
    throw Error(ErrorKind::remote, fmt::format("`{}` is not the base of `{}`", printable(base.text),
                                               printable(image.text)))
        .cause(fmt::format("its digest is {}, and the image was built on {}",
                           base.source.digest.str(), recorded.digest.str()));
  }
}

constexpr auto* remedy_for_base = "`--current-base=BASE` names a place that has it";

Opened open_recorded(Services& services, const Opened& image, const RecordedBase& recorded) {
  if (!recorded.name) {
    throw Error(ErrorKind::remote, fmt::format("the base of `{}` was in files, and its labels do "
                                               "not say where",
                                               printable(image.text)))
        .cause("its digest is " + recorded.digest.str())
        .hint(remedy_for_base);
  }
  try {
    const auto name = image::Reference::parse(*recorded.name).with_digest(recorded.digest);
    return open(services, name, platform_of(image));
  } catch (Error& error) {
    error.wrap(fmt::format("the base of `{}` cannot be read", printable(image.text)));
    error.hint(remedy_for_base);
    throw;
  }
}

Parts open_all(Services& services, const Wish& wish) {
  auto image = open(services, wish.image, wish.platform.value_or("linux/amd64"));
  if (!wish.platform) {
    refuse_index(services, image);
  }
  const auto recorded = recorded_base(image.source);
  auto before = wish.current_base ? open(services, *wish.current_base, platform_of(image))
                                  : open_recorded(services, image, recorded);
  require_recorded(image, before, recorded);
  auto after = open(services, wish.onto, platform_of(image));
  return {.image = std::move(image), .before = std::move(before), .after = std::move(after)};
}

/// Throws Error(remote) with all reasons if the image does not fit on its new base.
void require_fit(Services& services, const Parts& parts) {
  auto reasons = unmovable(parts.image.source, parts.before.source);
  auto more = misfits(survey(services, parts.before, platform_of(parts.before)),
                      survey(services, parts.after, platform_of(parts.after)),
                      own_packages(parts.image.source, parts.before.source));
  reasons.insert(reasons.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  if (reasons.empty()) {
    return;
  }
  Error error(ErrorKind::remote,
              fmt::format("`{}` cannot be moved to `{}`, and has to be built again",
                          printable(parts.image.text), printable(parts.after.text)));
  for (auto& reason : reasons) {
    error.cause(std::move(reason));
  }
  throw std::move(error).hint(
      fmt::format("autopack build --executor-image-uri={}", printable(parts.after.text)));
}

image::Source moved_image(Services& services, const Parts& parts) {
  const std::map<std::string, std::string> labels{
      // The keys are of an image on the old base.
      {packaging::key_label, ""},
      {packaging::dependency_key_label, ""},
      {packaging::rebased_label, parts.image.source.digest.str()},
      // A path of this machine has no meaning elsewhere.
      {packaging::base_name_label, parts.after.reference ? parts.after.text : ""},
      {packaging::base_digest_label, parts.after.source.digest.str()}};
  auto base = parts.after.source;
  if (std::ranges::any_of(base.manifest.layers, image::is_plain_tar)) {
    base = build::compress_layers(services, std::move(base));
  }
  return rebased(parts.image.source, parts.before.source, base, labels);
}

/// Returns the repository of the result, with the tag that it gets; nothing if only files get it.
std::optional<image::Reference> target_of(const Wish& wish, const Parts& parts) {
  if (wish.target) {
    return image::Reference::parse(*wish.target);
  }
  if (!parts.image.reference || !wish.outputs.empty()) {
    return std::nullopt;
  }
  auto target = *parts.image.reference;
  target.tag.reset();
  target.digest.reset();
  return target;
}

void write_output(const Output& output,
                  const image::Source& image,
                  const std::optional<image::Reference>& target) {
  if (output.kind == Output::Kind::layout) {
    image::write_layout(image, output.path, output.tag);
    return;
  }
  std::vector<std::string> names;
  if (target && target->tag) {
    names.push_back(target->tagged());
  }
  sweep_leftovers(output.path);
  NewFile file{output.path};
  image::write_archive(image, names, 0, [&](std::string_view bytes) { file.write(bytes); });
  file.commit();
}

void report(Reporter& reporter,
            const Wish& wish,
            const Moved& moved,
            std::chrono::steady_clock::duration time) {
  if (moved.same_base) {
    reporter.done("Kept", fmt::format("{}: its base is `{}` already", printable(wish.image),
                                      printable(wish.onto)));
    return;
  }
  reporter.done(
      wish.dry_run ? "Checked" : "Rebased",
      fmt::format("{} onto {} in {}, {} uploaded", printable(wish.image), printable(wish.onto),
                  elapsed_text(time), human_size(moved.bytes_uploaded)));
}

/// Returns the digest of what the target gets, or the files; of the image itself if nothing is
/// made. An image found by an index, or with a manifest in another spelling, gets another digest
/// even on the same base.
Digest digest_of(const image::Source& result, bool is_sent, const Wish& wish) {
  if (is_sent) {
    return sha256(image::to_json(result.manifest));
  }
  return wish.outputs.empty() ? result.digest
                              : sha256(image::to_json(image::as_oci(result.manifest)));
}

NamedBase named(const Opened& base) {
  return {.name = base.text, .digest = base.source.digest};
}

}  // namespace

void check(const Wish& wish) {
  for (const auto& output : wish.outputs) {
    if (output.kind != Output::Kind::layout && output.kind != Output::Kind::archive) {
      throw Error(ErrorKind::usage,
                  fmt::format("`--output={}` is neither an OCI layout nor an archive",
                              printable(output.text)))
          .hint("`--output=oci:DIR[:TAG]` or `--output=tar:FILE`");
    }
  }
  constexpr auto* names = "`--tag=REGISTRY/REPOSITORY[:TAG]`";
  if (wish.target) {
    if (const auto fault = image::Reference::fault(*wish.target)) {
      throw Error(ErrorKind::usage, *fault).hint(names);
    }
    if (image::Reference::parse(*wish.target).digest) {
      throw Error(ErrorKind::usage,
                  fmt::format("`--tag={}` has a digest, but the result has its own",
                              printable(*wish.target)))
          .hint(names);
    }
  }
  if (image::names_files(wish.image) && !wish.target && wish.outputs.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is in files, and no place is named for the result",
                            printable(wish.image)))
        .hint("`--output=oci:DIR[:TAG]`, `--output=tar:FILE` or `--tag=REGISTRY/REPOSITORY`");
  }
}

Moved move_image(Services& services, const Wish& wish) {
  const auto began = std::chrono::steady_clock::now();
  const auto parts = open_all(services, wish);
  const bool is_same = is_same_image(parts.before.source, parts.after.source);
  if (!is_same) {
    require_fit(services, parts);
  }
  const auto result = is_same ? parts.image.source : moved_image(services, parts);
  const auto target = target_of(wish, parts);
  const bool is_sent = target && (!is_same || wish.target);
  const auto digest = digest_of(result, is_sent, wish);
  Moved moved{.from = parts.image.source.digest,
              .digest = digest,
              .uri = target ? target->with_digest(digest) : digest.str(),
              .before = named(parts.before),
              .after = named(parts.after),
              .same_base = is_same,
              .layers = result.manifest.layers,
              .base_layers = parts.after.source.manifest.layers.size()};
  if (!wish.dry_run) {
    if (is_sent) {
      moved.bytes_uploaded = send(services, result, *target, parts.image.reference,
                                  parts.after.reference, is_same ? 0 : moved.base_layers);
    }
    for (const auto& output : wish.outputs) {
      with_context(fmt::format("could not write `{}`", printable(output.text)),
                   [&] { write_output(output, result, target); });
      services.reporter->done("Wrote", printable(output.text));
    }
  }
  report(*services.reporter, wish, moved, std::chrono::steady_clock::now() - began);
  return moved;
}

nlohmann::json to_json(const Moved& moved) {
  auto layers = nlohmann::json::array();
  for (std::size_t i = 0; i < moved.layers.size(); ++i) {
    layers.push_back({{"digest", moved.layers[i].digest.str()},
                      {"size", moved.layers[i].size},
                      {"of_base", i < moved.base_layers}});
  }
  const auto base = [](const NamedBase& one) -> nlohmann::json {
    return {{"name", one.name}, {"digest", one.digest.str()}};
  };
  return {{"uri", moved.uri},
          {"digest", moved.digest.str()},
          {"from", moved.from.str()},
          {"same_base", moved.same_base},
          {"base", {{"before", base(moved.before)}, {"after", base(moved.after)}}},
          {"layers", std::move(layers)},
          {"bytes_uploaded", moved.bytes_uploaded}};
}

}  // namespace autopack::rebase
