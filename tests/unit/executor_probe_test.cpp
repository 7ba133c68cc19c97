#include "base/error.hpp"
#include "base/text.hpp"
#include "engine/containers.hpp"
#include "engine/docker.hpp"
#include "executor/probe.hpp"
#include "support/named_files.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace autopack::executor_probe_test {

using engine::LocalImage;
using executor::probe_base;
using executor::probe_image_facts;

namespace {

const std::string digest_a = "sha256:" + std::string(64, 'a');
const std::string digest_b = "sha256:" + std::string(64, 'b');

/// An engine of a few images and one file system.
class FakeDocker final : public engine::Docker {
public:
  engine::EngineInfo engine{};
  std::map<std::string, LocalImage> images{};
  std::map<std::string, LocalImage> registry{};  ///< by `name@digest`
  std::optional<Digest> registry_digest{};
  std::vector<std::string> origins{};          ///< of every image
  std::map<std::string, std::string> files{};  ///< with the target of links
  std::vector<std::string> calls{};

  const engine::EngineInfo& info() override { return engine; }

  std::optional<LocalImage> inspect(const std::string& reference) override {
    const auto found = images.find(reference);
    return found == images.end() ? std::nullopt : std::optional{found->second};
  }

  std::optional<std::vector<std::string>> repositories_with(
      const std::string& /*reference*/) override {
    return engine.reports_origin ? std::optional{origins} : std::nullopt;
  }

  Digest resolve(const image::Reference& reference) override {
    calls.push_back("resolve " + reference.text);
    if (!registry_digest) {
      throw Error(ErrorKind::remote, "could not find `" + reference.text + "`");
    }
    return *registry_digest;
  }

  void pull(const image::Reference& reference, const std::string& platform) override {
    const std::string name = reference.with_digest(*reference.digest);
    calls.push_back("pull " + name + " " + platform);
    images[name] = registry.at(name);
  }

  engine::BuildResult build(const engine::BuildRequest& /*request*/) override { return {}; }

  void tag(const std::string& image, const image::Reference& name) override {
    calls.push_back("tag " + image + " " + name.text);
  }

  engine::PushResult push(const image::Reference& name) override {
    return {.digest = sha256(name.text)};
  }

  std::vector<std::int64_t> run_times(const std::string& /*image*/) override { return {}; }

  void remove_image(const std::string& reference) override {
    calls.push_back("remove " + reference);
  }

  std::vector<engine::ListedImage> list_images(const std::string& /*label*/) override { return {}; }

  std::vector<std::string> left_containers() override { return {}; }

  void remove_container(const std::string& /*name*/) override {}

  void save(const std::string& /*name*/,
            const std::function<void(std::string_view)>& /*sink*/) override {}

  std::optional<image::Source> held(const std::string& /*name*/) override { return std::nullopt; }

  void load(const std::function<std::size_t(char*, std::size_t)>& /*read*/) override {}

  std::optional<std::string> read_file(const std::string& /*image*/,
                                       const std::string& /*path*/,
                                       std::size_t /*limit*/) override {
    return std::nullopt;
  }

  void with_files(const std::string& /*image*/,
                  const std::string& /*platform*/,
                  const std::function<void(engine::ImageFiles& files)>& use) override {
    testing::NamedFiles named{files};
    use(named);
  }

  engine::Containers& containers() override { throw std::logic_error{"no containers"}; }

  int run(const engine::ContainerSpec& /*spec*/,
          const engine::ContainerStreams& /*streams*/) override {
    return 0;
  }
};

struct Row {
  const char* what;
  const char* path;
  std::map<std::string, std::string> files;
  const char* python;
  bool pip;
};

image::BaseFacts facts_of(const std::string& path, std::map<std::string, std::string> files) {
  FakeDocker docker;
  docker.files = std::move(files);
  LocalImage image{.id = "sha256:1", .platform = "linux/amd64"};
  if (!path.empty()) {
    image.environment.push_back("PATH=" + path);
  }
  return probe_image_facts(docker, "x", image, "linux/amd64");
}

}  // namespace

TEST_CASE("the interpreter and its pip are found in every usual layout") {
  const std::vector<Row> rows{
      {"Debian",
       "",
       {{"/usr/bin/python3", "/usr/bin/python3.11"},
        {"/usr/bin/python3.11", ""},
        {"/usr/lib/python3/dist-packages/pip/__init__.py", ""}},
       "python3",
       true},
      {"Debian without pip",
       "",
       {{"/usr/bin/python3", "/usr/bin/python3.11"}, {"/usr/bin/python3.11", ""}},
       "python3",
       false},
      {"python:3.12",
       "/usr/local/bin:/usr/bin",
       {{"/usr/local/bin/python3", "/usr/local/bin/python3.12"},
        {"/usr/local/bin/python3.12", ""},
        {"/usr/bin/python3", "/usr/bin/python3.11"},
        {"/usr/bin/python3.11", ""},
        {"/usr/local/lib/python3.12/site-packages/pip/__init__.py", ""}},
       "python3",
       true},
      {"the first on PATH counts, not the one with pip",
       "/usr/local/bin:/usr/bin",
       {{"/usr/local/bin/python3", "/usr/local/bin/python3.12"},
        {"/usr/local/bin/python3.12", ""},
        {"/usr/bin/python3", "/usr/bin/python3.11"},
        {"/usr/bin/python3.11", ""},
        {"/usr/lib/python3/dist-packages/pip/__init__.py", ""}},
       "python3",
       false},
      {"conda",
       "/opt/conda/bin/:/usr/bin",
       {{"/opt/conda/bin/python3", "/opt/conda/bin/python3.10"},
        {"/opt/conda/bin/python3.10", ""},
        {"/opt/conda/lib/python3.10/site-packages/pip/__init__.py", ""}},
       "python3",
       true},
      {"a virtual environment has its own pip or none",
       "/venv/bin:/usr/bin",
       {{"/venv/bin/python3", "/usr/bin/python3.11"},
        {"/usr/bin/python3.11", ""},
        {"/venv/pyvenv.cfg", ""},
        {"/usr/lib/python3/dist-packages/pip/__init__.py", ""}},
       "python3",
       false},
      {"a virtual environment with pip",
       "/venv/bin:/usr/bin",
       {{"/venv/bin/python3", "/usr/bin/python3.11"},
        {"/usr/bin/python3.11", ""},
        {"/venv/pyvenv.cfg", ""},
        {"/venv/lib/python3.11/site-packages/pip/__init__.py", ""}},
       "python3",
       true},
      {"only python",
       "/opt/bin",
       {{"/opt/bin/python", ""}, {"/opt/lib/python3.9/site-packages/pip/__init__.py", ""}},
       "python",
       true},
      {"python3 wins over python",
       "/a:/b",
       {{"/a/python", ""}, {"/b/python3", ""}},
       "python3",
       false},
      {"a dangling link is none",
       "/usr/bin",
       {{"/usr/bin/python3", "/usr/bin/python3.11"}},
       "",
       false},
      {"another version's pip",
       "",
       {{"/usr/bin/python3", "/usr/bin/python3.11"},
        {"/usr/bin/python3.11", ""},
        {"/usr/lib/python3.9/site-packages/pip/__init__.py", ""}},
       "python3",
       false},
      {"relative and empty parts of PATH",
       ":bin::/usr/bin",
       {{"/usr/bin/python3", ""}},
       "python3",
       false},
      {"nothing", "", {}, "", false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    const auto facts = facts_of(row.path, row.files);
    CHECK(facts.python.value_or("") == row.python);
    CHECK(facts.pip == row.pip);
    CHECK_FALSE(facts.apt);
  }
}

TEST_CASE("the configuration's facts are kept") {
  FakeDocker docker;
  docker.files = {{"/usr/bin/apt-get", ""}};
  const LocalImage image{.id = "sha256:1",
                         .platform = "linux/amd64",
                         .user = "app",
                         .entrypoint = {"/start"},
                         .environment = {"CUDA_VERSION_X=1", "CUDA_VERSION=12.4.1"}};
  const auto facts = probe_image_facts(docker, "x", image, "");
  CHECK(facts.apt);
  CHECK(facts.user == "app");
  CHECK(facts.entrypoint == image.entrypoint);
  CHECK(facts.cuda_version == "12.4.1");
  CHECK(facts.image_id == "sha256:1");
}

TEST_CASE("an image that came from no registry is taken as it is") {
  FakeDocker docker;
  docker.images["team/base:1"] = {.id = "sha256:1", .platform = "linux/amd64"};
  const auto facts = probe_base(docker, image::Reference::parse("team/base:1"), "linux/amd64");
  CHECK_FALSE(facts.digest);
  CHECK(facts.image_id == "sha256:1");
  CHECK(facts.reference == "team/base:1");
  CHECK(docker.calls.empty());

  docker.images["team/base:1"].repository_digests = {"registry.example/other@" + digest_a};
  CHECK_FALSE(probe_base(docker, image::Reference::parse("team/base:1"), "").digest);
  CHECK(docker.calls.empty());
  CHECK_THROWS_AS(probe_base(docker, image::Reference::parse("team/base:1"), "linux/arm64"), Error);
}

TEST_CASE("an image of a registry is what the registry has now") {
  FakeDocker docker;
  docker.images["python:3.12"] = {
      .id = "sha256:old", .repository_digests = {"python@" + digest_a}, .platform = "linux/amd64"};
  docker.registry["python@" + digest_b] = {.id = "sha256:new", .platform = "linux/amd64"};
  docker.registry_digest = Digest::parse(digest_b);
  const auto facts = probe_base(docker, image::Reference::parse("python:3.12"), "linux/amd64");
  CHECK(facts.digest == Digest::parse(digest_b));
  CHECK(facts.image_id == "sha256:new");
  CHECK(docker.calls == std::vector<std::string>{"resolve python:3.12",
                                                 "pull python@" + digest_b + " linux/amd64"});

  docker.calls.clear();
  docker.registry_digest.reset();
  try {
    probe_base(docker, image::Reference::parse("python:3.12"), "linux/amd64");
    FAIL("a stale image was taken");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::remote);
    CHECK(join(error.hints(), "\n").find("python@" + digest_a) != std::string::npos);
  }
}

TEST_CASE("an image of containerd's store that came from no registry is taken as it is") {
  FakeDocker docker;
  docker.engine.reports_origin = true;
  docker.images["team/base:1"] = {.id = digest_a,
                                  .repository_digests = {"team/base@" + digest_a},
                                  .id_is_manifest = true,
                                  .platform = "linux/amd64"};
  const auto facts = probe_base(docker, image::Reference::parse("team/base:1"), "linux/amd64");
  CHECK_FALSE(facts.digest);
  CHECK(facts.image_id == digest_a);
  CHECK(docker.calls.empty());

  // Hosts are reported without their port.
  const auto loopback = image::Reference::parse("127.0.0.1:5000/team/base:1");
  docker.images["127.0.0.1:5000/team/base:1"] = docker.images["team/base:1"];
  docker.origins = {"127.0.0.1/team/base"};
  docker.registry_digest = Digest::parse(digest_b);
  CHECK(executor::digest_now(docker, loopback).digest == Digest::parse(digest_b));
}

TEST_CASE(
    "an image of containerd's store is taken when no registry says what its name stands for") {
  FakeDocker docker;
  const auto reference = image::Reference::parse("registry.example/base:1");
  docker.images["registry.example/base:1"] = {
      .id = digest_a,
      .repository_digests = {"registry.example/base@" + digest_a},
      .id_is_manifest = true,
      .platform = "linux/amd64"};
  for (const bool tells_origin : {false, true}) {
    CAPTURE(tells_origin);
    docker.calls.clear();
    docker.engine.reports_origin = tells_origin;
    docker.origins = {"registry.example/base"};
    const auto now = executor::digest_now(docker, reference);
    CHECK_FALSE(now.digest);
    CHECK(now.doubt);
    CHECK(probe_base(docker, reference, "linux/amd64").image_id == digest_a);
    // A known image of the engine is not checked again.
    docker.calls.clear();
    CHECK_FALSE(executor::digest_now(docker, reference, digest_a).doubt);
    CHECK(docker.calls.empty());
    CHECK(executor::digest_now(docker, reference, digest_b).doubt);
  }
}

TEST_CASE("a digest needs no registry when the engine has it") {
  FakeDocker docker;
  docker.images["python@" + digest_a] = {.id = "sha256:1", .platform = "linux/arm64/v8"};
  const auto reference = image::Reference::parse("python@" + digest_a);
  CHECK(probe_base(docker, reference, "linux/arm64").digest == Digest::parse(digest_a));
  CHECK(docker.calls.empty());
  docker.registry["python@" + digest_a] = {.id = "sha256:2", .platform = "linux/amd64"};
  CHECK(probe_base(docker, reference, "linux/amd64").image_id == "sha256:2");
}

TEST_CASE("Podman's own images are distinguished from a registry's by a request") {
  FakeDocker docker;
  docker.engine.podman = true;
  docker.images["base:1"] = {.id = "sha256:1",
                             .repository_digests = {"docker.io/library/base@" + digest_a},
                             .platform = "linux/amd64"};
  CHECK_FALSE(probe_base(docker, image::Reference::parse("base:1"), "").digest);
  CHECK(docker.calls == std::vector<std::string>{"resolve base:1"});
  docker.images["registry.example/base:1"] = docker.images["base:1"];
  CHECK_THROWS_AS(probe_base(docker, image::Reference::parse("registry.example/base:1"), ""),
                  Error);
}

TEST_CASE("FROM names exactly the image whose facts were found") {
  FakeDocker docker;
  const std::string id = "sha256:" + std::string(64, '1');
  docker.images["base:1"] = {.id = id, .platform = "linux/amd64"};
  image::BaseFacts facts{.reference = "base:1", .image_id = id, .platform = "linux/amd64"};
  CHECK(executor::BuildBase{docker, facts}.from() == "base:1");
  CHECK(docker.calls.empty());

  docker.images["base:1"].id = "sha256:moved";
  CHECK(executor::BuildBase{docker, facts}.from() == "autopack/base:1111111111111111");
  CHECK(docker.calls == std::vector<std::string>{"tag " + id + " autopack/base:1111111111111111",
                                                 "remove autopack/base:1111111111111111"});

  docker.calls.clear();
  facts.digest = Digest::parse(digest_a);
  docker.registry["base@" + digest_a] = {.id = id, .platform = "linux/amd64"};
  CHECK(executor::BuildBase{docker, facts}.from() == "base@" + digest_a);
  CHECK(docker.calls == std::vector<std::string>{"pull base@" + digest_a + " linux/amd64"});
}

TEST_CASE("FROM asks no registry about an image of containerd's store") {
  FakeDocker docker;
  docker.images["base:1"] = {.id = digest_a, .id_is_manifest = true, .platform = "linux/amd64"};
  docker.images["base@" + digest_a] = docker.images["base:1"];
  for (const auto& digest : {std::optional<Digest>{}, Digest::parse(digest_a)}) {
    docker.calls.clear();
    const image::BaseFacts facts{
        .reference = "base:1", .digest = digest, .image_id = digest_a, .platform = "linux/amd64"};
    std::string name;
    {
      const executor::BuildBase base{docker, facts};
      name = base.from().substr(0, base.from().find('@'));
      CHECK(name.starts_with("localhost:1/autopack/base:aaaaaaaaaaaaaaaa-"));
      CHECK(base.from() == name + "@" + digest_a);
    }
    CHECK(docker.calls ==
          std::vector<std::string>{"tag " + digest_a + " " + name, "remove " + name});
  }
}

}  // namespace autopack::executor_probe_test
