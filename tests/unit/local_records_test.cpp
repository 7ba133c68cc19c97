#include "base/file.hpp"
#include "base/json.hpp"
#include "local/job_watcher.hpp"
#include "local/records.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local_records_test {

namespace {

google::LogEntry entry(const std::string& message) {
  return {
      .time = local::now(), .insert_id = {}, .severity = "INFO", .task = "t", .message = message};
}

}  // namespace

TEST_CASE("a job is found by its name, and only by one that is a job's") {
  const TemporaryDirectory directory;
  const local::JobRecords records{directory.path() / "jobs"};
  CHECK(records.all().empty());
  const auto first = records.make();
  first.put({{"name", first.name()}, {"state", "JOB_STATE_RUNNING"}});
  const auto second = records.make();
  CHECK(second.id() != first.id());
  CHECK(records.find(first.name()));
  CHECK_FALSE(records.find(second.name()));  // it is empty so far
  for (const auto* name : {"local/", "local/..", "local/7", "projects/p", "local/12a",
                           "local/123456789012345678901"}) {
    CAPTURE(name);
    CHECK_FALSE(records.find(name));
  }
  const auto permissions = std::filesystem::status(first.directory()).permissions();
  CHECK(permissions == std::filesystem::perms::owner_all);
}

TEST_CASE("the oldest jobs that ended go when all logs together are too large") {
  const TemporaryDirectory directory;
  const local::JobRecords records{directory.path() / "jobs"};
  std::vector<local::JobRecord> made;
  for (const char* const state : {"RUNNING", "SUCCEEDED", "SUCCEEDED", "FAILED", "SUCCEEDED"}) {
    made.push_back(records.make());
    write_file(made.back().directory() / "log", std::string(1000, 'x'));
    made.back().put({{"name", made.back().name()}, {"state", std::string{"JOB_STATE_"} + state}});
  }
  write_file(made[1].directory() / "output" / "model", "weights");
  CHECK(records.all().size() == 5);
  local::JobRecords{directory.path() / "jobs", 2500}.make();
  CHECK(records.find(made[0].name()));
  CHECK(std::filesystem::exists(made[0].directory() / "log"));
  CHECK_FALSE(std::filesystem::exists(made[1].directory() / "log"));
  CHECK(read_file(made[1].directory() / "output" / "model") == "weights");
  CHECK_FALSE(records.find(made[2].name()));
  CHECK(records.find(made[3].name()) == std::nullopt);
  CHECK(records.find(made[4].name()));
}

TEST_CASE("a log is read on from where it was left") {
  const TemporaryDirectory directory;
  const auto record = local::JobRecords{directory.path()}.make();
  local::LogWriter log{record};
  log.write(entry("one"));
  log.write(entry("t\xffwo"));
  std::uint64_t offset = 0;
  auto entries = record.entries(offset);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].message == "one");
  CHECK(entries[0].task == "t");
  CHECK(entries[0].time);
  CHECK(record.entries(offset).empty());
  log.write(entry("three"));
  entries = record.entries(offset);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].message == "three");
}

TEST_CASE("a job whose process was killed has failed") {
  const TemporaryDirectory directory;
  const auto record = local::JobRecords{directory.path()}.make();
  record.put({{"name", record.name()}, {"state", "JOB_STATE_RUNNING"}});
  record.own();
  CHECK(record.job()["state"] == "JOB_STATE_RUNNING");
  auto owner = read_file(record.directory() / "owner");
  owner.replace(owner.rfind('/') + 1, std::string::npos, "1");
  write_file(record.directory() / "owner", owner);
  CHECK(record.job()["state"] == "JOB_STATE_FAILED");
  CHECK_FALSE(record.is_asked_for_end());
  record.ask_for_end();
  CHECK(record.is_asked_for_end());
}

TEST_CASE("a job that ran when the machine was started again has failed") {
  const TemporaryDirectory directory;
  const auto record = local::JobRecords{directory.path()}.make();
  record.put({{"name", record.name()}, {"state", "JOB_STATE_RUNNING"}});
  record.own();
  auto owner = read_file(record.directory() / "owner");
  const auto machine = owner.substr(0, owner.find('/'));
  const auto boot = machine.size() + 1;
  owner.replace(boot, owner.find('/', boot) - boot, "another");
  write_file(record.directory() / "owner", owner);
  // A machine without an id cannot know.
  CHECK(record.job()["state"] == (machine.empty() ? "JOB_STATE_RUNNING" : "JOB_STATE_FAILED"));
  write_file(record.directory() / "owner", "another" + owner);
  CHECK(record.job()["state"] == "JOB_STATE_RUNNING");
}

TEST_CASE("the live view shows the last line of a replica that says something") {
  const TemporaryDirectory directory;
  local::LogWriter log{local::JobRecord{directory.path()}};
  std::mutex writing;
  std::vector<std::string> shown;
  const local::Screen screen{
      .log = [](const auto&, const auto&) {},
      .live = [&](const std::string& replica,
                  const auto& line) { shown.push_back(replica + ": " + line.value_or("ended")); }};
  local::JobWatcher watcher{{.screen = &screen, .log = &log, .writing = &writing}};
  const local::Replica replica{.name = "workerpool0-0"};
  watcher.changed(replica, "running");
  watcher.wrote(replica, false, "epoch 1\n\n  \n");
  watcher.changed(replica, "succeeded");
  CHECK(shown == std::vector<std::string>{"workerpool0-0: running", "workerpool0-0: epoch 1",
                                          "workerpool0-0: ended"});
}

}  // namespace autopack::local_records_test
