#include "base/error.hpp"
#include "support/temporary_directory.hpp"
#include "support/wheel_archive.hpp"
#include "wheel/installation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

namespace autopack::wheel_installation_test {

using namespace autopack::wheel;

namespace {

python::Interpreter interpreter() {
  return {.executable = "/usr/local/bin/python3",
          .version = python::Version::parse("3.11.2").value(),
          .scheme = {.purelib = "/usr/local/lib/python3.11/site-packages",
                     .platlib = "/usr/local/lib64/python3.11/site-packages",
                     .scripts = "/usr/local/bin",
                     .headers = "/usr/local/include/python3.11",
                     .data = "/usr/local"}};
}

std::string bytes_of(const Wheel& wheel, const InstalledFile& file) {
  std::string bytes = file.bytes;
  if (file.member != nullptr) {
    wheel.read(*file.member, [&](std::string_view piece) { bytes += piece; });
  }
  return bytes;
}

std::string why(const std::filesystem::path& path) {
  try {
    const auto wheel = Wheel::open(path, path.filename().string());
    for (const auto& file : install(wheel, interpreter())) {
      bytes_of(wheel, file);
    }
    return "";
  } catch (const Error& error) {
    return error.message() + ": " + (error.causes().empty() ? "" : error.causes().front());
  }
}

}  // namespace

TEST_CASE("a wheel is laid out as pip does it") {
  const TemporaryDirectory directory;
  const std::string large(20'000'000, 'x');
  const auto path = write_wheel(
      directory.path(), "Odd_pkg",
      {{.name = "odd/__init__.py", .content = "x = 1\n"},
       {.name = "odd/tool", .content = "#!/bin/sh\n", .mode = 0100711, .is_stored = true},
       {.name = "odd/large", .content = large},
       {.name = "Odd_pkg-1.0.data/scripts/run", .content = "#!pythonw -x\nprint(1)\n"},
       {.name = "Odd_pkg-1.0.data/headers/odd.h", .content = "h"},
       {.name = "Odd_pkg-1.0.data/platlib/odd.so", .content = "s"},
       {.name = "Odd_pkg-1.0.data/data/share/odd", .content = "d"}},
      "[console_scripts]\nodd = odd:main\n");
  const auto wheel = Wheel::open(path, path.filename().string());
  CHECK(wheel.warnings().empty());
  CHECK(wheel.version().str() == "1.0");
  const auto files = install(wheel, interpreter(), {.is_requested = true, .direct_url = "{}"});
  std::map<std::string, std::pair<unsigned, std::string>> all;
  for (const auto& file : files) {
    all[file.path] = {file.mode, bytes_of(wheel, file)};
    CHECK(size_of(file) == all[file.path].second.size());
  }
  const std::string root{"usr/local/lib/python3.11/site-packages/"};
  const std::string info = root + "Odd_pkg-1.0.dist-info/";
  CHECK(all.size() == files.size());
  CHECK(all.size() == 15);
  CHECK(all.at(root + "odd/__init__.py") == std::pair{0644U, std::string{"x = 1\n"}});
  CHECK(all.at(root + "odd/tool").first == 0755);
  CHECK(all.at(root + "odd/large").second == large);
  CHECK(all.at("usr/local/bin/run") ==
        std::pair{0755U, std::string{"#!/usr/local/bin/python3\nprint(1)\n"}});
  CHECK(all.at("usr/local/bin/odd").first == 0755);
  CHECK(all.contains("usr/local/include/python3.11/Odd-pkg/odd.h"));
  CHECK(all.contains("usr/local/lib64/python3.11/site-packages/odd.so"));
  CHECK(all.contains("usr/local/share/odd"));
  CHECK(all.at(info + "INSTALLER").second == "autopack\n");
  CHECK(all.at(info + "direct_url.json").second == "{}");
  CHECK(all.at(info + "REQUESTED").second.empty());
  const auto record = read_record(all.at(info + "RECORD").second);
  CHECK(record.size() == all.size());
  CHECK(record.front().path == "../../../bin/odd");
  for (const auto& row : record) {
    const auto place = (std::filesystem::path{root} / row.path).lexically_normal().string();
    CAPTURE(place);
    REQUIRE(all.contains(place));
    const auto& content = all.at(place).second;
    CHECK((row.path.ends_with("RECORD") || row.hash == record_hash(content)));
  }
}

TEST_CASE("a wheel that requires another Python is refused as pip does it") {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::string& required) {
    return why(
        write_wheel(directory.path(), "some", {}, "", "Requires-Python: " + required + "\n"));
  };
  CHECK(refused(">=3.12").find("it requires Python `>=3.12`, but the executor image has 3.11.2") !=
        std::string::npos);
  CHECK_FALSE(refused("!=3.11.*,>=3.8").empty());
  CHECK_FALSE(refused("<3.11.2").empty());
  for (const char* const fits : {">=3.8", "~=3.11", ">=3.11.2,<4", "3.12", "what you like"}) {
    CAPTURE(fits);
    CHECK(refused(fits).empty());
  }
}

TEST_CASE("a member that needs a newer version of the zip format than Python reads is refused") {
  const TemporaryDirectory directory;
  const auto path = write_wheel(directory.path(), "some", {});
  auto bytes = read_file(path);
  const auto entry = bytes.find("PK\1\2");
  REQUIRE(entry != std::string::npos);
  bytes[entry + 6] = 63;
  write_file(path, bytes);
  CHECK(why(path).empty());
  bytes[entry + 6] = 64;
  write_file(path, bytes);
  CHECK(why(path).find("needs version 6.4 of the zip format") != std::string::npos);
}

TEST_CASE("the same wheel is laid out the same way") {
  const TemporaryDirectory directory;
  const auto path =
      write_wheel(directory.path(), "same",
                  {{.name = "z.py", .content = "1"}, {.name = "a.py", .content = "2"}});
  std::string first;
  for (int i = 0; i < 2; ++i) {
    const auto wheel = Wheel::open(path, path.filename().string());
    std::string all;
    for (const auto& file : install(wheel, interpreter())) {
      all += file.path + bytes_of(wheel, file);
    }
    first = first.empty() ? all : first;
    CHECK(all == first);
  }
}

TEST_CASE("a wheel that is not sound is refused by name") {
  const TemporaryDirectory directory;
  const auto bad = [&](std::vector<ArchivedFile> files, const std::string& entry_points = {}) {
    return why(write_wheel(directory.path(), "bad", std::move(files), entry_points));
  };
  const std::string begin{"`bad-1.0-py3-none-any.whl` cannot be installed: "};
  CHECK(bad({{.name = "good.py"}}).empty());
  CHECK(bad({{.name = "a", .content = "1"}, {.name = "a", .content = "1"}}).empty());
  CHECK(bad({{.name = "a", .content = "1"}, {.name = "a", .content = "2"}}) ==
        begin + "it holds `a` twice, with different contents");
  CHECK(bad({{.name = "../a"}}) == begin + "`../a` is a name that leads elsewhere");
  CHECK(bad({{.name = "a"}, {.name = "a/b"}}) ==
        begin + "`usr/local/lib/python3.11/site-packages/a` is a file and a directory");
  CHECK(bad({{.name = "other-1.0.dist-info/x"}}) ==
        begin + "it has several `.dist-info` directories");
  CHECK(bad({{.name = "bad-1.0.data/x/y"}}) ==
        begin + "`bad-1.0.data/x/y` is in an unknown category of its `.data`");
  CHECK(bad({}, "[console_scripts]\nx\n") ==
        begin + "`entry_points.txt` has a line that cannot be read: `x`");
}

TEST_CASE("no archive with a changed byte installs other files") {
  const TemporaryDirectory directory;
  const auto path = write_wheel(directory.path(), "flip",
                                {{.name = "flip.py", .content = std::string(300, 'x') + "y"}});
  const std::string whole = read_file(path);
  const auto content = [&]() -> std::string {
    const auto wheel = Wheel::open(path, path.filename().string());
    std::string all;
    for (const auto& file : install(wheel, interpreter())) {
      all += file.path + " " + bytes_of(wheel, file);
    }
    return all;
  };
  const auto wanted = content();
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    write_file(path, changed);
    std::string now = wanted;
    try {
      now = content();
    } catch (const Error&) {
      ++refused;
    }
    CHECK(now == wanted);
    write_file(path, whole.substr(0, i));
    CHECK_FALSE(why(path).empty());
  }
  CHECK(refused > static_cast<int>(whole.size()) * 3 / 4);
}

}  // namespace autopack::wheel_installation_test
