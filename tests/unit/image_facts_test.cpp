#include "image/facts.hpp"

#include <doctest/doctest.h>

#include <string>

namespace autopack::image_facts_test {

using namespace autopack::image;

namespace {

BaseFacts full_facts() {
  return {.reference = "gcr.io/p/i:t",
          .digest = sha256("manifest"),
          .image_id = sha256("configuration").str(),
          .platform = "linux/amd64",
          .python = "python3",
          .python_version = "3.11.2",
          .pip = true,
          .apt = true,
          .user = "1000:1000",
          .entrypoint = {"/bin/sh", "-c", "exec \"$@\"\n"},
          .environment = {"PATH=/usr/bin"},
          .cuda_version = "12.2.2",
          .vertex_prebuilt = true};
}

}  // namespace

TEST_CASE("Vertex AI's prebuilt training images are known by name") {
  for (const char* text : {"us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-17.py310:latest",
                           "europe-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310",
                           "asia-docker.pkg.dev/vertex-ai/training/scikit-learn-cpu.0-23:latest",
                           "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
                           "us-docker.pkg.dev/vertex-ai/training/xgboost-cpu.2-1",
                           "us-docker.pkg.dev/vertex-ai/training/ray-gpu.2-47.py311:latest"}) {
    CAPTURE(text);
    CHECK(is_vertex_prebuilt(text));
  }
  for (const char* text :
       {"us-docker.pkg.dev/vertex-ai/prediction/tf2-cpu.2-15:latest",
        "us-docker.pkg.dev/vertex-ai-restricted/training/tf-cpu",
        "us-central1-docker.pkg.dev/vertex-ai/training/tf-cpu",
        "us-docker.pkg.dev/vertex-ai/training/a/b", "us-docker.pkg.dev/vertex-ai/training/",
        "us-dockerXpkg.dev/vertex-ai/training/tf-cpu",
        "evil.org/us-docker.pkg.dev/vertex-ai/training/tf-cpu",
        "gcr.io/cloud-aiplatform/training/tf-cpu.2-1", "python:3.11", ""}) {
    CAPTURE(text);
    CHECK_FALSE(is_vertex_prebuilt(text));
  }
}

TEST_CASE("base facts are one line of JSON and come back") {
  auto facts = full_facts();
  const std::string line = to_json_line(facts);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.find("PATH") == std::string::npos);
  const auto read = facts_from_json(line);
  REQUIRE(read);
  facts.environment.clear();
  CHECK(*read == facts);

  const BaseFacts least{.reference = "scratch"};
  CHECK(to_json_line(least) ==
        R"({"apt":false,"cuda_version":"","entrypoint":[],"image_id":"","pip":false,"platform":"",)"
        R"("python":"","reference":"scratch","user":"","vertex_prebuilt":false})");
  CHECK(facts_from_json(to_json_line(least)) == least);
}

TEST_CASE("an invalid line of base facts is rejected") {
  CHECK(facts_from_json(R"({"reference":"a"})"));
  CHECK(facts_from_json(R"({"reference":"a","new key of a later version":1})"));
  for (const char* text :
       {"", "{", "[]", "null", "{}", R"({"reference":1})", R"({"reference":"a","pip":"yes"})",
        R"({"reference":"a","entrypoint":"x"})", R"({"reference":"a","entrypoint":[1]})",
        R"({"reference":"a","digest":"sha256:abc"})",
        R"({"reference":"a","python":"python3; reboot"})", "{\"reference\":\"\xFF\"}"}) {
    CAPTURE(text);
    CHECK_FALSE(facts_from_json(text));
  }
}

}  // namespace autopack::image_facts_test
