#include "plan/advice.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::plan_machine_test {

namespace {

/// The entry `train.py`, on an image that holds `there` of what is asked for.
struct Program {
  source::MemoryTree tree{};
  project::Request request{.script = "train.py"};
  image::BaseFacts base{
      .reference = "python:3", .platform = "linux/amd64", .python = "python3", .pip = true};
  std::vector<std::string> there{};

  /// Returns the warnings with their hints, one on a line.
  std::string warnings(const std::string& text) {
    tree.file("train.py", text);
    const auto shared = std::make_shared<source::MemoryTree>(tree);
    const auto project = project::scan(*shared, request);
    const auto plan = plan::make_plan(shared, project, request, base, {});
    const auto in_base = [&](const std::vector<std::string>& names) {
      std::map<std::string, bool> known;
      for (const auto& name : names) {
        known[name] = std::find(there.begin(), there.end(), name) != there.end();
      }
      return known;
    };
    std::string told;
    for (const auto& problem :
         plan::advice(plan, project, plan::walk_imports(plan, project), in_base).warnings) {
      told += problem.message;
      for (const auto& hint : problem.hints) {
        told += " / " + hint;
      }
      told += '\n';
    }
    return told;
  }
};

}  // namespace

TEST_CASE("a file of this machine that the program opens and the image lacks is reported") {
  Program program;
  const std::string code = "x = 1\nprint(open(\"/root\").read())\n";  // exists everywhere
  CHECK(program.warnings(code) ==
        "`train.py` line 2 opens `/root`, which this machine has and the image does not / copy it "
        "into the project, and open it by its path there / `--volume=/root:/root:ro` gives it to a "
        "run on this machine\n");
  CHECK(program.warnings("open('/no-such-directory/x.csv')\n").empty());
  CHECK(program.warnings("open('/root', 'w')\n").empty());
  CHECK(program.warnings("# open('/root')\n").empty());
  CHECK(program.warnings("print('/root')\n").empty());
  CHECK(program.warnings("open('/etc/passwd')\n").empty());
  CHECK(program.warnings("import os\nif os.path.exists('/root'):\n  open('/root')\n").empty());
  CHECK(program.warnings("try:\n  open('/root')\nexcept OSError:\n  pass\n").empty());
  program.request.given_at["volume"] = "`--volume`";
  CHECK(program.warnings(code).empty());
  program.request.given_at.clear();
  program.there = {"file:/root"};
  CHECK(program.warnings(code).empty());
  program.there.clear();
  program.tree.file("root", "");
  CHECK(program.warnings(code) ==
        "`train.py` line 2 opens `/root`, which this machine has and the image does not / write "
        "`root`, which is in the image\n");
}

TEST_CASE("a time zone is reported if the image has no data of time zones") {
  Program program;
  const std::string code = "from zoneinfo import ZoneInfo\nprint(ZoneInfo(\"Europe/Berlin\"))\n";
  const std::string told =
      "`train.py` line 2 uses the time zone `Europe/Berlin`, and the image has no data of time "
      "zones / `--requirements=tzdata`\n";
  CHECK(program.warnings(code) == told);
  CHECK(program.warnings("import zoneinfo\nzoneinfo.ZoneInfo('UTC')\nzoneinfo.ZoneInfo('CET')\n") ==
        "`train.py` line 2 uses the time zone `UTC`, and the image has no data of time zones / "
        "`--requirements=tzdata`\n");
  CHECK(program.warnings("import zoneinfo\n# zoneinfo.ZoneInfo('UTC')\n").empty());
  CHECK(program.warnings("import zoneinfo\nzoneinfo.ZoneInfo(name)\n").empty());
  for (const auto* const there : {"file:/usr/share/zoneinfo/Europe/Berlin", "tzdata"}) {
    program.there = {there};
    CHECK(program.warnings(code).empty());
  }
  program.there.clear();
  program.base.environment = {"PYTHONTZPATH=/zones"};
  CHECK(program.warnings(code).empty());
  program.base.environment.clear();
  program.request.requirements = {"pandas"};  // needs tzdata
  CHECK(program.warnings(code).find("time zone") == std::string::npos);
}

TEST_CASE("the name of a user that is only a number is reported") {
  Program program;
  program.base.user = "4321:0";
  const std::string code = "import getpass\nprint(getpass.getuser())\n";
  CHECK(program.warnings(code) ==
        "`train.py` line 2 asks for the name of the user, and the image's user 4321 has none / "
        "`--env=USER=NAME`\n");
  CHECK(program.warnings("import getpass\ngetpass.getpass()\n").empty());
  program.there = {"user:4321"};
  CHECK(program.warnings(code).empty());
  program.there.clear();
  program.base.environment = {"USER=app"};
  CHECK(program.warnings(code).empty());
  program.base.environment.clear();
  for (const auto* const user : {"app", "", "0"}) {
    program.base.user = user;
    CHECK(program.warnings(code).empty());
  }
}

}  // namespace autopack::plan_machine_test
