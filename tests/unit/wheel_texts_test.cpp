#include "base/error.hpp"
#include "wheel/installation.hpp"
#include "wheel/texts.hpp"
#include "wheel/zip.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace autopack::wheel_texts_test {

using namespace autopack::wheel;

namespace {

/// Returns `path|hash|size` of each row; nothing if the text is refused.
std::optional<std::vector<std::string>> rows(std::string_view text) {
  try {
    std::vector<std::string> all;
    for (const auto& row : read_record(text)) {
      CHECK_FALSE((row.hash == "" || row.size == ""));
      all.push_back(row.path + "|" + row.hash.value_or("") + "|" + row.size.value_or(""));
    }
    return all;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Returns `name=module:callable` of each program; nothing if the text is refused.
std::optional<std::vector<std::string>> programs(std::string_view text) {
  try {
    std::vector<std::string> all;
    const auto points = read_entry_points(text);
    for (const auto* entries : {&points.console, &points.gui}) {
      for (const auto& entry : *entries) {
        all.push_back(entry.name + "=" + entry.module + ":" + entry.callable);
      }
    }
    return all;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string names(const std::vector<EntryPoint>& entries) {
  std::string all;
  for (const auto& entry : entries) {
    all += entry.name + " ";
  }
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("RECORD is read as Python's csv module reads it") {
  const struct {
    std::string_view text;
    std::optional<Texts> rows;
  } cases[] = {
      {"", Texts{}},
      {"a,b,1\n", Texts{"a|b|1"}},
      {"a,b,1\r\nc,,\rd", Texts{"a|b|1", "c||", "d||"}},
      {"\"a,b\",,\n", Texts{"a,b||"}},
      {"\"a\"\"b\",,", Texts{"a\"b||"}},
      {"a\"b,,", Texts{"a\"b||"}},
      {"a,b,1,more\n\nc,,", Texts{"a|b|1", "c||"}},
      {"a\xe2\x80\xa8"
       "b",
       Texts{"a||", "b||"}},
      {"\"a", std::nullopt},
      {"\"a\"b,,", std::nullopt},
      {"\xff,,", std::nullopt},
  };

  for (const auto& one : cases) {
    CAPTURE(one.text);
    CHECK(rows(one.text) == one.rows);
  }
}

TEST_CASE("RECORD is written as pip writes it") {
  CHECK(write_record({{.path = "b", .hash = "h", .size = "1"}, {.path = "a,\"b"}, {.path = "B"}}) ==
        "B,,\r\n\"a,\"\"b\",,\r\nb,h,1\r\n");
  CHECK(record_hash("") == "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
}

TEST_CASE("entry points are programs, or refused") {
  const struct {
    std::string_view text;
    std::optional<Texts> programs;
  } cases[] = {
      {"", Texts{}},
      {"x = y\n[other]\nz\n", Texts{}},
      {"[console_scripts]\n a = b:c \n# d = e:f\n", Texts{"a=b:c"}},
      {"[console_scripts]\na=b.c : D.e [x, y]\n[gui_scripts]\ng = h:i",
       Texts{"a=b.c:D.e", "g=h:i"}},
      {"[console_scripts]\nb = c:d\na = b:c\nb = e:f", Texts{"a=b:c", "b=e:f"}},
      {"[console_scripts]\n\xc3\xa9-1.x = \xc3\xa9:f", Texts{"\xc3\xa9-1.x=\xc3\xa9:f"}},
      {"[console_scripts]\na = b", std::nullopt},
      {"[console_scripts]\na", std::nullopt},
      {"[console_scripts]\na = b:c:d", std::nullopt},
      {"[console_scripts]\na = b:1c", std::nullopt},
      {"[console_scripts]\na = b:", std::nullopt},
      {"[console_scripts]\na = b:c; import os", std::nullopt},
      {"[console_scripts]\n../a = b:c", std::nullopt},
      {"[console_scripts]\n.. = b:c", std::nullopt},
      {"[console_scripts]\na b = b:c", std::nullopt},
      {"[gui_scripts]\n = b:c", std::nullopt},
  };

  for (const auto& one : cases) {
    CAPTURE(one.text);
    CHECK(programs(one.text) == one.programs);
  }
}

TEST_CASE("metadata consists of the headers") {
  const auto read = read_metadata(
      "Metadata-Version: 2.1\r\nNAME:  Some.Name \r\nVersion: 1.0\r\nName: other\r\n"
      "Requires-Dist: a (>=1);\r\n  extra == 'x'\r\nRequires-Dist: b\r\nProvides-Extra: x\r\n"
      "Requires-Python: >=3.8\r\n\r\nRequires-Dist: text\r\n");
  CHECK(read.name == "Some.Name");
  CHECK(read.version == "1.0");
  CHECK(read.requires_dist == Texts{"a (>=1); extra == 'x'", "b"});
  CHECK(read.provides_extra == Texts{"x"});
  CHECK(read.requires_python == ">=3.8");
  CHECK_THROWS_AS(read_metadata("Name: a\n\nVersion: 1"), Error);
  CHECK_THROWS_AS(read_metadata("text\nName: a\nVersion: 1"), Error);
}

TEST_CASE("the format of a wheel is 1.x") {
  CHECK(read_format("Wheel-Version: 1.0\nRoot-Is-Purelib: TRUE\n").root_is_purelib);
  CHECK_FALSE(read_format("Wheel-Version: 1\nRoot-Is-Purelib: yes\n").root_is_purelib);
  CHECK(read_format("wheel-version: 1.9\n").minor == 9);
  for (const char* wrong : {"", "Wheel-Version: 2.0", "Wheel-Version: 0.9", "Wheel-Version: x",
                            "Wheel-Version: 1.x", "Wheel-Version: -1.0"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(read_format(wrong), Error);
  }
}

TEST_CASE("a launcher starts what the entry point names") {
  const EntryPoint entry{.name = "run", .module = "a.b", .callable = "App.main"};
  CHECK(launcher_text(entry, "/usr/bin/python3") ==
        "#!/usr/bin/python3\nimport sys\nfrom a.b import App\nif __name__ == '__main__':\n"
        "    sys.argv[0] = sys.argv[0].removesuffix('.exe')\n    sys.exit(App.main())\n");
  const std::string longest = "/" + std::string(123, 'x');
  CHECK(launcher_text(entry, longest).starts_with("#!" + longest + "\nimport"));
  CHECK(launcher_text(entry, longest + "x")
            .starts_with("#!/bin/sh\n'''exec' " + longest + "x \"$0\" \"$@\"\n' '''\nimport"));
  CHECK(launcher_text(entry, "/a b/python")
            .starts_with("#!/bin/sh\n'''exec' \"/a b/python\" \"$0\""));
}

TEST_CASE("pip's own programs are called by the interpreter's version") {
  const auto points = read_entry_points(
      "[console_scripts]\npip=p:m\npip3=p:m\npip3.9=p:m\npipx=p:m\npip-3=p:m\neasy_install=e:m\n"
      "easy_install-2.7=e:m\n[gui_scripts]\npip3.8=g:m\n");
  CHECK(names(launchers(points, python::Version::parse("3.11.2").value())) ==
        "pip pip3 pip3.11 easy_install easy_install-3.11 pip-3 pipx pip3.8 ");
}

TEST_CASE("names of files in archives lead nowhere else") {
  for (const char* good : {"a", "a/b.py", "a b/\xc3\xa9", "...", "a/.whx", "-r", "a\\b"}) {
    CAPTURE(good);
    CHECK_FALSE(name_fault(good));
  }
  for (const std::string& bad :
       {std::string{}, std::string{"/a"}, std::string{"a//b"}, std::string{"../a"},
        std::string{"a/./b"}, std::string{"a/"}, std::string{"a\nb"}, std::string{"a\0b", 3},
        std::string{"\xff"}, std::string{"a/.wh.b"}, std::string(256, 'a'),
        std::string{"\xe2\x80\xa8"}, std::string{"\xc2\x85"}}) {
    CAPTURE(bad);
    CHECK(name_fault(bad));
  }
}

}  // namespace autopack::wheel_texts_test
