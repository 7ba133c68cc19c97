// Prints the facts about the Python of an image as JSON, and the cost of finding them:
//
//     image_python engine|layers IMAGE PLATFORM
//
// `engine` reads the engine's copy, `layers` those in a registry or in files. Uses the cache of the
// environment.

#include "base/error.hpp"
#include "base/json.hpp"
#include "engine/docker.hpp"
#include "executor/executor_image.hpp"
#include "executor/probe.hpp"
#include "executor/python_facts.hpp"
#include "executor/python_survey.hpp"
#include "http/client.hpp"
#include "recording_reporter.hpp"

#include <atomic>
#include <chrono>
#include <iostream>

using namespace autopack;

namespace {

/// Counts the bytes of all responses.
class CountingClient final : public http::Client {
public:
  CountingClient(std::atomic<std::uint64_t>& bytes, std::atomic<std::uint64_t>& requests)
      : bytes_{bytes}, requests_{requests} {}

  http::Response send(const http::Request& request) override {
    ++requests_;
    auto counted = request;
    if (request.on_data) {
      counted.on_data = [&](std::string_view piece) {
        bytes_ += piece.size();
        request.on_data(piece);
      };
    }
    auto response = client_->send(counted);
    bytes_ += response.body.size();
    return response;
  }

  std::unique_ptr<http::Stream> upgrade(const http::Request& request) override {
    return client_->upgrade(request);
  }

private:
  std::atomic<std::uint64_t>& bytes_;
  std::atomic<std::uint64_t>& requests_;
  std::unique_ptr<http::Client> client_{http::make_client({})};
};

struct Run {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> requests{0};
  testing::RecordingReporter reporter{};
  Cancellation cancellation{};
  Services services{Environment::of_process(), reporter, &cancellation, makers()};

  ServiceMakers makers() {
    return {
        .client =
            [this](const Cancellation* /*cancellation*/) {
              return std::make_shared<CountingClient>(bytes, requests);
            },
        .docker =
            [this] {
              return engine::make_docker({.endpoint = engine::find_endpoint(services.environment),
                                          .reporter = &reporter,
                                          .client = &services.client()});
            },
        .credentials =
            [](const std::string& /*repository*/) {
              return std::optional<registry::Credential>{};
            }};
  }
};

packaging::Request request_for(const std::string& image, const std::string& platform, bool engine) {
  packaging::Request request;
  request.executor_image = image;
  request.options.platform = platform;
  request.engine = engine ? packaging::Engine::docker : packaging::Engine::direct;
  return request;
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

void print(Run& run,
           const std::string& place,
           const std::string& image,
           const std::string& platform) {
  const auto places =
      place == "engine" ? executor::ImagePlaces::engine_or_layers : executor::ImagePlaces::layers;
  const auto start = std::chrono::steady_clock::now();
  const auto base =
      executor::ExecutorImage{run.services, request_for(image, platform, place == "engine")}
          .confirmed();
  const auto facts = executor::python_facts(run.services, base, places);
  const double found = milliseconds_since(start);
  const std::uint64_t bytes = run.bytes;
  const std::uint64_t asked = run.requests;
  const auto again = std::chrono::steady_clock::now();
  const auto same = executor::to_json_line(executor::python_facts(run.services, base, places)) ==
                    executor::to_json_line(facts);
  const double remembered = milliseconds_since(again);
  auto document = parse_json(executor::to_json_line(facts));
  document["files"] = executor::installed_files(run.services, base, places);
  document["milliseconds"] = found;
  document["milliseconds_again"] = remembered;
  document["bytes"] = bytes;
  document["requests"] = asked;
  document["remembered"] = same && run.bytes == bytes;
  document["pip_files"] = nlohmann::json::object();
  for (const auto& file : facts.pip_files) {
    document["pip_files"][file.path] = file.text.reveal();
  }
  std::cout << print_json(document) << "\n";
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> given{arguments + 1, arguments + count};
  if (given.size() != 3 || (given[0] != "engine" && given[0] != "layers")) {
    std::cerr << "usage: image_python engine|layers IMAGE PLATFORM\n";
    return 2;
  }
  Run run;
  try {
    print(run, given[0], given[1], given[2]);
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    for (const auto& cause : error.causes()) {
      std::cerr << "  " << cause << "\n";
    }
    for (const auto& detail : run.reporter.details) {
      std::cerr << detail << "\n";
    }
    return 1;
  }
}
