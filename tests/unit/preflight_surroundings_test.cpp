#include "base/json.hpp"
#include "cli/findings_text.hpp"
#include "preflight/surroundings.hpp"

#include <doctest/doctest.h>

namespace autopack::preflight_surroundings_test {

using namespace autopack::preflight;

namespace {

class Source final : public google::TokenSource {
public:
  google::AccessToken token() override { return {}; }

  void expire() override {}

  std::string describe() const override { return "a test"; }

  std::optional<std::string> project() const override { return {}; }

  std::optional<std::string> quota_project() const override { return {}; }
};

Environment environment(const std::string& name, const std::string& value) {
  return Environment{{{name, value}}};
}

}  // namespace

TEST_CASE("an engine is reported with its address, its lack of BuildKit as a warning") {
  const engine::Endpoint endpoint{.url = "tcp://user:secret@host:1", .origin = "DOCKER_HOST"};
  const auto good = judge_engine({.version = "20.10", .buildkit = true}, endpoint);
  CHECK(good.severity == Severity::ok);
  CHECK(good.message.find("DOCKER_HOST") != std::string::npos);
  CHECK(good.message.find("secret") == std::string::npos);
  CHECK(judge_engine({.version = "4", .podman = true}, endpoint).severity != Severity::warning);
  CHECK(judge_engine({.version = "17"}, endpoint).severity == Severity::warning);
  const auto stored = judge_engine({.version = "26", .store_lacks_upload = true}, endpoint);
  CHECK(stored.severity == Severity::warning);
  CHECK(stored.message.find("containerd's store") != std::string::npos);
}

TEST_CASE("an engine that is not there is an error, one that is silent is not") {
  const auto findings = or_error("engine", []() -> Problems {
    throw Error(ErrorKind::environment, "no engine").cause("why").hint("start it");
  });
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::error);
  CHECK(findings[0].reason == "why");
  CHECK(findings[0].hints == std::vector<std::string>{"start it"});
  CHECK_THROWS_AS(or_error("engine",
                           []() -> Problems {
                             throw http::TransportError{http::TransportError::Reason::timeout, "x"};
                           }),
                  http::TransportError);
  CHECK_THROWS_AS(or_error("engine", []() -> Problems { throw Interrupted{}; }), Interrupted);
}

TEST_CASE("space and proxy of the engine") {
  const Environment none;
  CHECK(judge_settings({}, none).empty());
  CHECK(judge_settings({.free_bytes = 1'000'000}, none)[0].severity == Severity::warning);
  CHECK(judge_settings({.free_bytes = 90'000'000'000}, none)[0].severity == Severity::ok);
  const auto proxied = environment("https_proxy", "http://user:secret@proxy:1");
  const auto found = judge_settings({}, proxied);
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::warning);
  CHECK(found[0].hints[0].find("secret") == std::string::npos);
  CHECK(judge_settings({.https_proxy = "http://proxy:1"}, proxied)[0].severity == Severity::ok);
}

TEST_CASE("logins, sudo, credentials and settings") {
  CHECK(judge_login(registry::Credential{.username = "me", .origin = "a file"}, "h").severity ==
        Severity::ok);
  CHECK(judge_login(std::nullopt, "eu.gcr.io").hints[0] ==
        "gcloud auth configure-docker eu.gcr.io");
  CHECK(judge_login(std::nullopt, "h:5000").hints[0] == "docker login h:5000");
  CHECK(judge_sudo(environment("SUDO_USER", "me")).size() == 1);
  CHECK(judge_sudo(environment("SUDO_USER", "root")).empty());
  CHECK(judge_sudo({}).empty());
  const Source source;
  const auto good = judge_credentials(source, {.expires_at = 4000}, 400);
  CHECK(good.severity == Severity::ok);
  CHECK(good.reason == "the token expires in 60 min and is renewed");
  CHECK(judge_credentials(source, {}, 400).severity == Severity::warning);
  CHECK(judge_setting("c", "project", {.value = "p", .origin = "o"}, {"x"}).severity ==
        Severity::ok);
  CHECK(judge_setting("c", "project", {}, {"x"}).severity == Severity::error);
}

TEST_CASE("findings are printed in 80 columns, long commands with continuation lines") {
  const std::string name(60, 'n');
  const Problems findings{
      failing("a", "what is wrong with a thing whose name is long `" + name + "`", "why",
              {"gcloud artifacts repositories create autopack --location=us-central1 "
               "--project=p --repository-format=docker",
               "docker run 'a b'"}),
      unknown("b", "one", "no answer"), unknown("c", "other", "no answer"), ok("d", "fine\x1b[2J")};
  const auto text = cli::findings_text(findings, cli::Paint{false});
  CHECK(text ==
        "error    what is wrong with a thing whose name is long\n"
        "         `" +
            name +
            "`\n"
            "         why\n"
            "         fix: gcloud artifacts repositories create autopack \\\n"
            "              --location=us-central1 --project=p --repository-format=docker\n"
            "         fix: docker run 'a b'\n"
            "unknown  one; other\n"
            "         no answer\n"
            "ok       fine\\x1b[2J\n"
            "\n1 error, 0 warnings, 2 not known\n");
  CHECK(cli::findings_text({failing("credentials", "no credentials were found", "why", {}),
                            ok("engine", "an engine at a place with a long name")},
                           cli::Paint{false}, cli::Charset::utf8, 40) ==
        "This machine\n"
        "ok       an engine at a place with a\n"
        "         long name\n"
        "\nGoogle Cloud, only for jobs there\n"
        "error    no credentials were found\n"
        "         why\n"
        "\n1 error, 0 warnings, 0 not known\n");
  const auto json = cli::findings_json(findings);
  CHECK(json["errors"] == 1);
  CHECK(json["unknown"] == 2);
  CHECK(json["findings"][0]["outcome"] == "error");
  CHECK(json["findings"][0]["remedies"].size() == 2);
}

}  // namespace autopack::preflight_surroundings_test
