#include "support/registry_cases.hpp"

#include "registry/client.hpp"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

namespace autopack::testing {

namespace {

using namespace registry;

image::Descriptor describe(const std::string& bytes, std::string_view type) {
  return {.media_type = std::string{type}, .digest = sha256(bytes), .size = bytes.size()};
}

class Transcript {
public:
  Transcript(http::Client& client, std::string host) : client_{client}, host_{std::move(host)} {}

  std::vector<std::string> take() {
    const std::string layer = "a layer\n";
    const std::string config = R"({"os":"linux"})";
    auto team = open("team/model");
    note("no tag", [&] { return there(team->head_manifest("v1")); });
    note("no blob", [&] {
      return std::string{team->has_blob(sha256(layer), layer.size()) ? "there" : "missing"};
    });
    note("a manifest too early", [&] { return put(*team, config, layer, "v1"); });
    note("a layer", [&] { return pushed(*team, known(layer)); });
    note("again", [&] { return pushed(*team, known(layer)); });
    note("of unknown size", [&] { return pushed(*team, {.open = source_of(config)}); });
    note("of another digest",
         [&] { return pushed(*team, {.known = describe("other", ""), .open = source_of(layer)}); });
    note("the manifest", [&] { return put(*team, config, layer, "v1"); });
    note("its tag", [&] { return there(team->head_manifest("v1")); });
    note("by digest", [&] {
      const auto found = team->manifest(manifest(config, layer).digest.str());
      return found ? found->text : "missing";
    });
    note("a blob", [&] { return team->read_blob(describe(config, "")); });
    auto other = open("team/other");
    note("mounted", [&] {
      auto blob = known(layer);
      blob.mount_from = "team/model";
      return pushed(*other, blob);
    });
    note("mounted from nowhere", [&] {
      auto blob = known("elsewhere\n");
      blob.mount_from = "team/model";
      return pushed(*other, blob);
    });
    note("a manifest whose configuration is elsewhere",
         [&] { return put(*other, config, layer, std::nullopt); });
    return std::move(lines_);
  }

private:
  std::unique_ptr<Repository> open(const std::string& path) {
    return make_repository(host_, path, Access::push,
                           {.client = &client_, .sleep = [](std::chrono::milliseconds) {}});
  }

  void note(const std::string& what, const std::function<std::string()>& act) {
    std::string answer;
    try {
      answer = act();
    } catch (const Refused& error) {
      answer = fmt::format("refused {} {}", error.status(), error.code().value_or(""));
    }
    lines_.push_back(what + ": " + answer);
  }

  static std::string there(const std::optional<image::Descriptor>& found) {
    return found ? fmt::format("{} {} {}", found->media_type, found->digest.str(), found->size)
                 : "missing";
  }

  static Blob known(const std::string& bytes) {
    return {.known = describe(bytes, ""), .open = source_of(bytes)};
  }

  static StoredManifest manifest(const std::string& config, const std::string& layer) {
    const image::Manifest made{.media_type = std::string{image::media_type::oci_manifest},
                               .config = describe(config, image::media_type::oci_config),
                               .layers = {describe(layer, image::media_type::oci_layer)}};
    const std::string text = image::to_json(made);
    return {.media_type = made.media_type, .text = text, .digest = sha256(text)};
  }

  static std::string put(Repository& repository,
                         const std::string& config,
                         const std::string& layer,
                         const std::optional<std::string>& tag) {
    repository.put_manifest(manifest(config, layer), tag);
    return "put";
  }

  static std::string pushed(Repository& repository, const Blob& blob) {
    const auto sent = repository.push_blob(blob, {});
    return fmt::format("{} {} {}", sent.digest.str(), sent.size,
                       sent.uploaded ? "uploaded" : "was there");
  }

  http::Client& client_;
  std::string host_;
  std::vector<std::string> lines_{};
};

}  // namespace

std::vector<std::string> registry_transcript(http::Client& client, const std::string& host) {
  return Transcript{client, host}.take();
}

}  // namespace autopack::testing
