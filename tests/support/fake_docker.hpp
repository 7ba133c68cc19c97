#pragma once

#include "engine/docker.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace autopack::testing {

/// A Docker Engine in memory: it has the images it is given, and records what it is asked to do.
class FakeDocker final : public engine::Docker {
public:
  const engine::EngineInfo& info() override { return engine_info; }

  std::optional<engine::LocalImage> inspect(const std::string& reference) override {
    const auto found = images.find(reference);
    return found == images.end() ? std::nullopt : std::optional{found->second};
  }

  Digest resolve(const image::Reference& reference) override {
    calls.push_back("resolve " + reference.text);
    const auto found = digests.find(reference.text);
    if (found == digests.end()) {
      throw Error(ErrorKind::remote, "no registry has `" + reference.text + "`");
    }
    return found->second;
  }

  void pull(const image::Reference& reference, const std::string& platform) override {
    calls.push_back("pull " + reference.text);
    images[reference.text] = {.id = "sha256:pulled", .platform = platform};
  }

  engine::BuildResult build(const engine::BuildRequest& request) override {
    calls.push_back("build " + request.tags.front());
    built = request;
    if (build_failure) {
      throw *build_failure;
    }
    images[request.tags.front()] = {.id = built_id, .labels = request.labels};
    return {.image_id = built_id, .steps = 7, .cached_steps = 5};
  }

  void tag(const std::string& image, const image::Reference& name) override {
    calls.push_back("tag " + name.tagged());
    engine::LocalImage tagged{.id = image};
    for (const auto& [other, held] : images) {
      if (held.id == image) {
        tagged = held;
      }
    }
    images[name.tagged()] = tagged;
  }

  engine::PushResult push(const image::Reference& name) override {
    calls.push_back("push " + name.tagged());
    if (on_push) {
      return {.digest = on_push(name), .bytes_uploaded = 1'500'000};
    }
    return {.digest = sha256("pushed"), .bytes_uploaded = 1'500'000};
  }

  void remove_image(const std::string& reference) override {
    calls.push_back("remove " + reference);
    images.erase(reference);
  }

  void save(const std::string& name, const std::function<void(std::string_view)>& sink) override {
    calls.push_back("save " + name);
    sink(saved);
  }

  void load(const std::function<std::size_t(char*, std::size_t)>& read) override {
    calls.emplace_back("load");
    std::string buffer(65536, '\0');
    while (const std::size_t count = read(buffer.data(), buffer.size())) {
      loaded.append(buffer, 0, count);
    }
  }

  std::optional<image::Source> held(const std::string& name) override {
    const auto found = held_images.find(name);
    return found == held_images.end() ? std::nullopt : std::optional{found->second};
  }

  std::vector<std::int64_t> run_times(const std::string& /*image*/) override { return built_times; }

  std::map<std::string, std::string> probe(const std::string& image,
                                           const std::string& /*platform*/,
                                           const std::vector<std::string>& paths) override {
    calls.push_back("probe " + image);
    std::map<std::string, std::string> found;
    for (const auto& path : paths) {
      if (path == "/usr/bin/python3" || path == "/usr/lib/python3/dist-packages/pip" ||
          path == "/usr/bin/apt-get") {
        found[path] = "";
      }
    }
    return found;
  }

  std::optional<std::string> read_file(const std::string& image,
                                       const std::string& path,
                                       std::size_t /*limit*/) override {
    calls.push_back("read " + path + " of " + image);
    return std::nullopt;
  }

  int run(const engine::ContainerSpec& spec, const engine::ContainerStreams& streams) override {
    calls.push_back("run " + spec.image);
    ran = spec;
    streams.output("output\n");
    return run_status;
  }

  engine::EngineInfo engine_info{
      .version = "20.10.24", .api_version = "1.41", .platform = "linux/amd64", .buildkit = true};
  std::map<std::string, engine::LocalImage> images{};
  std::map<std::string, Digest> digests{};
  std::map<std::string, image::Source> held_images{};
  /// Brings an image to where it is pushed; its digest.
  std::function<Digest(const image::Reference& name)> on_push{};
  std::string built_id{"sha256:built"};
  std::vector<std::int64_t> built_times{};
  std::optional<Error> build_failure{};
  int run_status{0};
  std::string saved{};   ///< what `save` hands over
  std::string loaded{};  ///< what `load` was given

  std::vector<std::string> calls{};
  engine::BuildRequest built{};
  engine::ContainerSpec ran{};
};

}  // namespace autopack::testing
