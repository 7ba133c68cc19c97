#include "pipeline/program_runner.hpp"

#include "pipeline/package.hpp"
#include "rootless/run.hpp"
#include "rootless/runtime.hpp"
#include "rootless/unpacked_image.hpp"
#include "services/registry_image.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

namespace autopack::pipeline {

namespace {

namespace fs = std::filesystem;

class EngineRunner : public ProgramRunner {
public:
  explicit EngineRunner(Services& services) : services_{services} {}

  std::string package(const WantedPtr& wanted) override {
    return package_for_running(services_, wanted).image_id.value();
  }

  std::string fetch(const image::Reference& reference, const std::string& platform) override {
    if (!services_.docker().inspect(reference.text)) {
      services_.docker().pull(reference, platform);
    }
    return reference.text;
  }

  int run(const engine::ContainerSpec& spec, const engine::ContainerStreams& streams) override {
    return services_.docker().run(spec, streams);
  }

private:
  Services& services_;
};

/// Unpacks images into the cache, and starts their programs with a runtime of this machine.
class EnginelessRunner : public ProgramRunner {
public:
  EnginelessRunner(Services& services, std::unique_ptr<rootless::Runtime> runtime)
      : services_{services}, runtime_{std::move(runtime)} {}

  std::string package(const WantedPtr& wanted) override {
    auto unpacked = std::make_shared<packaging::Wanted>(*wanted);
    unpacked->may_push = false;
    unpacked->request.outputs.push_back(
        {.kind = packaging::Output::Kind::taken,
         .take = [&](const image::Source& source) { unpack(source); }});
    pipeline::package(services_, unpacked);
    layers().keep_only(user_of(*wanted), image_.value());
    return image_->name;
  }

  std::string fetch(const image::Reference& reference, const std::string& platform) override {
    unpack(named_image(services_, reference, platform));
    layers().keep_only(reference.text, image_.value());
    return image_->name;
  }

  int run(const engine::ContainerSpec& spec, const engine::ContainerStreams& streams) override {
    const auto& image = image_.value();
    const auto configuration = image::Configuration::parse(
        image.configuration, fmt::format("the configuration of `{}`", image.name));
    const auto program = rootless::program_of(
        configuration, spec, proxies(),
        [&](const std::string& path) { return rootless::read_file(image, path); });
    auto own_streams = streams;
    own_streams.input = spec.interactive ? streams.input : -1;
    return rootless::run(*runtime_, image, program, directory_, own_streams,
                         services_.cancellation);
  }

private:
  rootless::UnpackedLayers layers() const {
    return {directory_, *services_.reporter, services_.cancellation};
  }

  void unpack(const image::Source& source) {
    // Before: the new image may share layers with the last one.
    auto unpacked = layers().unpack(source);
    image_ = std::move(unpacked);
  }

  static std::string user_of(const packaging::Wanted& wanted) {
    std::error_code failure;
    const auto& directory = wanted.request.project.directory;
    const auto whole = fs::canonical(directory, failure);
    return fmt::format("{} {}", wanted.name.reference.repository(),
                       failure ? directory.string() : whole.string());
  }

  engine::Proxies proxies() const {
    const auto& environment = services_.environment;
    std::string url;
    try {
      url = engine::find_endpoint(environment).url;
    } catch (const Error& error) {
      services_.reporter->detail(error.message());  // the default ones apply
    }
    return engine::find_proxies(environment, url);
  }

  Services& services_;
  std::unique_ptr<rootless::Runtime> runtime_;
  fs::path directory_{services_.environment.cache_directory() / "roots"};
  std::optional<rootless::UnpackedImage> image_{};
};

std::string text_of(const Error& error) {
  std::string text = error.message();
  for (const auto& cause : error.causes()) {
    text += ": " + cause;
  }
  return text;
}

}  // namespace

std::unique_ptr<ProgramRunner> choose_runner(Services& services, packaging::Engine engine) {
  const auto without_engine = [&](const std::string& why) {
    auto runtime = rootless::find_runtime(services.environment);
    services.reporter->done("Using", fmt::format("{}: {}", runtime->name(), why));
    return std::make_unique<EnginelessRunner>(services, std::move(runtime));
  };
  if (engine == packaging::Engine::direct) {
    return without_engine("`--engine=direct`");
  }
  if (engine == packaging::Engine::docker) {
    return std::make_unique<EngineRunner>(services);
  }
  try {
    services.docker().info();
  } catch (const Error& no_engine) {
    if (no_engine.kind() != ErrorKind::environment) {
      throw;
    }
    try {
      return without_engine("no docker engine answers");
    } catch (Error& error) {
      error.cause(text_of(no_engine));
      for (const auto& hint : no_engine.hints()) {
        error.hint(hint);
      }
      throw;
    }
  }
  return std::make_unique<EngineRunner>(services);
}

}  // namespace autopack::pipeline
