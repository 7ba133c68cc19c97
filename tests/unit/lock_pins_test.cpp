#include "lock/pins.hpp"
#include "support/locked.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace autopack::lock_pins_test {

using namespace autopack::lock;

namespace {

const std::string digits(64, 'a');
const std::string other_digits(64, 'b');

Pins pins_of(const std::map<std::string, std::string>& files,
             std::vector<std::string> requirements = {},
             const std::vector<std::string>& of_package = {}) {
  source::MemoryTree tree{files};
  tree.file("train.py", "");
  const auto project =
      project::scan(tree, {.script = "train.py", .requirements = std::move(requirements)});
  return read_pins(project, debian_python(), of_package);
}

Pins pins_of(const std::string& text) {
  return pins_of(std::map<std::string, std::string>{{"requirements.txt", text}});
}

std::string hash(const std::string& hex) {
  return " --hash=sha256:" + hex;
}

}  // namespace

TEST_CASE("requirements with hashes are a complete set") {
  const auto pins =
      pins_of("torch[Opt_x]==2.1.0 ; python_version >= '3.9' \\\n   " + hash(digits) + " \\\n    " +
              hash(other_digits) + "\ncolorama==0.4.6 ; sys_platform == 'win32'" + hash(digits) +
              "\n-i https://index.example/simple\nattrs===23.1.0" + hash(digits));
  REQUIRE_MESSAGE(pins.set, pins.reason);
  CHECK(pins.set->hashed);
  CHECK(pins.set->is_complete);
  CHECK(pins.set->origin == "requirements.txt");
  CHECK(summary(*pins.set) == "attrs==23.1.0 torch[opt-x]==2.1.0");
  const auto& torch = pins.set->packages[1];
  CHECK(torch.place == "requirements.txt:1");
  CHECK(torch.requested);
  REQUIRE(torch.hashes.size() == 2);
  CHECK(torch.hashes[1].str() == "sha256:" + other_digits);
}

TEST_CASE("pins without hashes are a set that has to be checked") {
  const auto pins = pins_of({{"requirements.txt", "-r more.txt\nnumpy==1.26.4\n--pre\n"},
                             {"more.txt", "six==1.16.0,>=1\nnumpy[x]==1.26.4.0\n"}},
                            {"tqdm==4.66"});
  REQUIRE_MESSAGE(pins.set, pins.reason);
  CHECK_FALSE(pins.set->hashed);
  CHECK_FALSE(pins.set->is_complete);
  CHECK(summary(*pins.set) == "numpy[x]==1.26.4.0 six==1.16.0 tqdm==4.66");
  CHECK(pins.set->packages[2].place == "requirements");
}

TEST_CASE("files and URLs are taken as they are named") {
  const std::string commit(40, 'c');
  const std::string wheel = "lib-1.0-py3-none-any.whl";
  const auto pins = pins_of(
      {{"requirements.txt",
        "./wheels/" + wheel + "\nhttps://host.example/a%2Bb/My_Pkg-2.0%2Bcpu-py3-none-any.whl#" +
            "sha256=" + digits + "\nsrc @ https://host.example/src-3.0.tar.gz\n" +
            "tool @ git+https://host.example/tool.git@main\n-e ./local\n" +
            "git+https://host.example/z.git@" + commit + "#egg=zed&subdirectory=a%20b\n" +
            "private @ https://me:word@host.example/private-1-py3-none-any.whl\n" +
            "token @ https://${TOKEN}@host.example/token-1-py3-none-any.whl\n"},
       {"wheels/" + wheel, ""},
       {"local/pyproject.toml", ""}});
  REQUIRE_MESSAGE(pins.set, pins.reason);
  CHECK(summary(*pins.set) == "lib==1.0 my-pkg==2.0+cpu private==1 src==3.0 token==1 tool zed");
  const auto& packages = pins.set->packages;
  CHECK(packages[0].source == LockedSource{.directory = "local"});
  CHECK(packages[0].place == "requirements.txt:5");
  REQUIRE(packages[1].files.size() == 1);
  CHECK(packages[1].files[0].path == "wheels/" + wheel);
  REQUIRE(packages[2].files.size() == 1);
  CHECK(packages[2].files[0].name == "My_Pkg-2.0+cpu-py3-none-any.whl");
  CHECK(packages[2].files[0].url == "https://host.example/a%2Bb/My_Pkg-2.0%2Bcpu-py3-none-any.whl");
  REQUIRE(packages[2].files[0].hashes.size() == 1);
  CHECK(packages[2].files[0].hashes[0].hex == digits);
  CHECK(packages[3].obstacle == "its URL has a login, a query or a variable");
  CHECK(packages[3].files.empty());
  CHECK_FALSE(packages[4].obstacle);
  CHECK(packages[4].files[0].name == "src-3.0.tar.gz");
  CHECK(packages[4].is_direct);
  CHECK(packages[5].obstacle == "its URL has a login, a query or a variable");
  CHECK(packages[6].obstacle ==
        "it comes from version control, but `main` is not a full commit hash");
  CHECK(packages[7].source == LockedSource{.repository = "https://host.example/z.git",
                                           .commit = commit,
                                           .revision = commit,
                                           .subdirectory = "a b"});
}

TEST_CASE("options name packages that are built, and those that are not") {
  const auto pins =
      pins_of("--no-binary A,b\n--only-binary b\n--only-binary=:none:\na==1\nb==1\nc==1\n");
  REQUIRE_MESSAGE(pins.set, pins.reason);
  CHECK(pins.set->packages[0].formats == Formats::sources);
  CHECK(pins.set->packages[1].formats == Formats::any);
  CHECK(pins.set->packages[2].formats == Formats::any);
  const auto all = pins_of("--no-binary :all:\n--only-binary b\na==1\nb==1\n");
  REQUIRE_MESSAGE(all.set, all.reason);
  CHECK(all.set->packages[0].formats == Formats::sources);
  CHECK(all.set->packages[1].formats == Formats::wheels);
}

TEST_CASE("all ambiguous lines are reported, but not a long list of them") {
  CHECK(pins_of("a\nb==1\nc>2\n").reason ==
        "not a complete set of pins: requirements.txt:1: `a` is not pinned by `==`; "
        "requirements.txt:3: `c>2` is not pinned by `==`");
  const auto reason = pins_of("a\nb\nc\nd\ne\nf\ng\n").reason;
  CHECK(reason.find("`e` is not pinned") != std::string::npos);
  CHECK(reason.ends_with("; and 2 more"));
}

TEST_CASE("an ambiguous line is reported, and there is no set") {
  struct Case {
    std::string text;
    std::string words;
  };

  for (const auto& [text, words] : std::vector<Case>{
           {"numpy==1\ntorch>=2", "requirements.txt:2: `torch>=2` is not pinned by `==`"},
           {"torch", "requirements.txt:1: `torch` is not pinned by `==`"},
           {"torch==2.*", "`torch==2.*` is not pinned by `==`"},
           {"torch==2,<2", "`torch==2,<2` is not pinned by `==`"},
           {"torch==${V}", "is not pinned by `==`"},
           {"torch==2\n--newer-option=1",
            "requirements.txt:2: `--newer-option` may change the selection"},
           {"torch==2\n-r https://host.example/r.txt", "`--requirement` may change the selection"},
           {"torch==2 --config-settings=a=b", "`--config-settings` asks for a build of its own"},
           {"torch==2\nnumpy==1" + hash(digits), "1: `torch==2` has no hash, but others have one"},
           {"torch==2" + hash(digits) + "\ntorch==2" + hash(other_digits), "pinned differently"},
           {"a==1; python_version < '3' and platform_machine == '${M}'", "cannot be evaluated"},
           {"b @ https://host.example/a-1-py3-none-any.whl", "is not a file of `b`"},
       }) {
    const auto pins = pins_of(text);
    const auto& shown = text;  // clang 14 captures no binding
    CHECK_FALSE_MESSAGE(pins.set, shown);
    CHECK_MESSAGE(pins.reason.starts_with("not a complete set of pins: "), pins.reason);
    CHECK_MESSAGE(pins.reason.find(words) != std::string::npos, pins.reason);
  }
}

TEST_CASE("a constraint lets a pin pass or there is no set") {
  const auto with = [](const std::string& constraint) {
    return pins_of({{"requirements.txt", "torch==2.1rc1\n-c c.txt"}, {"c.txt", constraint}});
  };
  CHECK(with("torch>=2,<3\nother==1\ntorch<1; sys_platform == 'win32'").set);
  CHECK(with("torch @ https://host.example/torch-2.1-py3-none-any.whl")
            .reason.find("not just a range of versions") != std::string::npos);
}

TEST_CASE("the project itself is not one of its pins") {
  const auto pins = pins_of({{"requirements.txt", "-e .[x]\nsix==1.16.0\n"},
                             {"pyproject.toml",
                              "[project]\nname = \"mine\"\nversion = \"1\"\n"
                              "[project.optional-dependencies]\nx = []\n"}});
  REQUIRE_MESSAGE(pins.set, pins.reason);
  CHECK(summary(*pins.set) == "six==1.16.0");
}

TEST_CASE("requirements of the project's own package are pinned, or are pins") {
  struct Case {
    std::string pins{};
    std::vector<std::string> of_package{};
    std::string expected{};  ///< the set, or why there is none
  };

  const std::vector<Case> cases{
      {"numpy==1.26.4\n", {"numpy>=1.20"}, "numpy==1.26.4"},
      {"numpy==1.26.4\n", {"NumPy[x] <2", "numpy[y]"}, "numpy[x][y]==1.26.4"},
      {"numpy==1.26.4\n", {"six==1.16"}, "numpy==1.26.4 six==1.16"},
      {"", {"six==1.16", "six>1"}, "six==1.16"},
      {"numpy==1.26.4\n", {"tomli>1; python_version < '3.8'"}, "numpy==1.26.4"},
      {"numpy==1.26.4\n",
       {"numpy<1.20"},
       "not a complete set of pins: pyproject.toml: `numpy<1.20` does not match the pin in "
       "requirements.txt:1"},
      {"numpy==1.26.4\n",
       {"six>=1"},
       "not a complete set of pins: pyproject.toml: `six>=1` is not pinned by `==`"}};
  for (const auto& one : cases) {
    CAPTURE(one.expected);
    const auto pins = pins_of({{"requirements.txt", one.pins}}, {}, one.of_package);
    CHECK((pins.set ? summary(*pins.set) : pins.reason) == one.expected);
  }
}

}  // namespace autopack::lock_pins_test
