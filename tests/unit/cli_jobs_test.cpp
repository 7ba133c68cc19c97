#include "base/json.hpp"
#include "cli/emphasis.hpp"
#include "cli/job_text.hpp"
#include "cli/log_text.hpp"
#include "support/cli_run.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>

namespace autopack::cli_jobs_test {

using autopack::testing::CliRun;
using nlohmann::json;

namespace {

struct Case {
  std::vector<std::string> arguments{};
  std::string told{};
};

const std::string name = "projects/p/locations/us-central1/customJobs/7";

google::LogEntry entry(std::string task, std::string message, std::string severity = "INFO") {
  return {.time = google::Timestamp::parse("2026-01-02T03:04:05.6Z"),
          .severity = std::move(severity),
          .task = std::move(task),
          .message = std::move(message)};
}

}  // namespace

TEST_CASE("a jobs command that cannot be right is refused before anything is asked") {
  for (const auto& item : std::vector<Case>{
           {{"jobs"}, "`autopack jobs` needs to know what to do"},
           {{"jobs", "lst"}, "`autopack jobs` has no `lst`"},
           {{"jobs", "describe"}, "`autopack jobs describe` needs the job's name"},
           {{"jobs", "cancel", ""}, "`autopack jobs cancel` needs the job's name"},
           {{"jobs", "stream-logs"}, "`autopack jobs stream-logs` needs the job's name"},
           {{"jobs", "describe", name, "other"}, "unexpected argument `other`"},
           {{"jobs", "list", name}, "unexpected argument `" + name + "`"},
           {{"jobs", "describe", "projects/p/customJobs/7"}, "is not the name of a job"},
           {{"jobs", "describe", "projects/p/locations/r/models/7"}, "is not the name of a job"},
           {{"jobs", "cancel", name + "/x"}, "is not the name of a job"},
           {{"jobs", "cancel", "../7"}, "`../7` is not the name of a job"},
           {{"jobs", "describe", "a/b"}, "`a/b` is not the name of a job"},
           {{"jobs", "logs"}, "`autopack jobs logs` needs the job's name"},
           {{"jobs", "wait"}, "`autopack jobs wait` needs the job's name"},
           {{"jobs", "wait", name, "--task-name=x"},
            "`--task-name` is for `autopack jobs stream-logs`"},
           {{"jobs", "wait", name, "--polling-interval=0"}, "`--polling-interval` is 0"},
           {{"jobs", "describe", "my job"}, "no Google Cloud project is set"},
           {{"jobs", "cancel", "--latest"}, "no Google Cloud project is set"},
           {{"jobs", "list", "--latest"}, "`--latest` chooses one job"},
           {{"jobs", "cancel", name, "--follow"}, "`--follow` is for `autopack jobs logs`"},
           {{"jobs", "describe", "7\x1b[2J"}, "`7\\x1b[2J` is not the name of a job"},
           {{"jobs", "describe", "local/1795170393174"},
            "there is no job `local/1795170393174` on this machine"},
           {{"jobs", "cancel", "local/../7"}, "there is no job `local/../7` on this machine"},
           {{"jobs", "list", "--kind=local", "--filter=a=b"}, "chooses no local jobs"},
           {{"jobs", "describe", name, "--region=europe-west4"},
            "`--region=europe-west4` differs from `us-central1` in the job's name"},
           {{"jobs", "cancel", name, "--project=q"}, "`--project=q` differs from `p`"},
           {{"jobs", "describe", name, "--kind=tuning"}, "`--kind` asks for a tuning job"},
           {{"jobs", "describe", name, "--kind=model"}, "`model`"},
           {{"jobs", "describe", "7"}, "no Google Cloud project is set"},
           {{"jobs", "describe", "7", "--project=p"}, "no region is set"},
           {{"jobs", "list", "--project=p"}, "no region is set"},
           {{"jobs", "list", "--project=p/../q", "--region=r"}, "`p/../q` is not a project"},
           {{"jobs", "list", "--project=p", "--region=r/x"}, "`r/x` is not a region"},
           {{"jobs", "list", "--limit=0"}, "`--limit` is 0"},
           {{"jobs", "list", "--limit=ten"}, "`ten` of `--limit` is not a whole number"},
           {{"jobs", "list", "--page-size=5000"}, "`--page-size` is 5000"},
           {{"jobs", "list", "--state=run\"ning"}, "of `--state` is not a state"},
           {{"jobs", "list", "--format=table"}, "`table` is not a value of `--format`"},
           {{"jobs", "describe", name, "--filter=x"}, "`--filter` is for `autopack jobs list`"},
           {{"jobs", "cancel", name, "--task-name=x"},
            "`--task-name` is for `autopack jobs stream-logs`"},
           {{"jobs", "stream-logs", name, "--polling-interval=0"}, "`--polling-interval` is 0"},
           {{"jobs", "stream-logs", name, "--polling-interval=5000"},
            "`--polling-interval` is 5000"},
           {{"submit", "--wait", "--submitter=none",
             "--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i"},
            "`--submitter=none` makes no job that could be waited for"},
       }) {
    CAPTURE(item.told);
    CliRun cli;
    CHECK(cli.run(item.arguments) == 2);
    CAPTURE(cli.errors);
    CHECK(cli.out.empty());
    CHECK(cli.errors.starts_with("error: "));
    CHECK(cli.errors.find(item.told) != std::string::npos);
  }
}

TEST_CASE("open prints where the console shows a job, and asks nobody about a whole name") {
  CliRun cli;
  CHECK(cli.run({"jobs", "open", name}) == 0);
  CHECK(cli.out ==
        "https://console.cloud.google.com/ai/platform/locations/us-central1/training/7"
        "?project=p\n");
  CHECK(cli.errors.empty());
}

TEST_CASE("the help of the jobs commands fits a screen and has an example") {
  CliRun cli;
  CHECK(cli.run({"jobs", "--help"}) == 0);
  CHECK(std::count(cli.out.begin(), cli.out.end(), '\n') <= 40);
  CHECK(cli.out.find("autopack jobs list --region=us-central1") != std::string::npos);
}

TEST_CASE("jobs are printed in a table") {
  const auto job = [](const char* collection, const char* state) {
    return json{{"name", std::string{"projects/p/locations/r/"} + collection + "/12"},
                {"state", state},
                {"createTime", "2026-01-02T03:04:05.678Z"},
                {"displayName", "my job"}};
  };
  CHECK(cli::job_table({job("customJobs", "JOB_STATE_RUNNING"),
                        job("trainingPipelines", "PIPELINE_STATE_FAILED")}) ==
        "ID  KIND               STATE    CREATED              NAME\n"
        "12  custom job         running  2026-01-02 03:04:05  my job\n"
        "12  training pipeline  failed   2026-01-02 03:04:05  my job\n");
  CHECK(cli::job_table({}).empty());
  CHECK(cli::job_table({json{{"name", "odd\x1b[2J"}, {"createTime", 7}}}) ==
        "ID          KIND  STATE    CREATED  NAME\n"
        "odd\\x1b[2J        unknown           \n");
}

TEST_CASE("a table of jobs has times of this machine, and colours on a terminal") {
  const std::vector<json> jobs{{{"name", "local/1"},
                                {"state", "JOB_STATE_FAILED"},
                                {"createTime", "2026-01-02T03:04:05Z"},
                                {"displayName", "taxi"}}};
  const char* const zone = std::getenv("TZ");
  const std::string before = zone == nullptr ? "" : zone;
  ::setenv("TZ", "HERE-5:30", 1);
  ::tzset();
  const auto text = cli::job_table(jobs, cli::Paint{true});
  if (zone == nullptr) {
    ::unsetenv("TZ");
  } else {
    ::setenv("TZ", before.c_str(), 1);
  }
  ::tzset();
  CHECK(text ==
        "\x1b[1mID       KIND       STATE   CREATED              NAME\x1b[0m\n"
        "local/1  local job  \x1b[1;31mfailed\x1b[0m  2026-01-02 08:34:05  taxi\n");
}

TEST_CASE("headings are bold, added lines green and removed ones red") {
  const cli::Paint paint{true};
  CHECK(cli::with_headings("runs  x\n\nGoes in: 1 file\n  1 B  Makefile\nNot a heading\n", paint) ==
        "runs  x\n\n\x1b[1mGoes in: 1 file\x1b[0m\n  1 B  Makefile\nNot a heading\n");
  CHECK(cli::with_headings("Layers\n", paint) == "\x1b[1mLayers\x1b[0m\n");
  CHECK(cli::with_changes("--- a\n+++ b\nSize      1 B\n\nFiles\n  + x.py\n  - y.py\n", paint) ==
        "\x1b[1m--- a\x1b[0m\n\x1b[1m+++ b\x1b[0m\nSize      1 B\n\n\x1b[1mFiles\x1b[0m\n"
        "\x1b[1;32m  + x.py\x1b[0m\n\x1b[1;31m  - y.py\x1b[0m\n");
  const std::string plain = "Layers\n\n  + x\n";
  CHECK(cli::with_changes(cli::with_headings(plain, cli::Paint{false}), cli::Paint{false}) ==
        plain);
}

TEST_CASE("a job's fields are written one per line") {
  const json job{
      {"name", "projects/p"},
      {"labels", {{"a", "b c"}, {"empty", ""}}},
      {"jobSpec", {{"pools", {{{"count", "1"}, {"args", {"--x", "a: b"}}}, json::object()}}}},
      {"done", true}};
  CHECK(cli::job_details(job) ==
        "done: true\n"
        "jobSpec:\n"
        "  pools:\n"
        "    - args:\n"
        "        - --x\n"
        "        - \"a: b\"\n"
        "      count: 1\n"
        "    - {}\n"
        "labels:\n"
        "  a: \"b c\"\n"
        "  empty: \"\"\n"
        "name: projects/p\n");
}

TEST_CASE("a log entry is written line by line, as gcloud does") {
  cli::LogText plain{{}, cli::Paint{false}, false};
  CHECK(plain.render(entry("workerpool0-0", "one\ntwo\n")) ==
        "INFO\t2026-01-02 03:04:05 +0000\tworkerpool0-0\tone\n"
        "INFO\t2026-01-02 03:04:05 +0000\tworkerpool0-0\ttwo\n");
  CHECK(plain.render({.message = ""}) == "DEFAULT\t-\tunknown_task\t\n");
  CHECK(plain.render(entry("a", "10%\r20%\r30%\x1b[2J")) ==
        "INFO\t2026-01-02 03:04:05 +0000\ta\t30%\\x1b[2J\n");
  cli::LogText together{{}, cli::Paint{false}, true};
  CHECK(together.render(entry("a", "one\ntwo")) ==
        "INFO\t2026-01-02 03:04:05 +0000\ta\tone\ntwo\n");
  cli::LogText values{cli::OutputFormat::parse("value(task_name,message)"), cli::Paint{false},
                      false};
  CHECK(values.render(entry("a", "one")) == "a\tone\n");
  cli::LogText objects{cli::OutputFormat::parse("json"), cli::Paint{false}, false};
  CHECK(autopack::parse_json(objects.render(entry("a", "one\ntwo"))) ==
        json{{"message", "one\ntwo"},
             {"severity", "INFO"},
             {"task_name", "a"},
             {"timestamp", "2026-01-02T03:04:05.600000000Z"}});
}

TEST_CASE("each replica keeps a colour of its own") {
  cli::LogText text{{}, cli::Paint{true}, false};
  const auto first = text.render(entry("workerpool0-0", "x"));
  const auto second = text.render(entry("workerpool1-0", "x"));
  CHECK(first.find("\x1b[36mworkerpool0-0\x1b[0m") != std::string::npos);
  CHECK(second.find("\x1b[33mworkerpool1-0\x1b[0m") != std::string::npos);
  CHECK(text.render(entry("workerpool0-0", "x")) == first);
  CHECK(text.render(entry("a", "x", "ERROR")).starts_with("\x1b[1;31mERROR\x1b[0m"));
}

}  // namespace autopack::cli_jobs_test
