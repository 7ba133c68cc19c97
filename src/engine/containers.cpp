#include "engine/containers.hpp"

#include "base/json.hpp"
#include "base/url.hpp"
#include "engine/container.hpp"
#include "engine/container_owner.hpp"
#include "engine/container_request.hpp"
#include "engine/image_file.hpp"
#include "engine/json_lines.hpp"
#include "engine/output_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace autopack::engine {

namespace {

using nlohmann::json;

constexpr std::size_t piece_size = 32768;
constexpr int not_modified = 304;

const json& part_of(const json& object, const char* key) {
  static const json nothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : nothing;
}

/// Returns nothing for a container that is not running: its processor time is 0.
std::optional<ContainerUsage> usage_of(const json& stats) {
  const auto time = number_at(part_of(part_of(stats, "cpu_stats"), "cpu_usage"), "total_usage");
  if (time == 0) {
    return std::nullopt;
  }
  const auto& memory = part_of(stats, "memory_stats");
  const auto& details = part_of(memory, "stats");
  const auto all = number_at(memory, "usage");
  // For cgroups 2 and 1; `docker stats` subtracts the same.
  const auto cache =
      std::max(number_at(details, "inactive_file"), number_at(details, "total_inactive_file"));
  return ContainerUsage{
      .memory = all - std::min(cache, all),
      .processor_time = std::chrono::nanoseconds{static_cast<std::int64_t>(time)}};
}

/// Uses the client that a user's interruption does not end.
DockerOptions over(DockerOptions options, http::Client& client) {
  options.client = &client;
  options.cancellation = nullptr;
  return options;
}

class EngineContainers final : public Containers {
public:
  explicit EngineContainers(const DockerOptions& options)
      : client_{http::make_client({.reporter = options.reporter})}, api_{over(options, *client_)} {
    api_.info();  // before threads need it
  }

  void make_network(const std::string& name,
                    const std::map<std::string, std::string>& labels) override {
    json body{{"Name", name}, {"CheckDuplicate", true}, {"Driver", "bridge"}, {"Labels", labels}};
    body["Labels"][owner_label.data()] = this_owner();
    auto request = api_.short_request("make a network", "POST", "/networks/create");
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = write_json(body);
    api_.send_ok(request);
  }

  void remove_network(const std::string& name) noexcept override {
    send_quietly("remove the network", "DELETE", "/networks/" + name);
  }

  void make(const std::string& name, const ContainerSpec& spec) override {
    api_.send_ok(creation_of(api_, name, spec, false));
  }

  ContainerState run(const std::string& name, const ContainerEvents& events) override {
    const auto path = "/containers/" + name;
    const auto stream = api_.upgrade(api_.request("attach to the container", "POST",
                                                  path + "/attach?stream=1&stdout=1&stderr=1"));
    const auto response =
        api_.send(api_.short_request("start the container", "POST", path + "/start"));
    if (!response.ok() && response.status != not_modified) {
      throw Error(ErrorKind::remote, "could not start a replica").cause(refusal_of(response));
    }
    events.started();
    OutputFrames frames{events.output, events.errors};
    std::array<char, piece_size> buffer{};
    while (const auto count = stream->read(buffer.data(), buffer.size())) {
      frames.feed({buffer.data(), count});
    }
    return end_of(path);
  }

  void signal(const std::string& name, int number) noexcept override {
    send_quietly("signal a container", "POST",
                 fmt::format("/containers/{}/kill?signal={}", name, number));
  }

  void disconnect(const std::string& network, const std::string& name) override {
    auto request = api_.short_request("disconnect a container from its network", "POST",
                                      fmt::format("/networks/{}/disconnect", network));
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = write_json(json{{"Container", name}, {"Force", true}});
    api_.send_ok(request);
  }

  std::optional<std::string> read_file(const std::string& name,
                                       const std::string& path,
                                       std::size_t limit) override {
    return read_container_file(api_, "/containers/" + name + "/archive?path=", name, path, limit);
  }

  std::optional<ContainerUsage> usage(const std::string& name) noexcept override {
    try {
      // Without one-shot the engine takes a second for each sample.
      const auto answer = api_.send(
          api_.short_request("read the resource usage of a container", "GET",
                             "/containers/" + name + "/stats?stream=false&one-shot=true"));
      return answer.ok() ? usage_of(parse_json(answer.body)) : std::nullopt;
    } catch (const std::exception&) {
      return std::nullopt;  // a live view must not end anything
    }
  }

  void remove(const std::string& name) noexcept override {
    send_quietly("remove a container", "DELETE", "/containers/" + name + "?force=1&v=1");
  }

  void remove_left(const std::string& label) noexcept override {
    try {
      const auto filters = percent_encode(write_json(json{{"label", {label}}}));
      for (const auto& one : list("/containers/json?all=1&filters=" + filters)) {
        if (is_left(one)) {
          remove(text_at(one, "Id"));
        }
      }
      for (const auto& one : list("/networks?filters=" + filters)) {
        if (is_left(one)) {
          remove_network(text_at(one, "Id"));
        }
      }
    } catch (const std::exception& error) {
      if (api_.reporter() != nullptr) {
        api_.reporter()->detail(error.what());
      }
    }
  }

private:
  void send_quietly(const char* what, const char* method, const std::string& path) noexcept {
    try {
      api_.send(api_.short_request(what, method, path));
    } catch (const std::exception& error) {
      if (api_.reporter() != nullptr) {
        api_.reporter()->detail(error.what());
      }
    }
  }

  json list(const std::string& path) {
    auto answer = parse_json(api_.send_ok(api_.short_request("list leftovers", "GET", path)).body);
    return answer.is_array() ? answer : json::array();
  }

  bool is_left(const json& one) const {
    const auto labels = one.is_object() ? one.find("Labels") : one.end();
    return one.is_object() && labels != one.end() && labels->is_object() &&
           engine::is_left(api_, *labels);
  }

  /// The output has ended; the container itself may take a moment longer.
  ContainerState end_of(const std::string& path) {
    for (auto wait = std::chrono::milliseconds{2};; wait = std::min(wait * 2, longest_wait)) {
      const auto response =
          api_.send_ok(api_.short_request("look at a container", "GET", path + "/json"));
      const auto document = parse_json(response.body);
      const auto state = document.is_object() ? document.find("State") : document.end();
      if (!document.is_object() || state == document.end() || !state->is_object()) {
        throw Error(ErrorKind::remote, "the engine does not report the container's state");
      }
      const auto word = text_at(*state, "Status");
      if (word != "running" && word != "paused" && word != "stopping") {
        const auto killed = state->find("OOMKilled");
        return {.is_running = false,
                .status = static_cast<int>(number_at(*state, "ExitCode")),
                .ran_out_of_memory =
                    killed != state->end() && killed->is_boolean() && killed->get<bool>()};
      }
      std::this_thread::sleep_for(wait);
    }
  }

  static constexpr std::chrono::milliseconds longest_wait{200};

  std::unique_ptr<http::Client> client_;
  Api api_;
};

}  // namespace

std::unique_ptr<Containers> make_containers(const DockerOptions& options) {
  return std::make_unique<EngineContainers>(options);
}

}  // namespace autopack::engine
