#include "job/flag_value.hpp"
#include "job/flag_values.hpp"
#include "job/pool_flags.hpp"
#include "job/settings_file.hpp"

#include <doctest/doctest.h>

namespace autopack::job_flag_values_test {

using Words = std::vector<std::string>;

TEST_CASE("lists split as gcloud splits them") {
  Problems problems;
  const auto list = [&](std::string_view value) {
    return job::split_list(value, "--args", problems);
  };
  CHECK(list("").empty());
  CHECK(list("a") == Words{"a"});
  CHECK(list("a,b,a") == Words{"a", "b", "a"});
  CHECK(list("a,b,") == Words{"a", "b"});
  CHECK(list("a,,b") == Words{"a", "", "b"});
  CHECK(list("a,,") == Words{"a", ""});
  CHECK(list(",") == Words{""});
  CHECK(list("^:^a,b:c") == Words{"a,b", "c"});
  CHECK(list("^--^a,b--c") == Words{"a,b", "c"});
  CHECK(list("^x") == Words{"^x"});
  CHECK(list("--list=^x,^y") == Words{"--list=^x", "^y"});
  CHECK(problems.empty());
}

TEST_CASE("a comma inside a requirement does not split it") {
  Problems problems;
  const auto requirements = [&](const char* typed, const char* flag) {
    return job::FlagValue{typed}.elements(flag, problems);
  };
  CHECK(requirements("pandas[performance,aws],numpy>=1.20,<2,six", "--requirements") ==
        Words{"pandas[performance,aws]", "numpy>=1.20,<2", "six"});
  CHECK(requirements("^:^a[b,c]:d", "--requirements") == Words{"a[b,c]", "d"});
  CHECK(requirements("a[b,c]", "--args") == Words{"a[b", "c]"});
}

TEST_CASE("pairs keep their order and everything after the first equals sign") {
  Problems problems;
  const auto pairs = job::split_pairs("b=1,a==2=,c=", "--labels", problems);
  CHECK(problems.empty());
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0] == std::pair<std::string, std::string>{"b", "1"});
  CHECK(pairs[1] == std::pair<std::string, std::string>{"a", "=2="});
  CHECK(pairs[2] == std::pair<std::string, std::string>{"c", ""});
}

TEST_CASE("a pair or a key that is not one is answered with what was meant") {
  const auto hint = [](const Problems& problems) { return problems.at(0).hints.at(0); };
  const auto of_pairs = [&](std::string_view typed, const char* flag) {
    Problems problems;
    job::split_pairs(typed, flag, problems);
    return hint(problems);
  };
  CHECK(of_pairs("WANDB_KEY", "--env") ==
        "`--env=WANDB_KEY=\"$WANDB_KEY\"` takes its value from here");
  CHECK(of_pairs("A=1,B", "--env").starts_with("a value with `,` needs another delimiter"));
  CHECK(of_pairs("team", "--labels").starts_with("a value with `,` needs another delimiter"));
  const auto of_pool = [&](const char* typed) {
    Problems problems;
    job::parse_pool(typed, {}, problems);
    return problems.at(0).hints.empty() ? std::string{} : problems.at(0).hints.back();
  };
  CHECK(of_pool("script=a.py,args=--lr=1") ==
        "`--args=ARG,...`, or `-- ARGS` at the end, gives the program its arguments");
  CHECK(of_pool("foo=1").starts_with("the keys are machine-type, "));
  CHECK(of_pool("machine-typ=x").empty());
}

TEST_CASE("durations") {
  CHECK(job::api_duration("3600s") == "3600s");
  CHECK(job::api_duration("0s") == "0s");
  CHECK(job::api_duration("1.5s") == "1.5s");
  CHECK(job::api_duration("2h") == "7200s");
  CHECK(job::api_duration("1h30m") == "5400s");
  CHECK(job::api_duration("7d") == "604800s");
  CHECK(job::api_duration("315576000000s") == "315576000000s");
  for (const auto* bad :
       {"", "3600", "s", "h", "-1s", "1w", "30m1h", "1h1h", "1.s", ".5s", "1.5h", "1.0000000001s",
        "315576000001s", "9999999999999s", "999999999999d", " 1s"}) {
    CAPTURE(bad);
    CHECK_FALSE(job::api_duration(bad));
  }
  CHECK(job::duration_seconds("604800s") == 604800);
  CHECK(job::duration_seconds("604800.000000001s") == 604801);
}

TEST_CASE("a pool is read key by key") {
  Problems problems;
  const auto pool = job::parse_pool(
      "^|^machine-type=n1-standard-4|replica-count=2|requirements=a>=1,<2;b|script=x=y.py|"
      "system-packages=git;curl",
      job::Origin::flag("--here"), problems);
  CHECK(problems.empty());
  CHECK(pool.machine_type == "n1-standard-4");
  CHECK(pool.replica_count == 2);
  CHECK(pool.requirements == Words{"a>=1,<2", "b"});
  CHECK(pool.script == "x=y.py");
  CHECK(pool.system_packages == Words{"git", "curl"});
  CHECK_FALSE(pool.accelerator_type);
  CHECK_FALSE(pool.empty());
  CHECK(job::parse_pool("", job::Origin::flag("--here"), problems).empty());
  CHECK(problems.empty());
}

TEST_CASE("values that a file has split are not split again") {
  const auto settings = job::read_settings_file(
      "worker-pool-spec:\n- requirements: [\"a; python_version<'3'\", 'b>=1,<2']\n"
      "  build-env: {ARCHS: 8.0;9.0}\n  script: '^x,y.py'\n"
      "args: ['^:^a', 'b,c', '']\nlabels: {team: 'a,b'}\n"
      "nfs-mount: [{server: 's,t', path: /p, mount-point: m}]\nenv: a=1,b=2\n",
      "autopack.yaml");
  REQUIRE(settings.size() == 5);
  Problems problems;
  const auto pools = job::flag_values(settings[0]);
  REQUIRE(pools.size() == 1);
  const auto pool = job::parse_pool(pools[0], job::Origin::file("autopack.yaml", 1), problems);
  CHECK(pool.requirements == Words{"a; python_version<'3'", "b>=1,<2"});
  CHECK(pool.build_env == Words{"ARCHS=8.0;9.0"});
  CHECK(pool.script == "^x,y.py");
  CHECK(job::all_elements(job::flag_values(settings[1]), "--args", problems) ==
        Words{"^:^a", "b,c", ""});
  CHECK(job::all_pairs(job::flag_values(settings[2]), "--labels", problems) ==
        job::Pairs{{"team", "a,b"}});
  CHECK(job::flag_values(settings[3])[0].keys("--nfs-mount", problems)[2].second ==
        job::KeyValue{"s,t"});
  // As typed.
  CHECK(job::all_pairs(job::flag_values(settings[4]), "--env", problems) ==
        job::Pairs{{"a", "1"}, {"b", "2"}});
  CHECK(problems.empty());
}

TEST_CASE("targets and blocks of submitters contain settings") {
  const std::string text =
      "queue: all\n"
      "targets:\n"
      "  lab:\n"
      "    submitter: slurm\n"
      "    slurm: {account: team, time: 1:00}\n"
      "  gke:\n"
      "    kubernetes:\n"
      "      queue: gpu\n"
      "      pod:\n"
      "        spec: {priority: 010, tolerations: [{key: 'a', value: \"3\", n: 3.10}], x: true, y: "
      "~}\n";

  struct Row {
    std::string key;
    std::string value;
    int line;
    std::string target;
  };

  const std::vector<Row> expected{
      {"queue", "all", 1, ""},
      {"submitter", "slurm", 4, "lab"},
      {"slurm-account", "team", 5, "lab"},
      {"time", "1:00", 5, "lab"},
      {"queue", "gpu", 8, "gke"},
      {"pod-template",
       std::string(9, '\n') + R"({"spec": {"priority": 010, "tolerations": )"
                              R"([{"key": "a", "value": "3", "n": 3.10}], "x": true, "y": null}})",
       9, "gke"}};
  const auto settings = job::read_settings_file(text, "autopack.yaml");
  REQUIRE(settings.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(settings[i].key == expected[i].key);
    CHECK(settings[i].value->get<std::string>() == expected[i].value);
    CHECK(settings[i].line == expected[i].line);
    CHECK(settings[i].target == expected[i].target);
  }
  CHECK(settings.back().is_document);
}

TEST_CASE("malformed targets and blocks are refused with their line") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"targets: lab\n", "`autopack.yaml` line 1: `targets` maps names to settings"},
      {"targets:\n  lab: slurm\n", "`autopack.yaml` line 2: the target `lab` is an object"},
      {"targets:\n  a:\n    targets: {}\n", "`autopack.yaml` line 3: the target `a` has"},
      {"slurm: lab\n", "`autopack.yaml` line 1: `slurm` is an object"},
      {"slurm:\n  partion: a\n", "`autopack.yaml` line 2: `slurm` has no key `partion`"}};
  for (const auto& one : cases) {
    CAPTURE(one.first);
    std::string said;
    try {
      job::read_settings_file(one.first, "autopack.yaml");
    } catch (const Error& error) {
      said = error.what();
    }
    CHECK(said.substr(0, one.second.size()) == one.second);
  }
}

}  // namespace autopack::job_flag_values_test
