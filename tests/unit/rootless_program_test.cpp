#include "base/error.hpp"
#include "base/json.hpp"
#include "rootless/program.hpp"
#include "rootless/runtime.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace autopack::rootless_program_test {

namespace {

using engine::ContainerSpec;
using rootless::Program;
using Words = std::vector<std::string>;

const std::map<std::string, std::string> databases{
    {"etc/passwd",
     "root:x:0:0:root:/root:/bin/sh\nworker:x:1234:55:,,,:/srv/home:/bin/sh\nbroken:x:-1:0::/:\n"},
    {"etc/group", "root:x:0:\nstaff:x:50:worker\n"}};

Program program_of(const std::string& config,
                   const ContainerSpec& spec = {},
                   const engine::Proxies& proxies = {}) {
  const auto configuration = image::Configuration::parse(
      R"({"rootfs": {"type": "layers", "diff_ids": []}, "config": )" + config + "}", "a test");
  return rootless::program_of(
      configuration, spec, proxies, [](const std::string& path) -> std::optional<std::string> {
        const auto found = databases.find(path);
        return found == databases.end() ? std::nullopt : std::optional{found->second};
      });
}

std::string value_of(const Program& program, const std::string& name) {
  const auto found =
      std::ranges::find_if(program.environment, [&](const auto& one) { return one.first == name; });
  return found == program.environment.end() ? "absent" : found->second;
}

bool contains_in_order(const Words& words, const Words& part) {
  return std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end();
}

}  // namespace

TEST_CASE("a program without an engine: words as an engine puts them together") {
  const std::string config = R"({"Entrypoint": ["python3", "a.py"], "Cmd": ["--usual"]})";
  CHECK(program_of(config).words == Words{"python3", "a.py", "--usual"});
  ContainerSpec spec{.arguments = {"--mine"}};
  CHECK(program_of(config, spec).words == Words{"python3", "a.py", "--mine"});
  spec.command = {"sh", "-c"};
  CHECK(program_of(config, spec).words == Words{"sh", "-c", "--mine"});
  spec.arguments.clear();
  CHECK(program_of(config, spec).words == Words{"sh", "-c"});
  CHECK(program_of(R"({"Cmd": ["python3"]})").words == Words{"python3"});
  CHECK_THROWS_WITH_AS(program_of("{}"), "the image starts no program", Error);
  CHECK_THROWS_AS(program_of(R"({"Cmd": "python3"})"), Error);
}

TEST_CASE("a program without an engine: variables and directory") {
  const ContainerSpec spec{.environment = {{"A", "mine"}, {"Z", "mine"}}, .tty = true};
  const auto program = program_of(
      R"({"Cmd": ["x"], "WorkingDir": "usr/app", "Env": ["A=images", "B=1=2", "PATH=/p"]})", spec,
      {{"HTTP_PROXY", Secret{"http://proxy"}}, {"A", Secret{"proxy"}}});
  CHECK(program.directory == "/usr/app");
  Words names;
  for (const auto& [name, value] : program.environment) {
    names.push_back(name);
  }
  CHECK(names == Words{"PATH", "HOSTNAME", "TERM", "A", "HTTP_PROXY", "Z", "B", "HOME"});
  CHECK(value_of(program, "A") == "mine");
  CHECK(value_of(program, "B") == "1=2");
  CHECK(value_of(program, "PATH") == "/p");
  CHECK(value_of(program, "HTTP_PROXY") == "http://proxy");
  CHECK(program_of(R"({"Cmd": ["x"]})").directory == "/");
}

TEST_CASE("a program without an engine: the image's user") {
  const auto user = [](const std::string& name) {
    const auto program = program_of(R"({"Cmd": ["x"], "User": ")" + name + R"("})");
    return std::to_string(program.user) + ":" + std::to_string(program.group) + " " +
           value_of(program, "HOME");
  };
  CHECK(user("") == "0:0 /root");
  CHECK(user("worker") == "1234:55 /srv/home");
  CHECK(user("1234") == "1234:55 /srv/home");
  CHECK(user("worker:staff") == "1234:50 /srv/home");
  CHECK(user("7:8") == "7:8 /");
  CHECK(user("7") == "7:0 /");
  for (const auto* name :
       {"nobody", "broken", "-1", "4294967295", "99999999999", "worker:nobody"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(user(name), Error);
  }
}

TEST_CASE("a program without an engine: ports and GPUs") {
  using Port = ContainerSpec::Port;
  const std::string config = R"({"Cmd": ["x"]})";
  CHECK_NOTHROW(
      program_of(config, {.ports = {Port{.container_port = "6006/tcp"},
                                    Port{.host_port = "80", .container_port = "80/tcp"}}}));
  try {
    program_of(config,
               {.ports = {Port{.host_port = "8080", .container_port = "80/tcp"}}, .gpus = true});
    FAIL("it is possible");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(error.problems().size() == 2);
  }
}

TEST_CASE("the options of bwrap") {
  Program program{.words = {"python3"},
                  .environment = {{"TOKEN", "hidden"}},
                  .directory = "/usr/app",
                  .mounts = {{.host_path = "/data", .container_path = "/in", .read_only = true},
                             {.host_path = "/out", .container_path = "/out", .read_only = false}}};
  const auto as_root = rootless::bubblewrap_options(program, "/root/of/image");
  CHECK(contains_in_order(as_root, {"--bind", "/root/of/image", "/"}));
  CHECK(contains_in_order(as_root, {"--ro-bind", "/data", "/in", "--bind", "/out", "/out"}));
  CHECK(contains_in_order(as_root, {"--cap-drop", "ALL"}));
  CHECK(!contains_in_order(as_root, {"CAP_SYS_ADMIN"}));
  CHECK(contains_in_order(as_root,
                          {"--chdir", "/usr/app", "--clearenv", "--setenv", "TOKEN", "hidden"}));
  program.user = 7;
  program.group = 8;
  const auto as_other = rootless::bubblewrap_options(program, "/root/of/image");
  CHECK(contains_in_order(as_other, {"--unshare-user", "--uid", "7", "--gid", "8"}));
}

TEST_CASE("the bundle of an OCI runtime") {
  const Program program{
      .words = {"python3", "a b"},
      .environment = {{"A", "x=y"}},
      .directory = "/usr/app",
      .mounts = {{.host_path = "/data", .container_path = "/in", .read_only = true}},
      .has_terminal = true};
  const auto bundle = parse_json(rootless::bundle_configuration(program, "/root/of/image"));
  CHECK(bundle["root"]["path"] == "/root/of/image");
  CHECK(bundle["process"]["args"] == nlohmann::json({"python3", "a b"}));
  CHECK(bundle["process"]["env"] == nlohmann::json({"A=x=y"}));
  CHECK(bundle["process"]["terminal"] == true);
  CHECK(bundle["process"]["noNewPrivileges"] == true);
  const auto& last = bundle["mounts"].back();
  CHECK(last["destination"] == "/in");
  CHECK(last["options"] == nlohmann::json({"rbind", "ro"}));
}

}  // namespace autopack::rootless_program_test
