#pragma once

#include "base/url.hpp"
#include "cli/application.hpp"
#include "support/fake_docker.hpp"
#include "support/temporary_directory.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace autopack::testing {

/// Connects to servers on loopback only; other names have no address.
class LoopbackClient : public http::Client {
public:
  explicit LoopbackClient(http::ClientOptions options)
      : client_{http::make_client(std::move(options))} {}

  http::Response send(const http::Request& request) override {
    check(request);
    return client_->send(request);
  }

  std::unique_ptr<http::Stream> upgrade(const http::Request& request) override {
    check(request);
    return client_->upgrade(request);
  }

private:
  static void check(const http::Request& request) {
    const auto url = Url::parse(request.url);
    if (!url || !url->is_loopback()) {
      throw http::TransportError{http::TransportError::Reason::resolve, "no address"};
    }
  }

  std::unique_ptr<http::Client> client_;
};

/// One run of the command line in its own directory, with an engine in memory and a network that
/// must not be used.
class CliRun {
public:
  CliRun() : before_{std::filesystem::current_path()} {
    std::filesystem::current_path(directory_.path());
    variables_["HOME"] = (directory_.path() / "home").string();
    variables_["XDG_CACHE_HOME"] = cache_.path().string();
    variables_["NO_GCE_CHECK"] = "true";  // on any machine that runs the tests
  }

  ~CliRun() { std::filesystem::current_path(before_); }

  CliRun(const CliRun&) = delete;
  CliRun& operator=(const CliRun&) = delete;
  CliRun(CliRun&&) = delete;
  CliRun& operator=(CliRun&&) = delete;

  void write(const std::string& path, const std::string& text) const {
    const auto file = directory_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file, std::ios::binary} << text;
  }

  std::string read(const std::string& path) const {
    std::ifstream file{directory_.path() / path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  void set(const std::string& name, const std::string& value) { variables_[name] = value; }

  int run(const std::vector<std::string>& arguments) {
    out.clear();
    errors.clear();
    return cli::run_application(
        arguments, {.environment = Environment{variables_},
                    .streams = {.out = [this](std::string_view bytes) { out += bytes; },
                                .errors = [this](std::string_view bytes) { errors += bytes; }},
                    .cancellation = &cancellation,
                    .make_client =
                        [](http::ClientOptions options) {
                          return std::make_unique<LoopbackClient>(std::move(options));
                        },
                    .make_docker =
                        [this](const engine::DockerOptions&) {
                          return std::shared_ptr<engine::Docker>{&docker, [](engine::Docker*) {}};
                        }});
  }

  const std::filesystem::path& directory() const { return directory_.path(); }

  /// Returns XDG_CACHE_HOME; outside of the directory, which is the project.
  const std::filesystem::path& cache() const { return cache_.path(); }

  FakeDocker docker{};
  Cancellation cancellation{};
  std::string out{};
  std::string errors{};

private:
  TemporaryDirectory directory_{};
  TemporaryDirectory cache_{};
  std::filesystem::path before_;
  std::map<std::string, std::string, std::less<>> variables_{};
};

}  // namespace autopack::testing
