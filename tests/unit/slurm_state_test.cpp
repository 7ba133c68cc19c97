#include "base/json.hpp"
#include "slurm/commands.hpp"
#include "slurm/jobs.hpp"
#include "slurm/state.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::slurm_state_test {

namespace {

using nlohmann::json;

constexpr auto* submission = "0123456789abcdef0123456789abcdef";

std::string listing(const std::string& queue, const std::string& more = "") {
  return "user me\n" + queue +
         "D 0123456789abcdef0123456789abcdef /shared/me/.autopack/jobs/x\n"
         "I 0123456789abcdef0123456789abcdef 12\n"
         "J 0123456789abcdef0123456789abcdef {\"displayName\":\"taxi "
         "fares\",\"labels\":{\"a\":\"b\"}}\n"
         "C 0123456789abcdef0123456789abcdef 1790000000\n" +
         more + "end\n";
}

json only(const std::string& text) {
  const auto jobs = slurm::read_jobs(text);
  REQUIRE(jobs.size() == 1);
  return slurm::job_resource(jobs.front(), "me@login");
}

}  // namespace

TEST_CASE("a job of Slurm has the form of a job of Vertex AI") {
  const auto job = only(listing(
      "Q 12|PENDING|Priority|2026-09-21T10:13:20|N/A|N/A||autopack-submission=" +
      std::string{submission} + "\nQ 13|RUNNING|None|2026-09-21T10:13:20|N/A|N/A||other\n"));
  CHECK(job["name"] == "slurm/me@login/12");
  CHECK(job["displayName"] == "taxi fares");
  CHECK(job["state"] == "JOB_STATE_QUEUED");
  CHECK(job["detail"] == "Priority: jobs with a higher priority come first");
  CHECK(job["labels"]["a"] == "b");
  CHECK(job["labels"]["autopack-submission"] == submission);
  CHECK(job["createTime"].get<std::string>().starts_with("2026-09-21T"));
  CHECK_FALSE(job.contains("startTime"));
  CHECK_FALSE(job.contains("error"));
}

TEST_CASE("the states of Slurm, and what the job itself wrote about its end") {
  const auto queue = [](const std::string& state) {
    return "Q 12|" + state +
           "|None|2026-09-21T10:13:20|2026-09-21T10:14:00|2026-09-21T10:15:00|n1|" +
           "autopack-submission=" + submission + "\n";
  };
  const auto ending = [](const std::string& text) {
    return std::string{"E "} + submission + " " + text + "\n";
  };
  CHECK(only(listing(queue("RUNNING")))["state"] == "JOB_STATE_RUNNING");
  CHECK(only(listing(queue("COMPLETED")))["state"] == "JOB_STATE_SUCCEEDED");
  CHECK(only(listing(queue("CANCELLED")))["state"] == "JOB_STATE_CANCELLED");
  CHECK(only(listing(queue("NODE_FAIL")))["error"]["message"] == "a node failed");
  CHECK(only(listing(queue("TIMEOUT")))["error"]["message"] == "the job reached its time limit");
  CHECK(only(listing(queue("NEW_WORD")))["detail"] == "Slurm calls its state `NEW_WORD`");
  const auto failed = only(listing("", ending("FAILED 3 workerpool1-0 1790000060")));
  CHECK(failed["state"] == "JOB_STATE_FAILED");
  CHECK(failed["error"]["message"] == "`workerpool1-0` ended with status 3");
  CHECK(failed["endTime"].get<std::string>().ends_with("Z"));
  CHECK(only(listing("", ending("FAILED 137 workerpool0-0 1790000060")))["error"]["message"] ==
        "`workerpool0-0` was ended by signal 9");
  CHECK(only(listing("", ending("TIMEOUT 143 - 1790000060")))["state"] == "JOB_STATE_FAILED");
  CHECK(only(listing(""))["state"] == "JOB_STATE_UNSPECIFIED");
  const auto accounted =
      only(listing("",
                   "A 12|CANCELLED by 1000|0:15|2026-09-21T10:13:20|2026-09-21T10:14:00|"
                   "2026-09-21T10:15:00|\n"));
  CHECK(accounted["state"] == "JOB_STATE_CANCELLED");
  CHECK(accounted["endTime"] == "2026-09-21T10:15:00Z");
}

TEST_CASE("what other jobs in the queue are called changes nothing") {
  for (const auto* line : {"12|COMPLETED|x", "12_3|RUNNING|None|a|b|c|n|autopack-submission=",
                           "slurm_load_jobs error: x", "12+1|RUNNING|None|a|b|c|n|(null)",
                           "99999999999|RUNNING|None|a|b|c|n|x"}) {
    CAPTURE(line);
    CHECK(slurm::read_queue(line).empty());
  }
  CHECK(slurm::read_queue("12+0|RUNNING|None|a|b|c|n|x|y").front().comment == "x|y");
  // A number that another job has by now.
  const auto jobs = slurm::read_jobs(
      listing("Q 12|RUNNING|None|2026-09-21T10:13:20|N/A|N/A|n|autopack-submission="
              "ffffffffffffffffffffffffffffffff\n",
              std::string{"E "} + submission + " COMPLETED 0 - 1790000060\n"));
  REQUIRE(jobs.size() == 2);
  CHECK(slurm::job_resource(jobs[0], "-")["state"] == "JOB_STATE_SUCCEEDED");
  CHECK(slurm::job_resource(jobs[1], "-")["state"] == "JOB_STATE_RUNNING");
}

TEST_CASE("pieces of logs") {
  const auto pieces =
      slurm::read_logs("L batch 0 3\nab\n\nL workerpool0-0 7 5\nend\nx\nend\n").value();
  REQUIRE(pieces.size() == 2);
  CHECK(pieces[0].text == "ab\n");
  CHECK(pieces[1].name == "workerpool0-0");
  CHECK(pieces[1].offset == 7);
  CHECK(pieces[1].text == "end\nx");
  for (const auto* damaged : {"", "L a 0 3\nab", "L a 0 30\nab\nend\n", "L a 0\n\nend\n", "x\n"}) {
    CAPTURE(damaged);
    CHECK_FALSE(slurm::read_logs(damaged));
  }
}

TEST_CASE("time limits of Slurm") {
  CHECK(slurm::read_slurm_time("30") == 1800);
  CHECK(slurm::read_slurm_time("30:15") == 1815);
  CHECK(slurm::read_slurm_time("2:00:00") == 7200);
  CHECK(slurm::read_slurm_time("1-12") == 129'600);
  CHECK(slurm::read_slurm_time("1-00:01") == 86'460);
  CHECK(slurm::slurm_time(7200) == "02:00:00");
  CHECK(slurm::slurm_time(93'785) == "1-02:03:05");
  for (const auto* other : {"infinite", "", "1:2:3:4", "-1", "1-", "x", "1-1:1:1:1"}) {
    CAPTURE(other);
    CHECK_FALSE(slurm::read_slurm_time(other));
  }
}

TEST_CASE("what Slurm would never start is reported before the build") {
  const auto answer = slurm::read_test(
      "P main*|up|infinite|2|gpu:1\nP short|up|2:00|2|(null)\nP old|down|1:00:00|4|(null)\n"
      "sbatch: Job 3 to start at 2026-09-21T10:13:20 using 1 processors on nodes n1 in partition "
      "main\nstatus 0\n");
  CHECK(slurm::findings(answer, {}, {}, 2).empty());
  CHECK(slurm::findings(answer, {.partition = "shrt"}, {}, 1).front().hints.front() ==
        "did you mean `short`?");
  CHECK(slurm::findings(answer, {.partition = "short"}, 3600, 1).front().message ==
        "the partition `short` ends jobs after 00:02:00, and this one asks for 01:00:00");
  CHECK(slurm::findings(answer, {.partition = "old"}, {}, 1).front().severity ==
        Problem::Severity::warning);
  CHECK(slurm::findings(answer, {}, {}, 3).size() == 1);
  const auto refused = slurm::read_test(
      "P main*|up|infinite|2|gpu:1\nsbatch: error: Invalid qos specification\nallocation failure: "
      "Invalid qos specification\nstatus 1\n");
  CHECK(slurm::findings(refused, {}, {}, 1).front().message ==
        "Slurm refuses the job: Invalid qos specification");
  CHECK(slurm::findings(slurm::read_test(""), {}, {}, 1).front().severity ==
        Problem::Severity::unknown);
}

TEST_CASE("names, logins and directories of Slurm") {
  CHECK(slurm::parse_slurm_name("slurm/me@host:22/12")->login == "me@host:22");
  CHECK(slurm::parse_slurm_name("slurm/-/12")->id == "12");
  for (const auto* other : {"slurm/12", "slurm//12", "slurm/a/b", "local/-/12", "slurm/a/1/2"}) {
    CHECK_FALSE(slurm::parse_slurm_name(other));
  }
  CHECK(slurm::read_login("me@[::1]:22").port == 22);
  CHECK(slurm::Connection{slurm::read_login("me@[::1]:22"), nullptr}.name() == "me@[::1]:22");
  CHECK_THROWS_AS(slurm::read_login("-oProxyCommand=x"), Error);
  CHECK_THROWS_AS(slurm::read_login("host/path"), Error);
  CHECK(slurm::read_shared_directory("/scratch/me/") == "/scratch/me");
  for (const auto* wrong : {"", "/", "~", "relative", "/a b", "/a%j", "~other/x", "/a'b"}) {
    CHECK_THROWS_AS(slurm::read_shared_directory(wrong), Error);
  }
  CHECK(slurm::read_mount("/a:/b:ro").is_read_only);
  CHECK(slurm::read_mount("/a").target == "/a");
  for (const auto* wrong : {"a", "/a:b", "/a:/b:rx", "/a:/", "/a,b", "/a/../b"}) {
    CHECK_THROWS_AS(slurm::read_mount(wrong), Error);
  }
}

}  // namespace autopack::slurm_state_test
