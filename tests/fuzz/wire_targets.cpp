#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/remove_tree.hpp"
#include "base/report.hpp"
#include "bundle/bundle.hpp"
#include "compare/contents.hpp"
#include "compare/difference.hpp"
#include "engine/build_progress.hpp"
#include "engine/dockerfile_steps.hpp"
#include "engine/json_lines.hpp"
#include "engine/output_frames.hpp"
#include "http/echo.hpp"
#include "image/archive_reader.hpp"
#include "image/facts.hpp"
#include "image/layer_tree.hpp"
#include "image/manifest.hpp"
#include "image/rebased.hpp"
#include "image/reference.hpp"
#include "image/source.hpp"
#include "image/tar.hpp"
#include "image/unpacked_layer.hpp"
#include "registry/caller.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"
#include "target.hpp"
#include "verify/layer_difference.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace autopack::fuzz {

namespace {

image::Reader reader_of(std::string_view bytes) {
  return [rest = bytes](char* buffer, std::size_t size) mutable {
    const std::size_t count = std::min(size, rest.size());
    std::memcpy(buffer, rest.data(), count);
    rest.remove_prefix(count);
    return count;
  };
}

void reference(std::string_view bytes) {
  if (image::Reference::fault(bytes)) {
    return;
  }
  const auto parsed = image::Reference::parse(bytes);
  const std::string whole = parsed.repository() + (parsed.tag ? ":" + *parsed.tag : "") +
                            (parsed.digest ? "@" + parsed.digest->str() : "");
  const auto again = image::Reference::parse(whole);
  if (again.repository() != parsed.repository() || again.tag != parsed.tag ||
      again.digest != parsed.digest) {
    fail("`" + whole + "` is another image");
  }
}

void manifest(std::string_view bytes) {
  if (image::is_index(bytes)) {
    image::choose(image::parse_index(bytes, "it"), "linux/amd64", "it");
    return;
  }
  const auto parsed = image::parse_manifest(bytes, "it");
  const auto again = image::parse_manifest(image::to_json(parsed), "it");
  if (again.config != parsed.config || again.layers != parsed.layers) {
    fail("a manifest does not come back");
  }
}

void configuration(std::string_view bytes) {
  const auto parsed = image::Configuration::parse(bytes, "it");
  parsed.platform();
  parsed.user();
}

/// An image, its base and another base, separated by lines of `---`.
void rebase(std::string_view bytes) {
  const auto next = [&] {
    constexpr std::string_view mark{"\n---\n"};
    const auto end = bytes.find(mark);
    const std::string part{bytes.substr(0, end)};
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + mark.size());
    return part;
  };
  image::RebasedParts parts{.image = next()};
  parts.before = next();
  parts.after = next();
  image::own_steps(parts);
  const auto made = image::rebased_configuration(parts, {{"a", "b"}, {"c", ""}});
  image::Configuration::parse(made, "the result");
}

void base_facts(std::string_view bytes) {
  if (const auto facts = image::facts_from_json(bytes)) {
    image::facts_from_json(image::to_json_line(*facts));
  }
}

void archive(std::string_view bytes) {
  image::read_contents(reader_of(bytes), "it",
                       [](const image::ArchiveEntry& entry, const image::Reader&) {
                         image::normal_path(entry.path);
                       });
}

void layer(std::string_view bytes) {
  image::LayerTree tree;
  const std::size_t half = bytes.size() / 1024 * 512;
  tree.add(reader_of(bytes.substr(0, half)), "the first");
  tree.add(reader_of(bytes.substr(half)), "the second");
  tree.look({"/usr/bin/python3", "/usr/local/bin/pip", "/a/b"});
}

/// Two images that share their first layer.
void image_difference(std::string_view bytes) {
  const std::size_t third = bytes.size() / 1536 * 512;
  const std::array parts{bytes.substr(0, third), bytes.substr(third, third),
                         bytes.substr(2 * third)};
  std::vector<compare::Contents> sides;
  for (const std::size_t top : {1U, 2U}) {
    image::Source source{
        .name = "it", .digest = sha256(bytes), .manifest = {.config = {.digest = sha256(bytes)}}};
    auto diff_ids = nlohmann::json::array();
    std::map<Digest, std::string_view> blobs;
    for (const auto part : {parts[0], parts[top]}) {
      const auto digest = sha256(part);
      blobs[digest] = part;
      diff_ids.push_back(digest.str());
      source.manifest.layers.push_back(
          {.media_type = std::string{image::media_type::oci_plain_layer},
           .digest = digest,
           .size = part.size()});
    }
    const nlohmann::json configuration{{"rootfs", {{"diff_ids", diff_ids}}}};
    source.configuration = write_json(configuration);
    source.open = [&](const image::Descriptor& layer) { return reader_of(blobs.at(layer.digest)); };
    std::set<Digest> unread;
    if (bytes.size() % 2 != 0) {
      unread.insert(sha256(parts[0]));
    }
    sides.push_back(compare::read_image(Cancellation{}, source, unread));
  }
  const auto found = compare::difference(sides[0], sides[1]);
  compare::to_text(found, sides[0], sides[1], 10);
  print_json(compare::to_json(found, sides[0], sides[1]));
}

void challenge(std::string_view bytes) {
  for (const auto& each : registry::parse_challenges(bytes)) {
    const auto registry = Url::parse("https://registry.example.com/v2/");
    if (const auto realm = each.get("realm")) {
      registry::check_realm(*registry, *realm);
    }
  }
}

void json_lines(std::string_view bytes) {
  engine::JsonLines lines{[](const nlohmann::json& message) { engine::complaint_of(message); }};
  for (std::size_t at = 0; at < bytes.size(); at += 13) {
    lines.feed(bytes.substr(at, 13));
  }
  lines.finish();
}

/// The same bytes as two layers, halved.
void layer_comparison(std::string_view bytes) {
  const std::size_t half = bytes.size() / 1024 * 512;
  const auto found =
      verify::difference({.name = "it", .reader = reader_of(bytes.substr(0, half))},
                         {.name = "the other", .reader = reader_of(bytes.substr(half))},
                         Cancellation{}, {.bytes = 16U << 20U, .entries = 10'000, .reported = 10});
  if (found.files.size() > found.count) {
    fail("more files differ than are counted");
  }
}

void build_progress(std::string_view bytes) {
  testing::RecordingReporter reporter;
  engine::BuildProgress progress{&reporter};
  progress.feed(bytes);
  progress.finish();
}

void build_trace(std::string_view bytes) {
  engine::BuildTrace::decode(bytes);
}

void output_frames(std::string_view bytes) {
  std::size_t count = 0;
  const auto take = [&](std::string_view piece) { count += piece.size(); };
  engine::OutputFrames frames{take, take};
  for (std::size_t at = 0; at < bytes.size(); at += 5) {
    frames.feed(bytes.substr(at, 5));
  }
  if (count > bytes.size()) {
    fail("more came out than went in");
  }
}

void dockerfile(std::string_view bytes) {
  engine::instructions_of(bytes);
  const auto end = bytes.find('\n');
  engine::instruction_of_step(bytes, bytes.substr(0, end));
}

void echo(std::string_view bytes) {
  const std::string secret = "c2VjcmV0LXRva2VuLW9mLW91cnM";
  http::Request request{.url = "https://u:geheim-passwort@host/"};
  request.headers.push_back({"Authorization", "Bearer " + secret});
  http::Response response;
  response.body = std::string{bytes} + secret;
  http::hide_logins(request, response);
  if (response.body.find(secret) != std::string::npos) {
    fail("a login is repeated");
  }
}

/// Unpacks a layer beside a file that it must not touch.
void unpacked_layer(std::string_view bytes) {
  namespace fs = std::filesystem;
  static const TemporaryDirectory place;
  const auto directory = place.path() / "layer";
  const auto outside = place.path() / "outside";
  remove_tree(directory);
  fs::create_directory(directory);
  write_file(outside, "kept");
  const auto check = [&] {
    if (read_file(outside) != "kept" || fs::hard_link_count(outside) != 1 ||
        std::distance(fs::directory_iterator{place.path()}, {}) != 2) {
      fail("the layer wrote outside of its directory");
    }
    for (const auto& entry : fs::recursive_directory_iterator{directory}) {
      constexpr auto set_id = fs::perms::set_uid | fs::perms::set_gid;
      const auto status = entry.symlink_status();
      if (status.type() == fs::file_type::fifo || status.type() == fs::file_type::block ||
          (status.type() != fs::file_type::symlink &&
           (status.permissions() & set_id) != fs::perms::none)) {
        fail("`" + entry.path().string() + "` is not a plain file");
      }
    }
  };
  try {
    image::unpack_layer(reader_of(bytes), directory, "it",
                        {.bytes = std::uint64_t{1} << 20U, .entries = 1000});
  } catch (const Error&) {
    check();
    throw;
  }
  check();
}

/// Merges a layer below another one, and writes the result as a bundle.
void root_file_system(std::string_view bytes) {
  namespace fs = std::filesystem;
  static const TemporaryDirectory place;
  const auto outside = place.path() / "outside";
  write_file(outside, "kept");
  std::string top;
  image::TarWriter tar{[&](std::string_view piece) { top += piece; }};
  tar.add_file("a/.wh.b", 0644, "");
  tar.add_file("c", 0644, "c");
  tar.finish();
  const auto plain = image::read_contents(reader_of(bytes), "it",
                                          [](const image::ArchiveEntry&, const image::Reader&) {});
  const auto layer = [](std::string_view text) {
    return image::Descriptor{.media_type = std::string{image::media_type::oci_layer},
                             .digest = sha256(text),
                             .size = text.size()};
  };
  const std::string configuration = R"({"config":{"User":"u"},"rootfs":{"diff_ids":[")" +
                                    plain.str() + R"(",")" + sha256(top).str() + R"("]}})";
  const image::Source source{
      .name = "it",
      .digest = sha256("it"),
      .manifest = {.config = layer(configuration), .layers = {layer(bytes), layer(top)}},
      .configuration = configuration,
      .open = [&](const image::Descriptor& wanted) {
        return reader_of(wanted.digest == sha256(top) ? std::string_view{top} : bytes);
      }};
  const auto check = [&] {
    if (read_file(outside) != "kept" || fs::hard_link_count(outside) != 1 ||
        std::distance(fs::directory_iterator{place.path()}, {}) > 2) {
      fail("the image wrote outside of its directory");
    }
  };
  try {
    bundle::write_bundle(source, place.path() / "bundle", {.is_root = false},
                         {.bytes = std::uint64_t{1} << 20U, .entries = 1000});
  } catch (const Error&) {
    check();
    throw;
  }
  check();
}

}  // namespace

std::vector<Target> wire_targets() {
  return {{"reference", reference},
          {"manifest", manifest},
          {"configuration", configuration},
          {"rebase", rebase},
          {"base_facts", base_facts},
          {"archive", archive},
          {"image_difference", image_difference},
          {"layer", layer},
          {"layer_comparison", layer_comparison},
          {"unpacked_layer", unpacked_layer},
          {"root_file_system", root_file_system},
          {"challenge", challenge},
          {"json_lines", json_lines},
          {"build_progress", build_progress},
          {"build_trace", build_trace},
          {"output_frames", output_frames},
          {"dockerfile", dockerfile},
          {"echo", echo}};
}

}  // namespace autopack::fuzz
