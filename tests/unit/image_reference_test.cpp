#include "base/error.hpp"
#include "image/reference.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::image_reference_test {

using image::Reference;
using image::sanitize_component;

namespace {

const std::string hex(64, 'a');
const std::string sha = "sha256:" + hex;

std::string hint_of(const std::string& text) {
  try {
    Reference::parse(text);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    REQUIRE(error.hints().size() == 1);
    return error.hints()[0];
  }
  return "no error";
}

}  // namespace

TEST_CASE("image names are read as docker reads them") {
  struct Case {
    std::string text;
    std::string host;
    std::string path;
    std::string tag;
    std::string digest;
    std::string repository;
  };

  // Each line was checked with github.com/distribution/reference itself.
  const std::vector<Case> cases{
      {"python", "docker.io", "library/python", "", "", "python"},
      {"python:3.11", "docker.io", "library/python", "3.11", "", "python"},
      {"team/app", "docker.io", "team/app", "", "", "team/app"},
      {"library/python", "docker.io", "library/python", "", "", "python"},
      {"library/a/b", "docker.io", "library/a/b", "", "", "library/a/b"},
      {"docker.io/python", "docker.io", "library/python", "", "", "python"},
      {"index.docker.io/a/b", "docker.io", "a/b", "", "", "a/b"},
      {"localhost/app", "localhost", "app", "", "", "localhost/app"},
      {"localhost:5000/app:1", "localhost:5000", "app", "1", "", "localhost:5000/app"},
      {"127.0.0.1:5000/a/b", "127.0.0.1:5000", "a/b", "", "", "127.0.0.1:5000/a/b"},
      {"[fc00::1]:5000/app", "[fc00::1]:5000", "app", "", "", "[fc00::1]:5000/app"},
      {"[::1]/app", "[::1]", "app", "", "", "[::1]/app"},
      {"us-docker.pkg.dev/p/r/i:t", "us-docker.pkg.dev", "p/r/i", "t", "",
       "us-docker.pkg.dev/p/r/i"},
      {"gcr.io/example.com/p/i", "gcr.io", "example.com/p/i", "", "", "gcr.io/example.com/p/i"},
      {"Registry/app", "Registry", "app", "", "", "Registry/app"},
      {"my-host:1/a", "my-host:1", "a", "", "", "my-host:1/a"},
      {"a.b", "docker.io", "library/a.b", "", "", "a.b"},
      {"localhost", "docker.io", "library/localhost", "", "", "localhost"},
      {"a__b/c--d_e.f", "docker.io", "a__b/c--d_e.f", "", "", "a__b/c--d_e.f"},
      {"app@" + sha, "docker.io", "library/app", "", sha, "app"},
      {"gcr.io/p/i:v_1.0-X@" + sha, "gcr.io", "p/i", "v_1.0-X", sha, "gcr.io/p/i"},
      {"docker.io/" + hex, "docker.io", "library/" + hex, "", "", hex},
      {"app:" + std::string(128, 't'), "docker.io", "library/app", std::string(128, 't'), "",
       "app"},
  };
  for (const auto& expected : cases) {
    CAPTURE(expected.text);
    CHECK_FALSE(Reference::fault(expected.text));
    const auto read = Reference::parse(expected.text);
    CHECK(read.host == expected.host);
    CHECK(read.path == expected.path);
    CHECK(read.tag.value_or("") == expected.tag);
    CHECK((read.digest ? read.digest->str() : "") == expected.digest);
    CHECK(read.text == expected.text);
    CHECK(read.repository() == expected.repository);
  }
}

TEST_CASE("a bad image name is reported with the wrong part") {
  struct Case {
    std::string text;
    std::string fault;
  };

  const std::string shape = "is not letters and digits joined by `.`, `_`, `__` or `-`";
  const std::string tag_shape =
      "is not letters, digits, `_`, `.` and `-`, the first a letter, digit or `_`";
  const std::vector<Case> cases{
      {"", "it is empty"},
      {" app", "it has white space"},
      {"app\n", "it has white space"},
      {"https://gcr.io/p/i", "it begins with `https://`"},
      {hex, "it is the ID of an image, not a name"},
      {sha, "it is the ID of an image, not a name"},
      {"Python", "the path `Python` has upper-case letters"},
      {"gcr.io/Project/app:T", "the path `Project/app` has upper-case letters"},
      {"team/-app", "`-app` " + shape},
      {"team/app-", "`app-` " + shape},
      {"a..b", "`a..b` " + shape},
      {"a___b", "`a___b` " + shape},
      {"a._b", "`a._b` " + shape},
      {"caf\xC3\xA9", "`caf\xC3\xA9` " + shape},
      {"$PROJECT/app", "`$PROJECT` is not the name of a registry host"},
      {"a//b", "the path `a//b` has an empty part"},
      {"/app", "the path `/app` has an empty part"},
      {"app/", "the path `app/` has an empty part"},
      {"gcr.io/", "it has no path"},
      {"gcr.io/:tag", "it has no path"},
      {"@" + sha, "it has no path"},
      {"app:", "the tag after `:` is empty"},
      {"app:.1", "the tag `.1` " + tag_shape},
      {"app:a:b", "the tag `a:b` " + tag_shape},
      {"app:v1+cu121", "the tag `v1+cu121` " + tag_shape},
      {"app:" + std::string(129, 't'), "the tag is longer than 128 characters"},
      {"gcr.io/" + std::string(256, 'a'), "the path is longer than 255 characters"},
      {"app@sha256:abc", "the digest `sha256:abc` is not `sha256:` and 64 hexadecimal digits"},
      {"app@", "the digest `` is not `sha256:` and 64 hexadecimal digits"},
      {"host:port/app", "the port `port` of the registry `host` is not a number"},
      {"host:/app", "the port `` of the registry `host` is not a number"},
      {"-a.b/app", "`-a.b` is not the name of a registry host"},
      {"a..b/app", "`a..b` is not the name of a registry host"},
      {"a_b.c/app", "`a_b.c` is not the name of a registry host"},
      {"[::1/app", "the port `:1` of the registry `[` is not a number"},
      {"[]:5/app", "`[]` is not an IPv6 address in brackets"},
      {"[fe80::1%eth0]:5/app", "`[fe80::1%eth0]` is not an IPv6 address in brackets"},
      {"gcr.io/example.com:p/app", "`example.com:p` has a `:` before a `/`"},
      {"app\x1b", "`app\\x1b` " + shape},
  };
  for (const auto& [text, fault] : cases) {
    const auto& shown = text;
    CAPTURE(shown);
    const auto found = Reference::fault(text);
    REQUIRE(found);
    CHECK(found->ends_with(" is not an image name: " + fault));
    try {
      Reference::parse(text);
      FAIL("did not throw");
    } catch (const Error& error) {
      CHECK(error.message() == *found);
    }
  }
}

TEST_CASE("the hint is what could be typed instead") {
  CHECK(hint_of("gcr.io/My-Project/App:V1") == "write `gcr.io/my-project/app:V1`");
  CHECK(hint_of("https://gcr.io/p/i") == "write `gcr.io/p/i`");
  CHECK(hint_of("us-docker.pkg.dev/example.com:p/r/i") ==
        "write `us-docker.pkg.dev/example.com/p/r/i`");
  CHECK(hint_of("a..b") == "image names are [HOST[:PORT]/]PATH[:TAG][@sha256:DIGEST]");
}

TEST_CASE("an image name is written as docker prints it") {
  const auto digest = *Digest::parse(sha);
  CHECK(Reference::parse("python").tagged() == "python:latest");
  CHECK(Reference::parse("docker.io/library/python:3").tagged() == "python:3");
  CHECK(Reference::parse("gcr.io/p/i@" + sha).tagged() == "gcr.io/p/i@" + sha);
  CHECK(Reference::parse("gcr.io/p/i:t@" + sha).tagged() == "gcr.io/p/i:t");
  CHECK(Reference::parse("gcr.io/p/i:t").with_digest(digest) == "gcr.io/p/i@" + sha);
  CHECK(Reference::parse("gcr.io/p/i@" + sha).with_tag("x") == "gcr.io/p/i:x");
}

TEST_CASE("whether a registry was named, and whether it is here") {
  CHECK(Reference::parse("gcr.io/p/i").names_registry());
  CHECK(Reference::parse("docker.io/p/i").names_registry());
  CHECK(Reference::parse("localhost/i").names_registry());
  CHECK_FALSE(Reference::parse("p/i").names_registry());
  CHECK_FALSE(Reference::parse("localhost").names_registry());
  for (const char* text :
       {"localhost/a", "localhost:5000/a", "127.0.0.1:5000/a", "127.1.2.3/a", "[::1]:5/a"}) {
    CAPTURE(text);
    CHECK(Reference::parse(text).is_loopback());
  }
  for (const char* text : {"a", "gcr.io/a", "127.evil.org/a", "localhost.evil.org/a", "[::2]/a"}) {
    CAPTURE(text);
    CHECK_FALSE(Reference::parse(text).is_loopback());
  }
}

TEST_CASE("any text becomes a component of an image name") {
  struct Case {
    std::string text;
    std::string component;
  };

  const std::vector<Case> cases{
      {"trainer", "trainer"},
      {"My Job", "my.job"},
      {"train - v1.0", "train.v1.0"},
      {"a--b", "a--b"},
      {"a_b.c", "a_b.c"},
      {"a__b", "a.b"},
      {"a.-b", "a.b"},
      {"a-_b", "a.b"},
      {"-._job_.-", "job"},
      {"trainer/task.py", "trainer.task.py"},
      {"mod\xC3\xA8le", "mod.le"},
      {"linux/amd64", "linux.amd64"},
  };
  for (const auto& [text, component] : cases) {
    const auto& shown = text;
    CAPTURE(shown);
    CHECK(sanitize_component(text) == component);
  }
  const std::string japanese = sanitize_component("\xE6\x97\xA5\xE6\x9C\xAC");
  CHECK(japanese.starts_with("name-"));
  CHECK(japanese != sanitize_component("\xE4\xB8\xAD\xE5\x9B\xBD"));
  CHECK(japanese == sanitize_component("\xE6\x97\xA5\xE6\x9C\xAC"));
  for (const std::string& text : {std::string{}, std::string{"---"}, std::string(300, 'x'),
                                  japanese, std::string(127, 'x') + "- y", std::string{"\xFF"}}) {
    CAPTURE(text);
    const auto component = sanitize_component(text);
    CHECK(component.size() <= 128);
    CHECK_FALSE(Reference::fault("gcr.io/project/autopack/" + component));
  }
}

TEST_CASE("names as go-containerregistry reads them") {
  // From the tests of its package `name`, rewritten; `difference` if autopack differs.
  struct Row {
    std::string name{};
    std::string host{};  ///< the peer's result; empty if it refuses the name
    std::string path{};
    std::string difference{};
  };

  const std::string digest = "sha256:" + std::string(64, 'b');
  const std::string host_of_docker{"it calls `index.docker.io` what docker calls `docker.io`"};
  const std::vector<Row> rows{
      {"gcr.io/a/b:latest", "gcr.io", "a/b"},
      {"gcr.io/team.example/a/b:latest", "gcr.io", "team.example/a/b"},
      {"gcr.io/a/with-nums:v2", "gcr.io", "a/with-nums"},
      {"us.gcr.io/a/b:with.period.in.tag", "us.gcr.io", "a/b"},
      {"gcr.io/a/b:w1th-alpha_num3ric.PLUScaps", "gcr.io", "a/b"},
      {"host.with.port:9001/image:latest", "host.with.port:9001", "image"},
      {"www.example.test:12345/repo/path", "www.example.test:12345", "repo/path"},
      {"gcr.io/a/implicit-latest", "gcr.io", "a/implicit-latest"},
      {"localhost:9090/a", "localhost:9090", "a"},
      {"localhost/a", "localhost", "a"},
      {"gcr.io/a/b@" + digest, "gcr.io", "a/b"},
      {"gcr.io/a/b:v1@" + digest, "gcr.io", "a/b"},
      {"namespace/path/image", "index.docker.io", "namespace/path/image", host_of_docker},
      {"library/ubuntu", "index.docker.io", "library/ubuntu", host_of_docker},
      {"ubuntu", "index.docker.io", "library/ubuntu", host_of_docker},
      {"docker.io/ubuntu", "index.docker.io", "library/ubuntu", host_of_docker},
      {"index.docker.io/ubuntu", "index.docker.io", "library/ubuntu", host_of_docker},
      {"", "", ""},
      {"white space", "", ""},
      {"b@char/image", "", ""},
      {"gcr?com/a", "", ""},
      {"gcr.io/a/b:c@n'tuse", "", ""},
      {"gcr.io/a/b:white space", "", ""},
      {"gcr.io/a/b:" + std::string(129, 't'), "", ""},
      {"gcr.io/a/b@", "", ""},
      {"gcr.io/a/b@unknown:abc", "", ""},
      {"gcr.io/a/b@sha256:short", "", ""},
      {"gcr.io/a/b@sha256:" + std::string(64, 'x'), "", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    REQUIRE(Reference::fault(row.name).has_value() == row.host.empty());
    if (row.host.empty()) {
      continue;
    }
    const auto reference = Reference::parse(row.name);
    CHECK(reference.host == (row.difference.empty() ? row.host : "docker.io"));
    CHECK(reference.path == row.path);
  }
}

}  // namespace autopack::image_reference_test
