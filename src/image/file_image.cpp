#include "image/file_image.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "image/members.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::image {

namespace {

using nlohmann::json;
using Files = std::shared_ptr<const Members>;

std::string quote(const FileReference& reference) {
  return "`" + printable(reference.text) + "`";
}

std::string blob_name(const Digest& digest) {
  return "blobs/sha256/" + digest.hex();
}

std::string text_of(const Members& files, const std::string& name, const std::string& where) {
  auto text = files.text(name);
  if (!text) {
    throw Error(ErrorKind::environment, fmt::format("{} holds no `{}`", where, printable(name)));
  }
  return std::move(*text);
}

/// Reads a manifest or a configuration.
std::string read_blob(const Members& files, const Descriptor& blob, const std::string& where) {
  const auto text = files.text(blob_name(blob.digest));
  if (!text) {
    throw Error(ErrorKind::environment,
                fmt::format("{} has no blob `{}`", where, blob.digest.str()));
  }
  if (sha256(*text) != blob.digest) {
    throw Error(ErrorKind::environment,
                fmt::format("blob `{}` of {} is damaged", blob.digest.str(), where))
        .cause("its content has another digest");
  }
  return *text;
}

/// Returns the entry of a layout's index that `reference` names.
const IndexEntry& entry_for(const std::vector<IndexEntry>& entries,
                            const FileReference& reference,
                            const std::string& platform) {
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    if (reference.digest ? entry.manifest.digest == *reference.digest
                         : reference.tag && entry.name == reference.tag) {
      return entry;
    }
    names.push_back(entry.name.value_or(entry.manifest.digest.str()));
  }
  const bool chosen = reference.digest || reference.tag;
  // One image may have several names.
  const bool is_one = !entries.empty() && std::ranges::all_of(entries, [&](const auto& entry) {
    return entry.manifest.digest == entries.front().manifest.digest;
  });
  if (!chosen && is_one) {
    return entries.front();
  }
  const auto has_platform = [](const IndexEntry& entry) { return entry.platform.has_value(); };
  if (!chosen && !entries.empty() && std::ranges::all_of(entries, has_platform) &&
      std::ranges::all_of(names, [](const auto& name) { return name.starts_with("sha256:"); })) {
    return choose(entries, platform, quote(reference));
  }
  throw Error(ErrorKind::usage,
              chosen ? fmt::format("{} is not in the layout", quote(reference))
                     : fmt::format("{} holds {} images", quote(reference), entries.size()))
      .cause(names.empty() ? std::string{"it is empty"} : "it has `" + join(names, "`, `") + "`")
      .hint("`oci:DIR:TAG` and `oci:DIR@sha256:DIGEST` name one of them");
}

Source open_layout(const Files& files,
                   const FileReference& reference,
                   const std::string& platform) {
  const std::string where = quote(reference);
  const auto entries = parse_index(text_of(*files, "index.json", where), "the index of " + where);
  Descriptor chosen = entry_for(entries, reference, platform).manifest;
  const Digest digest = chosen.digest;
  std::string text = read_blob(*files, chosen, where);
  if (is_index(text)) {
    chosen = choose(parse_index(text, "an index of " + where), platform, where).manifest;
    text = read_blob(*files, chosen, where);
  }
  auto manifest = parse_manifest(text, "the manifest of " + where);
  auto configuration = read_blob(*files, manifest.config, where);
  Source source{.name = reference.text,
                .digest = digest,
                .manifest = std::move(manifest),
                .configuration = std::move(configuration),
                .open = [files, where](const Descriptor& layer) {
                  return verified(files->open(blob_name(layer.digest)), layer, where);
                }};
  check_layers(source);
  return source;
}

/// The first bytes of a compressed layer: RFC 1952, RFC 8878.
std::string media_type_of(std::string_view head) {
  return std::string{head.starts_with("\x1f\x8b") ? media_type::oci_layer
                     : head.starts_with("\x28\xb5\x2f\xfd")
                         ? std::string_view{"application/vnd.oci.image.layer.v1.tar+zstd"}
                         : media_type::oci_plain_layer};
}

/// Determines what an archive of `docker save` does not record about a layer.
Descriptor describe(const Members& files, const std::string& name, const Digest& diff_id) {
  Descriptor layer{.digest = diff_id, .size = files.size(name).value_or(0)};
  std::string head(4, '\0');
  head.resize(files.open(name)(head.data(), head.size()));
  layer.media_type = media_type_of(head);
  if (!is_plain_tar(layer)) {
    Sha256 hash;
    read_all(files.open(name), [&](std::string_view piece) { hash.update(piece); });
    layer.digest = hash.finish();
  }
  return layer;
}

/// Returns the only image of a `manifest.json`.
json saved_image(const Members& files, const std::string& where) {
  const json document = parse_json(text_of(files, "manifest.json", where));
  if (!document.is_array() || document.size() != 1) {
    throw Error(ErrorKind::usage, fmt::format("{} holds {} images, not one", where,
                                              document.is_array() ? document.size() : 0))
        .hint("`docker save -o FILE IMAGE` with one image creates such a file");
  }
  return document.front();
}

Source open_saved(const Files& files, const FileReference& reference) {
  const std::string where = quote(reference);
  const json image = saved_image(*files, where);
  std::string configuration;
  std::vector<Descriptor> descriptors;
  std::map<Digest, std::string> names;
  try {
    configuration = text_of(*files, image.at("Config").get<std::string>(), where);
    const auto layers = image.at("Layers").get<std::vector<std::string>>();
    const auto diff_ids =
        Configuration::parse(configuration, "the configuration of " + where).diff_ids();
    if (layers.size() != diff_ids.size()) {
      throw Error(ErrorKind::environment,
                  fmt::format("{} has {} layers, and its configuration names {}", where,
                              layers.size(), diff_ids.size()));
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto layer = describe(*files, layers[i], diff_ids[i]);
      names[layer.digest] = layers[i];
      descriptors.push_back(layer);
    }
  } catch (const json::exception& error) {
    throw Error(ErrorKind::environment, fmt::format("{} cannot be read", where))
        .cause(error.what());
  }
  auto manifest = as_oci({.config = {.digest = sha256(configuration), .size = configuration.size()},
                          .layers = std::move(descriptors)});
  const auto digest = sha256(to_json(manifest));
  return {.name = reference.text,
          .digest = digest,
          .manifest = std::move(manifest),
          .configuration = std::move(configuration),
          .open = [files, where, names = std::move(names)](const Descriptor& layer) {
            return verified(files->open(names.at(layer.digest)), layer, where);
          }};
}

}  // namespace

Source open_files(const FileReference& reference, const std::string& platform) {
  const Files files = reference.kind == FileReference::Kind::layout ? open_directory(reference.path)
                                                                    : open_tar(reference.path);
  if (files->size("index.json")) {
    return open_layout(files, reference, platform);
  }
  if (reference.kind == FileReference::Kind::archive && files->size("manifest.json")) {
    return open_saved(files, reference);
  }
  throw Error(ErrorKind::usage,
              reference.kind == FileReference::Kind::layout
                  ? fmt::format("`{}` is not an OCI layout: it has no `index.json`",
                                printable(reference.path.string()))
                  : fmt::format("`{}` holds no image: it has neither `manifest.json` nor "
                                "`index.json`",
                                printable(reference.path.string())))
      .hint(
          "create one with `skopeo copy docker://IMAGE oci:DIR:TAG` or `docker save -o FILE "
          "IMAGE`");
}

}  // namespace autopack::image
