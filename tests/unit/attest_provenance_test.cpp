#include "attest/provenance.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

#include <doctest/doctest.h>

namespace autopack::attest_provenance_test {

namespace {

using attest::Input;
using attest::Provenance;

Digest image() {
  return sha256("image");
}

Provenance sample() {
  return {.settings = {.executor_image_uri = "python:3.11",
                       .script = "train.py",
                       .requirements = std::vector<std::string>{"six==1.16.0", "idna"},
                       .build_env = std::vector<std::string>{"A=b"}},
          .platform = "linux/amd64",
          .engine = "direct",
          .resolver = "uv",
          .compiles_bytecode = true,
          .labels_git = true,
          .dockerfile = "Dockerfile",
          .templates = "templates",
          .source_date_epoch = "7",
          .source = {.kind = "commit",
                     .directory = "models/one",
                     .commit = std::string(40, 'a'),
                     .repository = "https://example.org/team/models.git",
                     .is_dirty = true},
          .key = std::string(64, 'b'),
          .dependency_key = std::string(64, 'c'),
          .version = "0.1.0",
          .finished = "2026-11-29T18:00:00Z",
          .inputs = {{.role = Input::Role::executor_image,
                      .name = "python:3.11",
                      .digest = {{"sha256", sha256("base").hex()}}},
                     {.role = Input::Role::resolution, .name = "pylock.toml", .content = "a\0b\n"},
                     {.role = Input::Role::wheel,
                      .name = "six-1.16.0-py2.py3-none-any.whl",
                      .uri = "https://example.org/six-1.16.0-py2.py3-none-any.whl",
                      .digest = {{"sha256", sha256("six").hex()}}}}};
}

std::string text_of(const Provenance& provenance) {
  return attest::statement_text("example.org/team/app", image(), attest::predicate_type::provenance,
                                attest::to_json(provenance));
}

Provenance read(const std::string& text) {
  return attest::provenance_of(attest::parse_statement(text, "the statement"), "the statement");
}

}  // namespace

TEST_CASE("provenance is read back as it was written") {
  const auto provenance = sample();
  CHECK(read(text_of(provenance)) == provenance);
  const Provenance least{.platform = "linux/arm64", .engine = "docker", .resolver = "engine"};
  CHECK(read(text_of(least)) == least);
}

TEST_CASE("provenance has the form of SLSA 1.0") {
  const auto statement = parse_json(text_of(sample()));
  CHECK(statement["_type"] == "https://in-toto.io/Statement/v1");
  CHECK(statement["subject"][0]["name"] == "example.org/team/app");
  CHECK(statement["subject"][0]["digest"]["sha256"] == image().hex());
  CHECK(statement["predicateType"] == "https://slsa.dev/provenance/v1");
  const auto& definition = statement["predicate"]["buildDefinition"];
  CHECK(definition["externalParameters"]["settings"]["script"] == "train.py");
  CHECK(definition["resolvedDependencies"].size() == 4);
  CHECK(definition["resolvedDependencies"][0]["digest"]["gitCommit"] == std::string(40, 'a'));
  const auto& run = statement["predicate"]["runDetails"];
  CHECK(run["builder"]["version"]["autopack"] == "0.1.0");
  CHECK(run["metadata"]["finishedOn"] == "2026-11-29T18:00:00Z");
}

TEST_CASE("provenance contains no login") {
  auto provenance = sample();
  provenance.settings.requirements = {
      "lib @ https://someone:word@example.org/lib-1.0-py3-none-any.whl",
      "other @ https://example.org/other-1.0-py3-none-any.whl?token=word"};
  provenance.settings.executor_image_uri = "https://someone:word@example.org/python";
  const auto text = text_of(provenance);
  CHECK(text.find("word") == std::string::npos);
  CHECK(text.find("example.org/lib-1.0") != std::string::npos);
}

TEST_CASE("a statement that is damaged, of another type or of another tool is refused") {
  const auto changed = [](const auto& change) {
    auto document = parse_json(text_of(sample()));
    change(document);
    return write_json(document);
  };
  const std::vector<std::string> texts{
      "",
      "[]",
      changed([](auto& all) { all["_type"] = "other"; }),
      changed([](auto& all) { all.erase("subject"); }),
      changed([](auto& all) { all["predicateType"] = "https://spdx.dev/Document"; }),
      changed([](auto& all) { all["predicate"] = nlohmann::json::object(); }),
      changed([](auto& all) { all["predicate"]["buildDefinition"]["buildType"] = "x"; }),
      changed([](auto& all) {
        all["predicate"]["buildDefinition"]["externalParameters"]["settings"]["script"] = 7;
      }),
      changed([](auto& all) {
        all["predicate"]["buildDefinition"]["externalParameters"]["settings"]["requirements"] = "x";
      }),
      changed([](auto& all) {
        all["predicate"]["buildDefinition"]["resolvedDependencies"][1]["annotations"] =
            nlohmann::json::object();
      }),
      changed([](auto& all) {
        all["predicate"]["buildDefinition"]["resolvedDependencies"][2]["content"] = "***";
      })};
  for (const auto& text : texts) {
    CAPTURE(text);
    CHECK_THROWS_AS(read(text), Error);
  }
}

TEST_CASE("a statement is about its subjects only") {
  const auto statement = attest::parse_statement(text_of(sample()), "the statement");
  CHECK(statement.is_about(image()));
  CHECK_FALSE(statement.is_about(sha256("another image")));
}

}  // namespace autopack::attest_provenance_test
