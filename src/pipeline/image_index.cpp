#include "base/json.hpp"
#include "base/text.hpp"
#include "build/cloud/cloud_builder.hpp"
#include "executor/executor_image.hpp"
#include "image/file_output.hpp"
#include "image/manifest.hpp"
#include "pipeline/choose_builder.hpp"
#include "pipeline/package.hpp"
#include "pipeline/planning.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace autopack::pipeline {

namespace {

using packaging::Output;

/// Returns the general obstacles to an index: only a registry and an OCI layout can contain one.
Problems places_that_take_one(const packaging::Wanted& wanted) {
  Problems problems;
  const auto refuse_output = [&](std::string message) {
    problems.push_back({.message = std::move(message),
                        .origin = "`--output`",
                        .hints = {"`--output=oci:DIR` writes the images of all platforms",
                                  "one `--platform` at a time makes each by itself"}});
  };
  for (const auto& output : wanted.request.outputs) {
    if (output.kind == Output::Kind::archive) {
      refuse_output("an archive for `docker load` holds the image of one platform");
    } else if (output.kind == Output::Kind::bundle || output.kind == Output::Kind::squashfs) {
      refuse_output("a bundle or squashfs holds the files of one platform");
    } else if (output.kind == Output::Kind::docker) {
      refuse_output("the docker engine keeps the image of one platform under a name");
    }
  }
  if (!wanted.is_pushed() && wanted.request.outputs.empty()) {
    problems.push_back(
        {.message = "several platforms make an index of images, which the docker engine keeps none "
                    "of",
         .origin = "`--platform`",
         .hints = {"`--output-image-uri REGISTRY/NAME` names a registry for it",
                   "`--output=oci:DIR` writes it to a directory",
                   "one `--platform` at a time leaves an image in the docker engine"}});
  }
  return problems;
}

/// Throws Error(usage) with all obstacles to the index.
void refuse(Services& services, const std::vector<WantedPtr>& all) {
  Problems problems = places_that_take_one(*all.front());
  if (problems.empty()) {
    for (const auto& wanted : all) {
      const auto& platform = wanted->request.options.platform;
      executor::ExecutorImage executor{services, wanted->request};
      const auto work = plan_packaging(services, wanted, executor.confirmed());
      const auto need = need_of_engine(services, work);
      if (need && wanted->request.uses_cloud_build) {
        if (auto obstacle = build::obstacle_to_cloud(services, *wanted)) {
          problems.push_back({.message = *std::move(obstacle), .origin = "`--builder`"});
        }
      } else if (need && services.docker().info().platform != platform) {
        problems.push_back(
            {.message = fmt::format("the docker engine, which is one of `{}`, builds no image for "
                                    "`{}`, and needs to: {}",
                                    services.docker().info().platform, printable(platform), *need),
             .origin = "`--platform`"});
      }
    }
  }
  throw_if_errors(problems, ErrorKind::usage);
}

/// Returns the index's entry of a pushed image.
image::IndexEntry entry_of(registry::Repository& repository, const ImageIndex::Entry& made) {
  auto found = repository.head_manifest(made.image.digest.value().str());
  if (!found) {
    throw Error(ErrorKind::remote, fmt::format("the registry lost `{}`", made.image.uri()));
  }
  return {.manifest = *std::move(found), .platform = made.platform};
}

/// Returns the temporary tag of one platform's image in a layout, until all images are there. An
/// index may go to several outputs, which may be one layout.
std::string part_tag(std::size_t output, const std::string& platform) {
  return fmt::format("autopack-part-{}-{}", output, replace_all(platform, "/", "-"));
}

/// Returns `wanted` without the parts of the index: the user's tags, in the registry and in
/// layouts.
WantedPtr part_of(const packaging::Wanted& wanted) {
  auto part = std::make_shared<packaging::Wanted>(wanted);
  part->name.reference.tag.reset();
  auto& request = part->request;
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    auto& output = request.outputs[i];
    output.tag = part_tag(i, request.options.platform);
    output.text += " for " + request.options.platform;
  }
  return part;
}

/// Pushes the index to the registry of `name`; returns its digest.
Digest push_index(Services& services, const packaging::ImageName& name, const ImageIndex& index) {
  const auto repository = open_target(services, name);
  auto entries = nlohmann::json::array();
  for (const auto& made : index.images) {
    entries.push_back(image::index_entry(entry_of(*repository, made)));
  }
  const std::string text = write_json(image::index_of(std::move(entries)));
  const registry::StoredManifest stored{.media_type = std::string{image::media_type::oci_index},
                                        .text = text,
                                        .digest = sha256(text)};
  repository->put_manifest(stored, index.tag);
  if (name.reference.tag) {
    repository->put_manifest(stored, *name.reference.tag);
  }
  return stored.digest;
}

/// Returns the tags that part_of() gives the images of `all` in the layout number `output`.
std::vector<std::string> part_tags(std::size_t output, const std::vector<WantedPtr>& all) {
  std::vector<std::string> tags;
  for (const auto& one : all) {
    tags.push_back(part_tag(output, one->request.options.platform));
  }
  return tags;
}

ImageIndex make_index(Services& services, const std::vector<WantedPtr>& all) {
  const auto& wanted = *all.front();
  ImageIndex index{.repository = wanted.name.reference.repository()};
  std::vector<std::string> platforms;
  std::string keys;
  for (const auto& one : all) {
    platforms.push_back(one->request.options.platform);
    index.images.push_back(
        {.platform = platforms.back(), .image = package(services, part_of(*one))});
    keys += index.images.back().image.tag + "\n";
  }
  index.tag = packaging::key_tag(sha256(keys).hex());
  const auto reported = join(platforms, " and ");
  if (wanted.is_pushed()) {
    index.is_pushed = true;
    index.digest = push_index(services, wanted.name, index);
    services.reporter->done("Indexed", fmt::format("{}: {}", index.uri(), reported));
  }
  for (std::size_t i = 0; i < wanted.request.outputs.size(); ++i) {
    const auto& output = wanted.request.outputs[i];
    const auto digest = image::join_layout(output.path, part_tags(i, all), output.tag);
    index.digest = index.digest.value_or(digest);
    services.reporter->done("Indexed", fmt::format("{}: {}", printable(output.text), reported));
  }
  return index;
}

}  // namespace

ImageIndex package_index(Services& services, const std::vector<WantedPtr>& all) {
  refuse(services, all);
  try {
    return make_index(services, all);
  } catch (...) {
    const auto& outputs = all.front()->request.outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      image::discard_parts(outputs[i].path, part_tags(i, all));
    }
    throw;
  }
}

nlohmann::json to_json(const ImageIndex& index) {
  auto platforms = nlohmann::json::object();
  for (const auto& made : index.images) {
    platforms[made.platform] = packaging::to_json(made.image);
  }
  return {{"uri", index.uri()},
          {"digest", index.digest->str()},
          {"tag", index.tag},
          {"platforms", std::move(platforms)}};
}

}  // namespace autopack::pipeline
