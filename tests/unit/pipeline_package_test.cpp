#include "base/json.hpp"
#include "base/text.hpp"
#include "executor/executor_image.hpp"
#include "image/layer.hpp"
#include "image/tar.hpp"
#include "pipeline/image_name.hpp"
#include "pipeline/package.hpp"
#include "pipeline/scan.hpp"
#include "support/fake_docker.hpp"
#include "support/memory_registry.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>

namespace autopack::pipeline_package_test {

using autopack::testing::FakeDocker;
using autopack::testing::MemoryRegistry;
using autopack::testing::RecordingReporter;
using packaging::Engine;
using pipeline::LookAhead;

namespace {

constexpr auto* host = "127.0.0.1:5000";
const std::string base_name = std::string{host} + "/base:1";
const std::string target_name = std::string{host} + "/team/model";

/// Removes the time from `Pushed ... in 0.12 s`, and the number from upload ids.
std::string without_times(std::string text) {
  for (const std::string_view mark : {" in ", "/uploads/"}) {
    const auto at = text.find(mark);
    if (at == std::string::npos) {
      continue;
    }
    const auto begin = at + mark.size();
    const auto end = text.find_first_not_of("0123456789.", begin);
    text.replace(begin, std::min(end, text.size()) - begin, "N");
  }
  return text;
}

/// A machine with a project, an engine and a registry, which has an executor image.
struct Machine {
  explicit Machine(LookAhead::Mode of = LookAhead::Mode::on) : mode{of} {
    set_base("first");
    write("train.py", "print('training')\n");
  }

  /// Puts another executor image under its tag.
  void set_base(const std::string& content) {
    const auto layer = layer_of(content);
    const nlohmann::json configuration{
        {"architecture", "amd64"},
        {"os", "linux"},
        {"config", {{"Env", {"PATH=/usr/bin"}}}},
        {"rootfs", {{"type", "layers"}, {"diff_ids", {layer.facts.diff_id.str()}}}},
        {"history", nlohmann::json::array()}};
    const std::string text = configuration.dump();
    const auto digest = registry.add_image("base", "1", text, layer.bytes);
    docker.digests.insert_or_assign(base_name, *Digest::parse(digest));
    docker.images[std::string{host} + "/base@" + digest] = {.id = sha256(text).str(),
                                                            .platform = "linux/amd64",
                                                            .environment = {"PATH=/usr/bin"},
                                                            .layers = {layer.facts.diff_id.str()}};
  }

  /// Adds a dependency image to the registry, whose RUN step ran at `time`.
  Digest push_dependencies(const std::string& tag,
                           const std::string& time,
                           const std::string& path = "team/model") {
    const auto layer = layer_of("dependencies of " + time);
    const nlohmann::json configuration{
        {"architecture", "amd64"},
        {"os", "linux"},
        {"config", {{"Env", {"PATH=/usr/bin"}}}},
        {"rootfs", {{"type", "layers"}, {"diff_ids", {layer.facts.diff_id.str()}}}},
        {"history", {{{"created", time}, {"created_by", "RUN pip install six"}}}}};
    return *Digest::parse(registry.add_image(path, tag, configuration.dump(), layer.bytes));
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream{project.path() / name} << text;
  }

  packaging::Image package(const std::function<void(packaging::Wanted&)>& change = {}) {
    reporter.lines.clear();
    auto services = std::make_unique<Services>(environment(), reporter, &cancellation, makers());
    packaging::Request request{.project = {.directory = project.path(), .script = "train.py"},
                               .executor_image = base_name,
                               .options = {.platform = "linux/amd64"},
                               .environment = environment()};
    if (change) {
      packaging::Wanted probe{.request = request};
      change(probe);
      request = probe.request;
    }
    const auto wanted = pipeline::scan_wanted(request);
    wanted->name = pipeline::name_image(target_name, "model", {});
    if (change) {
      change(*wanted);
    }
    return pipeline::package(*services, wanted, mode);
  }

  /// Builds the image as `autopack run` does.
  packaging::Image run() {
    Services services{environment(), reporter, &cancellation, makers()};
    const auto wanted =
        pipeline::scan_wanted({.project = {.directory = project.path(), .script = "train.py"},
                               .executor_image = base_name,
                               .options = {.platform = "linux/amd64"},
                               .environment = environment()});
    wanted->name = pipeline::name_image(target_name, "model", {});
    wanted->may_push = false;
    return pipeline::package_for_running(services, wanted);
  }

  std::optional<image::BaseFacts> facts_at_hand(const std::string& name) {
    Services services{environment(), reporter, &cancellation, makers()};
    return executor::facts_at_hand(
        services, {.executor_image = name, .options = {.platform = "linux/amd64"}});
  }

  /// Returns everything that a user and a server saw of the last run.
  std::vector<std::string> seen(const packaging::Image& image, std::size_t requests_before) const {
    std::vector<std::string> all;
    for (const auto& line : reporter.lines) {
      all.push_back(without_times(line));
    }
    auto requests = registry.requests();
    requests.erase(requests.begin(),
                   requests.begin() + static_cast<std::ptrdiff_t>(requests_before));
    for (auto& request : requests) {
      request = without_times(request);
    }
    std::sort(requests.begin(), requests.end());
    all.insert(all.end(), requests.begin(), requests.end());
    all.push_back(packaging::to_json(image).dump());
    return all;
  }

  std::string said() const { return join(reporter.lines, "\n"); }

  bool was_asked(std::string_view call) const {
    return std::any_of(docker.calls.begin(), docker.calls.end(),
                       [&](const std::string& made) { return made.starts_with(call); });
  }

  LookAhead::Mode mode;
  TemporaryDirectory project;
  TemporaryDirectory home;
  MemoryRegistry registry;
  FakeDocker docker;
  RecordingReporter reporter;
  Cancellation cancellation;

private:
  struct Layer {
    std::string bytes{};
    image::LayerFacts facts;
  };

  static Layer layer_of(const std::string& content) {
    std::string written;
    image::LayerWriter writer{[&](std::string_view bytes) { written += bytes; }};
    image::TarWriter tar{[&](std::string_view bytes) { writer.write(bytes); }, 0};
    const auto add = [&](const char* path, const std::string& text) {
      tar.add_file(path, 0755U, text.size(), [&](const auto& take) { take(text); });
    };
    add("etc/base", content);
    add("usr/bin/apt-get", "program");
    add("usr/bin/python3", "program");
    add("usr/lib/python3/dist-packages/pip/__init__.py", "");
    tar.finish();
    const auto facts = writer.finish();
    return {.bytes = std::move(written), .facts = facts};
  }

  Environment environment() const { return Environment{{{"HOME", home.path().string()}}}; }

  ServiceMakers makers() {
    ServiceMakers makers;
    makers.client = [this](const Cancellation*) {
      return std::shared_ptr<http::Client>{std::shared_ptr<void>{}, &registry};
    };
    makers.docker = [this] {
      return std::shared_ptr<engine::Docker>{std::shared_ptr<void>{}, &docker};
    };
    return makers;
  }
};

/// Returns every kind of run in sequence, as `seen`.
std::vector<std::vector<std::string>> history(LookAhead::Mode mode) {
  Machine machine{mode};
  std::vector<std::vector<std::string>> runs;
  const auto run = [&](const std::function<void(packaging::Wanted&)>& change = {}) {
    const auto before = machine.registry.requests().size();
    const auto image = machine.package(change);
    runs.push_back(machine.seen(image, before));
  };
  run();
  run();  // nothing changed
  machine.write("train.py", "print('training again')\n");
  run();
  run([](packaging::Wanted& wanted) {
    if (!wanted.name.reference.path.empty()) {
      wanted.name.reference.tag = "mine";
    }
  });
  run([](packaging::Wanted& wanted) { wanted.request.no_cache = true; });
  return runs;
}

}  // namespace

TEST_CASE("an image of the last run that cannot be removed does not end this one") {
  Machine machine;
  const auto last = image::Reference::parse(target_name).with_tag(packaging::last_run_tag);
  machine.docker.images[last] = {.id = sha256("last").str(),
                                 .labels = {{packaging::key_label, sha256("key").hex()}}};
  machine.docker.on_remove = [](const std::string& reference) {
    throw Error(ErrorKind::remote, "could not remove image `" + reference + "`");
  };
  CHECK(machine.run().image_id == machine.docker.images.at(last).id);
  CHECK(machine.was_asked("remove "));

  machine.docker.images[last].id = sha256("last").str();
  machine.docker.images[last].labels = {{packaging::key_label, sha256("key").hex()}};
  machine.docker.on_remove = [](const std::string&) { throw Interrupted{}; };
  CHECK_THROWS_AS(machine.run(), Interrupted);
}

TEST_CASE("an image is put together in its registry, and its engine never builds") {
  Machine machine;
  const auto image = machine.package();
  CAPTURE(machine.said());
  CHECK(image.engine == "direct");
  REQUIRE(image.digest);
  const auto manifest = machine.registry.manifest("team/model", image.tag);
  CHECK(sha256(manifest) == image.digest);
  CHECK_FALSE(machine.was_asked("build"));
  CHECK_FALSE(image.outcome.reused);

  const auto again = machine.package();
  CHECK(again.outcome.reused);
  CHECK(again.digest == image.digest);
  CHECK(again.bytes_uploaded == 0);
}

TEST_CASE("layers on their way are one step of progress, which ends with what was sent") {
  Machine machine;
  machine.write("data.bin", std::string(20'000, 'x'));
  machine.package();
  std::map<std::string, StepEvent> last;
  for (const auto& event : machine.reporter.steps) {
    last[event.id] = event;
  }
  REQUIRE(last.contains("push"));
  const auto& push = last.at("push");
  CHECK(push.name == "send 3 layers");
  CHECK(push.current == push.total);
  for (const auto& [name, event] : last) {
    const std::string id{name};  // clang 14 captures no binding
    CAPTURE(id);
    const bool is_open =
        event.state == StepEvent::State::started || event.state == StepEvent::State::progress;
    CHECK_FALSE(is_open);
  }
}

TEST_CASE("looking ahead changes when something is done, and nothing else") {
  const auto ahead = history(LookAhead::Mode::on);
  const auto later = history(LookAhead::Mode::off);
  REQUIRE(ahead.size() == later.size());
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    CAPTURE(i);
    CHECK(ahead[i] == later[i]);
  }
}

TEST_CASE("an executor image that moved is seen, whatever was done ahead") {
  std::vector<std::string> digests;
  for (const auto mode : {LookAhead::Mode::on, LookAhead::Mode::off}) {
    Machine machine{mode};
    const auto first = machine.package();
    machine.set_base("second");
    const auto moved = machine.package();
    CHECK(moved.tag != first.tag);
    CHECK_FALSE(moved.outcome.reused);
    digests.push_back(moved.digest.value().str());
  }
  CHECK(digests[0] == digests[1]);
}

TEST_CASE("a secret is refused before any server is asked") {
  Machine machine;
  machine.package();
  const auto requests = machine.registry.requests().size();
  const auto calls = machine.docker.calls.size();
  machine.write("train.py", "key = '-----BEGIN RSA PRIVATE " + std::string{"KEY-----\\n"} +
                                std::string(400, 'M') + "'\n");
  CHECK_THROWS_AS(machine.package(), Error);
  CHECK(machine.registry.requests().size() == requests);
  CHECK(machine.docker.calls.size() == calls);
}

TEST_CASE("a program that certainly ends at its start is refused where the request asks for it") {
  const auto refuses = [](packaging::Wanted& wanted) { wanted.request.refuses_certain = true; };
  const auto is_strict = [](packaging::Wanted& wanted) { wanted.request.strict = true; };
  Machine machine;
  machine.write("train.py", "from .x import y\n");
  const auto refusal = [&](const std::function<void(packaging::Wanted&)>& change) {
    machine.reporter.warnings.clear();
    try {
      machine.package(change);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::project);
      return error.problems();
    }
    return Problems{};
  };
  for (const auto& change : {std::function<void(packaging::Wanted&)>{refuses},
                             std::function<void(packaging::Wanted&)>{is_strict}}) {
    const auto problems = refusal(change);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].message.find("which fails in a script") != std::string::npos);
    CHECK(machine.reporter.warnings.empty());
  }
  CHECK_FALSE(machine.was_asked("build"));
  CHECK(refusal({}).empty());
  CHECK(machine.reporter.warnings.size() == 1);

  // One error does not hide another.
  machine.write("key.pem", "-----BEGIN RSA PRIVATE " + std::string{"KEY-----\n"} +
                               std::string(400, 'M') + "\n");
  const auto both = refusal(refuses);
  REQUIRE(both.size() == 2);
  CHECK(both[0].message.find("`key.pem` line 1 holds") != std::string::npos);
  CHECK(both[1].hints.back() == "`--skip-checks=program` sends it anyway");
  CHECK(refusal({}).size() == 1);
  CHECK(machine.reporter.warnings.size() == 1);
  const auto no_file = [](packaging::Wanted& wanted) {
    wanted.request.project.requirement_files = {"gone.txt"};
  };
  const auto of_scan = refusal(no_file);
  REQUIRE(of_scan.size() == 2);
  CHECK(of_scan[1].message == both[0].message);
}

TEST_CASE("the builder is the quickest that can make the image") {
  struct Row {
    const char* what;
    std::function<void(packaging::Wanted&)> change;
    const char* engine;  ///< null: refused
    const char* call;    ///< to the engine; null: no build and no load
  };

  const auto stays = [](packaging::Wanted& wanted) { wanted.may_push = false; };
  const auto by = [](Engine engine) {
    return [engine](packaging::Wanted& wanted) { wanted.request.engine = engine; };
  };
  const TemporaryDirectory outside;
  const auto to_files = [&](packaging::Wanted& wanted) {
    wanted.may_push = false;
    wanted.request.outputs = {
        packaging::Output::parse("tar:" + (outside.path() / "image.tar").string())};
  };
  const std::vector<Row> rows{
      {"pushed", [](packaging::Wanted&) {}, "direct", nullptr},
      {"pushed, by the direct engine", by(Engine::direct), "direct", nullptr},
      {"pushed, by docker", by(Engine::docker), "docker", "build"},
      {"with dependencies that nobody has",
       [](packaging::Wanted& wanted) { wanted.request.project.requirements = {"six"}; }, nullptr,
       nullptr},
      {"left in an engine that takes no part of an image", stays, "docker", "build"},
      {"in a file", to_files, "direct", nullptr},
      {"left in the engine, by the direct engine",
       [&](packaging::Wanted& wanted) {
         stays(wanted);
         wanted.request.engine = Engine::direct;
       },
       nullptr, nullptr},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    Machine machine;
    if (row.engine == nullptr) {
      CHECK_THROWS_AS(machine.package([&](packaging::Wanted& wanted) {
        row.change(wanted);
        wanted.request.engine = Engine::direct;
      }),
                      Error);
      CHECK_FALSE(machine.was_asked("build"));
      continue;
    }
    const auto image = machine.package(row.change);
    CHECK(image.engine == row.engine);
    CHECK(machine.was_asked("build") == (row.call != nullptr));
  }
}

TEST_CASE("the code is loaded on what the engine holds") {
  Machine machine;
  const std::string pinned = machine.docker.images.begin()->first;
  const auto stays = [](packaging::Wanted& wanted) { wanted.may_push = false; };
  const auto manifest = machine.registry.manifest("base", "1");
  const auto parsed = image::parse_manifest(manifest, "the base");
  image::Source held{.name = pinned,
                     .digest = sha256(manifest),
                     .manifest = parsed,
                     .configuration = machine.registry.blob(parsed.config.digest.str())};
  machine.docker.held_images.emplace(pinned, std::move(held));
  const auto image = machine.package(stays);
  CHECK(image.engine == "direct");
  CHECK(machine.was_asked("load"));
  CHECK_FALSE(machine.was_asked("build"));
  CHECK_FALSE(image.digest);
  // A step while the project is read, which leaves no line.
  const auto is_reading = [](StepEvent::State state) {
    return [state](const StepEvent& event) {
      return event.name == "read the files of the project" && event.state == state;
    };
  };
  const auto& steps = machine.reporter.steps;
  CHECK(std::ranges::any_of(steps, is_reading(StepEvent::State::started)));
  CHECK(std::ranges::count_if(steps, is_reading(StepEvent::State::started)) ==
        std::ranges::count_if(steps, is_reading(StepEvent::State::cached)));
  CHECK(machine.said().find("Loaded " + image.repository + ":" + image.tag + " in ") !=
        std::string::npos);
}

TEST_CASE("a dependency image is built once, and again when it is too old") {
  Machine machine;
  machine.docker.on_push = [&](const image::Reference& name) {
    return machine.push_dependencies(name.tag.value(), "2001-02-03T04:05:06Z");
  };
  const auto builds = [&] {
    return std::count_if(machine.docker.calls.begin(), machine.docker.calls.end(),
                         [](const std::string& call) { return call.starts_with("build "); });
  };
  const auto six = [](packaging::Wanted& wanted) { wanted.request.project.requirements = {"six"}; };
  const auto first = machine.package(six);
  CHECK(builds() == 1);
  CHECK(machine.was_asked("push " + target_name + ":apd-"));
  CHECK_FALSE(first.dependencies.value().reused);
  CHECK(first.bytes_uploaded >= 1'500'000);

  machine.write("train.py", "print('an edit')\n");
  const auto edited = machine.package(six);
  CHECK(builds() == 1);
  CHECK(edited.dependencies.value().reused);
  CHECK(edited.digest != first.digest);

  const auto young = [&](packaging::Wanted& wanted) {
    six(wanted);
    wanted.request.max_dependency_age = std::chrono::hours{24};
  };
  machine.docker.on_push = [&](const image::Reference& name) {
    return machine.push_dependencies(name.tag.value(), "2101-02-03T04:05:06Z");
  };
  const auto renewed = machine.package(young);
  CHECK(builds() == 2);
  CHECK(machine.docker.built.no_cache);
  CHECK(renewed.dependencies.value().reason == "they are older than 1 day");
  CHECK(machine.package(young).outcome.reused);
  CHECK(builds() == 2);

  const auto other = [](packaging::Wanted& wanted) {
    wanted.request.project.requirements = {"six", "wheel"};
  };
  const auto changed = machine.package(other);
  CHECK(builds() == 3);
  CHECK(changed.dependencies.value().reason.find("wheel") != std::string::npos);
  // They are requested from the registry, which lost them.
  machine.registry.remove_tag("team/model", changed.tag);
  machine.registry.remove_tag(
      "team/model", "apd-" + machine.docker.built.tags.at(0).substr(target_name.size() + 5));
  const auto lost = machine.package(other);
  CHECK(builds() == 3);  // the engine has them
  CHECK(lost.dependencies.value().reason.starts_with("the registry has no apd-"));
}

TEST_CASE("an installed package in the engine serves every repository") {
  Machine machine;
  machine.write("setup.py", "from setuptools import setup\nsetup(name=input())\n");
  machine.docker.on_push = [&](const image::Reference& name) {
    return machine.push_dependencies(name.tag.value(), "2001-02-03T04:05:06Z", name.path);
  };
  machine.docker.file_text = R"({"format":1,"reads":{},"asks":{},"lists":[],"removed":[],)"
                             R"("tree":"","whole":null,"written":[]})";
  machine.package();
  const auto& built = machine.docker.built;
  REQUIRE(machine.was_asked("build " + target_name + ":apd-"));
  machine.docker.listed = {
      {.id = machine.docker.built_id, .names = {built.tags.front()}, .labels = built.labels}};

  machine.docker.calls.clear();
  const std::string other = std::string{host} + "/team/other";
  machine.package(
      [&](packaging::Wanted& wanted) { wanted.name = pipeline::name_image(other, "model", {}); });
  CHECK(machine.was_asked("tag " + other + ":apd-"));
  CHECK(machine.was_asked("push " + other + ":apd-"));
  CHECK_FALSE(machine.was_asked("build"));
}

TEST_CASE("a user's tag follows the image, whoever made it") {
  Machine machine;
  const auto named = [](const char* tag, Engine engine = Engine::automatic) {
    return [tag, engine](packaging::Wanted& wanted) {
      wanted.request.engine = engine;
      if (!wanted.name.reference.path.empty()) {
        wanted.name.reference.tag = tag;
      }
    };
  };
  const auto first = machine.package(named("v1"));
  CHECK(sha256(machine.registry.manifest("team/model", "v1")) == first.digest);
  CHECK(machine.package(named("v2")).outcome.reused);
  CHECK(sha256(machine.registry.manifest("team/model", "v2")) == first.digest);

  // The docker engine asks the registry itself.
  machine.docker.digests.insert_or_assign(target_name + ":" + first.tag, *first.digest);
  const auto by_docker = machine.package(named("v3", Engine::docker));
  CHECK(by_docker.outcome.reused);
  CHECK(machine.was_asked("push " + target_name + ":v3"));
  CHECK_FALSE(machine.was_asked("build"));
}

TEST_CASE("an image in the engine is reused for its key, and rebuilt if it is too old") {
  Machine machine;
  const auto stays = [](packaging::Wanted& wanted) {
    wanted.may_push = false;
    wanted.request.project.requirements = {"six"};
  };
  machine.package(stays);
  const auto calls = machine.docker.calls.size();
  CHECK(machine.package(stays).outcome.reused);
  CHECK(std::none_of(machine.docker.calls.begin() + static_cast<std::ptrdiff_t>(calls),
                     machine.docker.calls.end(),
                     [](const std::string& call) { return call.starts_with("build "); }));
  machine.docker.built_times = {1};
  const auto old = machine.package([&](packaging::Wanted& wanted) {
    stays(wanted);
    wanted.request.max_dependency_age = std::chrono::hours{1};
  });
  CHECK_FALSE(old.outcome.reused);
  CHECK(old.outcome.reason == "they are older than 1 hour");
  CHECK(machine.docker.built.no_cache);
}

TEST_CASE("facts at hand are never assumed, and need no registry") {
  Machine machine;
  CHECK_FALSE(machine.facts_at_hand("only/here:1"));
  machine.docker.images["only/here:1"] = {.id = sha256("here").str(), .platform = "linux/amd64"};
  const auto facts = machine.facts_at_hand("only/here:1");
  REQUIRE(facts);
  CHECK(facts->image_id == sha256("here").str());
  CHECK_FALSE(machine.was_asked("pull "));
  CHECK_FALSE(machine.facts_at_hand("elsewhere/image:1"));
}

}  // namespace autopack::pipeline_package_test
