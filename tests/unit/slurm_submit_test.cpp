#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/scratch_directory.hpp"
#include "base/text.hpp"
#include "slurm/commands.hpp"
#include "slurm/submitter.hpp"
#include "support/recording_reporter.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace autopack::slurm_submit_test {

namespace {

namespace fs = std::filesystem;

constexpr auto* image =
    "registry.example.com/team/app@sha256:"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// A login machine whose sbatch and squeue keep jobs in a file, and whose connection fails.
class Login : public slurm::Connection {
public:
  Login() : Connection{std::nullopt, nullptr} {
    program("sbatch", R"(case $1 in --version) echo slurm 22.05.8; exit ;; --test-only) exit ;; esac
for last; do :; done
number=$(($(wc -l < "$JOBS") + 1))
comment=$(sed -n 's/^#SBATCH --comment=//p' "$last")
echo "$number|$comment" >> "$JOBS"
if [ -s "$TIMES_OUT" ]; then
  rm -f "$TIMES_OUT"
  echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2
  exit 1
fi
if [ -s "$REFUSES" ]; then echo 'sbatch: error: Batch job submission failed: Invalid account' >&2; exit 1; fi
echo "$number")");
    program("squeue",
            R"([ -s "$IS_DOWN" ] && { echo 'squeue: error: Unable to contact' >&2; exit 1; }
cat "$JOBS")");
    program("srun", "echo --container-image");
    for (const auto* name : {"scontrol", "scancel", "sinfo"}) {
      program(name, "exit 0");
    }
    program("sacct", "exit 1");
    write_file(jobs(), "");
  }

  slurm::Answer attempt(const std::string& script, Stops stops) override {
    const auto place = scratch_.path().string();
    const auto whole = fmt::format(
        "PATH={0}/bin:$PATH HOME={0}/home JOBS={0}/jobs TIMES_OUT={0}/times-out "
        "REFUSES={0}/refuses "
        "IS_DOWN={0}/is-down\nexport PATH HOME JOBS TIMES_OUT REFUSES IS_DOWN\n{1}",
        place, script);
    const bool submits = script.find("sbatch --parsable") != std::string::npos;
    if (!submits) {
      return Connection::attempt(whole, stops);
    }
    ++attempts;
    if (cuts_script && attempts == 1) {
      // What the shell reads if the connection ends early: see connection.cpp.
      const auto text = "{\n(\n" + whole + "\n)\nexit 0\n}\n";
      run_process({"/bin/sh", "-s"}, text.substr(0, *cuts_script * text.size() / 1000), {});
      return {.errors = "ssh ended with status 255"};
    }
    auto answer = Connection::attempt(whole, stops);
    if (attempts <= lost) {
      return {.errors = "ssh ended with status 255"};
    }
    return answer;
  }

  void set(const std::string& what) { write_file(scratch_.path() / what, "1"); }

  std::size_t count() const {
    const auto text = read_file(jobs());
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }

  fs::path directory() const { return scratch_.path() / "home/.autopack"; }

  std::size_t attempts{0};
  std::size_t lost{0};
  std::optional<std::size_t> cuts_script{};  ///< thousandths that arrive of the first attempt

private:
  fs::path jobs() const { return scratch_.path() / "jobs"; }

  void program(const std::string& name, const std::string& text) {
    const auto path = scratch_.path() / "bin" / name;
    write_file(path, "#!/bin/sh\n" + text + "\n");
    fs::permissions(path, fs::perms::owner_all);
  }

  ScratchDirectory scratch_{"slurm-submit-test"};
};

image::Source open_image(const std::string& name) {
  return {
      .name = name,
      .digest = sha256("image"),
      .manifest = {.config = {.digest = sha256("configuration")}},
      .configuration = R"({"architecture":"amd64","os":"linux","config":{"Entrypoint":["train"]},
                              "rootfs":{"type":"layers","diff_ids":[]}})"};
}

struct Submission {
  std::shared_ptr<Login> login = std::make_shared<Login>();
  testing::RecordingReporter reporter{};
  std::vector<std::string> created{};
  std::optional<fs::path> records{};

  submit::SubmittedJob submit() {
    job::Job job{.display_name = "taxi"};
    job.spec.pools = {{.container = job::Container{.image = image}}};
    return slurm::make_slurm_submitter(
               {.connection = login,
                .shared_directory = slurm::default_shared_directory,
                .open = open_image,
                .records = records,
                .reporter = &reporter,
                .created = [&](const auto& one) { created.push_back(one.name.value()); },
                .sleep = [](std::chrono::milliseconds) {}})
        ->submit(job);
  }
};

}  // namespace

TEST_CASE("a submission whose answers are lost makes one job on Slurm") {
  for (std::size_t lost = 0; lost <= 3; ++lost) {
    Submission one;
    one.login->lost = lost;
    CHECK(one.submit().name == "slurm/-/1");
    CHECK(one.login->count() == 1);
    CHECK(one.created == std::vector<std::string>{"slurm/-/1"});
  }
}

TEST_CASE("a submission that is cut off at any point makes one job on Slurm") {
  constexpr std::size_t points{200};
  for (std::size_t i = 0; i < points; ++i) {
    Submission one;
    one.login->cuts_script = i * 1000 / points;
    CAPTURE(i);
    REQUIRE(one.submit().name == "slurm/-/1");
    REQUIRE(one.login->attempts == 2);
    REQUIRE(one.login->count() == 1);
  }
}

TEST_CASE("a controller that times out may have taken the job") {
  Submission one;
  one.login->set("times-out");
  CHECK(one.submit().name == "slurm/-/1");
  CHECK(one.login->count() == 1);
  CHECK(one.login->attempts == 2);
}

TEST_CASE("without an answer to whether the job exists, sbatch is not called") {
  Submission one;
  one.login->set("is-down");
  CHECK_THROWS_WITH(one.submit(), "it is not known whether job `taxi` was submitted");
  CHECK(one.login->count() == 0);
  CHECK(one.created.empty());
}

TEST_CASE("a run that continues a killed one makes no second job on Slurm") {
  const ScratchDirectory records{"slurm-records"};
  Submission one;
  one.records = records.path();
  one.login->lost = 100;  // it never knows, as if it were killed
  CHECK_THROWS_WITH(one.submit(), "it is not known whether job `taxi` was submitted");
  CHECK_FALSE(fs::is_empty(records.path()));
  one.login->lost = 0;
  CHECK(one.submit().name == "slurm/-/1");
  CHECK(one.login->count() == 1);
  CHECK(fs::is_empty(records.path()));
  CHECK(one.submit().name == "slurm/-/2");
}

TEST_CASE("a refusal of Slurm is final, and leaves no record") {
  Submission one;
  const ScratchDirectory records{"slurm-records"};
  one.records = records.path();
  one.login->set("refuses");
  CHECK_THROWS_WITH(one.submit(), "Slurm refused the job `taxi`");
  CHECK(one.login->attempts == 1);
  CHECK(fs::is_empty(records.path()));
}

TEST_CASE("files of a job on Slurm are for its user alone") {
  Submission one;
  one.submit();
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator{one.login->directory()}) {
    const auto others = fs::perms::group_all | fs::perms::others_all;
    CAPTURE(entry.path().string());
    CHECK((entry.status().permissions() & others) == fs::perms::none);
    files += entry.is_regular_file() ? 1 : 0;
  }
  CHECK(files > 4);
}

}  // namespace autopack::slurm_submit_test
