#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/job_text.hpp"

#include <doctest/doctest.h>

namespace autopack::cli_job_object_test {

using namespace autopack::cli;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

Words shown(const Words& args) {
  job::Job job;
  job.spec.pools = {{.container = job::Container{.args = args}}};
  return job_object(job, {}, {}).at("pools").at(0).at("args").get<Words>();
}

}  // namespace

TEST_CASE("words of a command that look like a secret are not shown of a job") {
  struct Case {
    Words given;
    Words shown;
  };

  const std::string token = "ghp_" + std::string(30, 'a') + "B12345";
  for (const auto& one : {
           Case{{"--epochs=2", "--rate", "0.1", "-v"}, {"--epochs=2", "--rate", "0.1", "-v"}},
           Case{{"--api-key=x1", "--password", "x2"}, {"--api-key=***", "--password", "***"}},
           Case{{"--password", "a=b"}, {"--password", "***"}},
           Case{{"--password", "--verbose"}, {"--password", "--verbose"}},
           Case{{"--max-tokens", "512", "--tokenizer=gpt2"},
                {"--max-tokens", "512", "--tokenizer=gpt2"}},
           Case{{"--hf-token", "512", "--authToken=x", "--tokens", "a,b"},
                {"--hf-token", "***", "--authToken=***", "--tokens", "***"}},
           Case{{"CLIENT_SECRET=x", "data=y"}, {"CLIENT_SECRET=***", "data=y"}},
           Case{{"--data=https://me:word@host/x"}, {"--data=***"}},
           Case{{"https://me:word@host/x", "https://host/x"}, {"***", "https://host/x"}},
           Case{{"--from", token, token}, {"--from", "***", "***"}},
           Case{{"", "-", "--", "="}, {"", "-", "--", "="}},
       }) {
    CAPTURE(join(one.given, " "));
    CHECK(shown(one.given) == one.shown);
  }
}

TEST_CASE(
    "a job is shown with its pools, the image that packaged ones run, and names of variables") {
  job::Job job;
  job.display_name = "first";
  job.spec.scheduling = job::Scheduling{.timeout = "60s"};
  job.spec.pools = {
      {.container = job::Container{.env = {{.name = "A", .value = "unseen"}}}, .is_packaged = true},
      {},
      {.package = job::PythonPackage{.executor_image = "e:1",
                                     .uris = {"gs://b/p.tar.gz"},
                                     .module = "trainer.task",
                                     .env = {{.name = "B", .value = "unseen"}}}}};
  const auto object = job_object(job, "host/made:v1", {.project = "p", .region = "r"});
  CHECK(object.dump().find("unseen") == std::string::npos);
  CHECK(object.at("kind") == "CustomJob");
  CHECK(object.at("region") == "r");
  CHECK(object.at("scheduling") == json{{"timeout", "60s"}});
  CHECK_FALSE(object.contains("trials"));
  const auto& pools = object.at("pools");
  REQUIRE(pools.size() == 3);
  CHECK(pools[0].at("image") == "host/made:v1");
  CHECK(pools[0].at("is_packaged") == true);
  CHECK(pools[0].at("variables") == json::array({"A"}));
  CHECK(pools[1] == json{{"name", "workerpool1"}});
  CHECK(pools[2].at("image") == "e:1");
  CHECK(pools[2].at("module") == "trainer.task");
  CHECK(pools[2].at("packages") == json::array({"gs://b/p.tar.gz"}));
  CHECK(pools[2].at("variables") == json::array({"B"}));
}

TEST_CASE("a study is shown with its trials") {
  job::Job job;
  job.kind = job::JobKind::tuning_job;
  job.max_trials = 6;
  CHECK(job_object(job, {}, {}).at("trials") == json{{"most", 6}, {"at_once", 1}});
}

TEST_CASE("the best trial that succeeded is shown with its parameters as flags") {
  const auto trial = [](const char* id, const char* state, double loss) {
    return json{{"id", id},
                {"state", state},
                {"finalMeasurement", {{"metrics", {{{"metricId", "loss"}, {"value", loss}}}}}},
                {"parameters",
                 {{{"parameterId", "lr"}, {"value", 0.00994}},
                  {{"parameterId", "opt"}, {"value", "adam w"}}}}};
  };
  json job{{"studySpec", {{"metrics", {{{"metricId", "loss"}, {"goal", "MINIMIZE"}}}}}},
           {"trials",
            {trial("1", "SUCCEEDED", 0.5), trial("2", "STOPPING", 0.001),
             trial("10", "SUCCEEDED", 0.00000766)}}};
  CHECK(cli::best_trial(job) == "trial 10: loss=7.66e-06 --lr=0.00994 --opt='adam w'");
  const auto table = cli::trial_table(job, cli::Paint{true});
  CHECK(table.find("\n\x1b[1m10\x1b[0m  ") != std::string::npos);
  CHECK(table.find("\n1  ") != std::string::npos);
  job["studySpec"]["metrics"][0]["goal"] = "MAXIMIZE";
  CHECK(cli::best_trial(job) == "trial 1: loss=0.5 --lr=0.00994 --opt='adam w'");
  job["trials"] = json::array({{{"id", "1"}, {"state", "INFEASIBLE"}}});
  CHECK_FALSE(cli::best_trial(job));
  CHECK_FALSE(cli::best_trial({}));
}

}  // namespace autopack::cli_job_object_test
