#pragma once

#include "base/error.hpp"
#include "engine/containers.hpp"
#include "engine/docker.hpp"
#include "support/named_files.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace autopack::testing {

/// Containers in memory: each writes `output` and ends with its status in `ends`, 0 otherwise.
class FakeContainers final : public engine::Containers {
public:
  void make_network(const std::string& name,
                    const std::map<std::string, std::string>& /*labels*/) override {
    note("network " + name);
    if (loses_answers) {
      throw Error(ErrorKind::remote, "no answer");
    }
  }

  void remove_network(const std::string& name) noexcept override { note("remove network " + name); }

  void make(const std::string& name, const engine::ContainerSpec& spec) override {
    const std::lock_guard lock{mutex_};
    specs[name] = spec;
  }

  engine::ContainerState run(const std::string& name,
                             const engine::ContainerEvents& events) override {
    int status = 0;
    {
      const std::lock_guard lock{mutex_};
      calls.push_back("run " + name);
      signals.erase(name);  // a signal to a stopped container is lost, as with the real engine
      auto& statuses = ends[name];
      status = statuses.empty() ? usual_status : statuses.front();
      if (!statuses.empty()) {
        statuses.erase(statuses.begin());
      }
    }
    events.started();
    events.output("output\n");
    events.errors("errors\n");
    return {.status = wait_for_end(name, status)};
  }

  void signal(const std::string& name, int number) noexcept override {
    const std::lock_guard lock{mutex_};
    signals[name] = number;
    changed_.notify_all();
  }

  void disconnect(const std::string& network, const std::string& name) override {
    note("disconnect " + name + " from " + network);
  }

  std::optional<std::string> read_file(const std::string& name,
                                       const std::string& /*path*/,
                                       std::size_t /*limit*/) override {
    const std::lock_guard lock{mutex_};
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional{found->second};
  }

  std::optional<engine::ContainerUsage> usage(const std::string& name) noexcept override {
    const std::lock_guard lock{mutex_};
    ++looks;
    return specs.contains(name)
               ? std::optional{engine::ContainerUsage{
                     .memory = 3U << 20U, .processor_time = std::chrono::seconds{looks}}}
               : std::nullopt;
  }

  void remove(const std::string& name) noexcept override {
    signal(name, 9);
    note("remove " + name);
  }

  void remove_left(const std::string& label) noexcept override { note("remove left " + label); }

  static constexpr int until_signal = -1;  ///< the program runs until it gets a signal
  static constexpr int until_killed = -2;  ///< the program ignores other signals than SIGKILL

  std::map<std::string, std::vector<int>> ends{};  ///< statuses, one for each start
  std::map<std::string, std::string> files{};
  std::map<std::string, engine::ContainerSpec> specs{};
  std::map<std::string, int> signals{};
  std::vector<std::string> calls{};
  int usual_status{0};
  bool loses_answers{false};  ///< a network is created, but the response is lost
  int looks{0};               ///< samples of usage: each container has run for a second more

private:
  void note(const std::string& call) {
    const std::lock_guard lock{mutex_};
    calls.push_back(call);
  }

  int wait_for_end(const std::string& name, int status) {
    std::unique_lock lock{mutex_};
    if (status == until_signal || status == until_killed) {
      changed_.wait(lock, [&] {
        return signals.contains(name) && (status == until_signal || signals[name] == 9);
      });
      status = 128 + signals[name];
    }
    signals.erase(name);
    return status;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
};

/// A Docker Engine in memory: it has the given images, and records its calls.
class FakeDocker final : public engine::Docker {
public:
  const engine::EngineInfo& info() override { return engine_info; }

  std::optional<engine::LocalImage> inspect(const std::string& reference) override {
    const auto found = images.find(reference);
    return found == images.end() ? std::nullopt : std::optional{found->second};
  }

  std::optional<std::vector<std::string>> repositories_with(const std::string& reference) override {
    calls.push_back("where from " + reference);
    return engine_info.reports_origin ? std::optional{origins[reference]} : std::nullopt;
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
    if (on_build) {
      on_build();
    }
    built.context = nullptr;
    sent.clear();
    request.context->write([&](std::string_view bytes) { sent += bytes; });
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
    if (on_remove) {
      on_remove(reference);
    }
    images.erase(reference);
  }

  std::vector<engine::ListedImage> list_images(const std::string& label) override {
    std::vector<engine::ListedImage> all;
    for (const auto& image : listed) {
      if (image.labels.contains(label)) {
        all.push_back(image);
      }
    }
    return all;
  }

  std::vector<std::string> left_containers() override { return left; }

  void remove_container(const std::string& name) override {
    calls.push_back("remove container " + name);
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

  std::optional<std::string> read_file(const std::string& image,
                                       const std::string& path,
                                       std::size_t /*limit*/) override {
    calls.push_back("read " + path + " of " + image);
    return file_text;
  }

  void with_files(const std::string& image,
                  const std::string& /*platform*/,
                  const std::function<void(engine::ImageFiles& files)>& use) override {
    calls.push_back("look into " + image);
    NamedFiles files{{{"/usr/bin/python3", ""},
                      {"/usr/lib/python3/dist-packages/pip", ""},
                      {"/usr/bin/apt-get", ""}}};
    use(files);
  }

  engine::Containers& containers() override { return fake_containers; }

  int run(const engine::ContainerSpec& spec, const engine::ContainerStreams& streams) override {
    calls.push_back("run " + spec.image);
    ran = spec;
    streams.output("output\n");
    return run_status;
  }

  engine::EngineInfo engine_info{
      .version = "20.10.24", .api_version = "1.41", .platform = "linux/amd64", .buildkit = true};
  std::map<std::string, engine::LocalImage> images{};
  std::vector<engine::ListedImage> listed{};
  std::vector<std::string> left{};
  std::map<std::string, Digest> digests{};
  std::map<std::string, std::vector<std::string>> origins{};  ///< repositories, by names of images
  std::map<std::string, image::Source> held_images{};
  /// Puts an image into the target repository; returns its digest.
  std::function<Digest(const image::Reference& name)> on_push{};
  std::function<void(const std::string& reference)> on_remove{};  ///< may throw
  std::string built_id{"sha256:built"};
  std::vector<std::int64_t> built_times{};
  std::optional<Error> build_failure{};
  std::function<void()> on_build{};  ///< may throw
  int run_status{0};
  std::optional<std::string> file_text{};  ///< of every file of every image
  std::string saved{};                     ///< written by `save`
  std::string loaded{};                    ///< read by `load`

  FakeContainers fake_containers{};
  std::vector<std::string> calls{};
  engine::BuildRequest built{};  ///< without its context
  std::string sent{};            ///< the tar of its context
  engine::ContainerSpec ran{};
};

}  // namespace autopack::testing
