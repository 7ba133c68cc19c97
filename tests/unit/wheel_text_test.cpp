#include "wheel/wheel_text.hpp"

#include "base/file.hpp"
#include "support/temporary_directory.hpp"
#include "wheel/installation.hpp"
#include "wheel/wheel.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace autopack::wheel_text_test {

TEST_CASE("a wheel that is made of texts is one that can be installed") {
  const TemporaryDirectory folder;
  const auto text = wheel::wheel_text(
      "My.Lab", "1.0+cu118",
      {{"a.pth", "/usr/app\n"},
       {"my_lab-1.0+cu118.dist-info/METADATA", "Name: My.Lab\nVersion: 1.0+cu118\n"},
       {"my_lab-1.0+cu118.dist-info/entry_points.txt", "[console_scripts]\nrun = my_lab:main\n"}});
  const auto path = folder.path() / "wheel";
  write_file(path, text);
  const auto stem = wheel::wheel_stem("My.Lab", "1.0+cu118");
  const auto made = wheel::Wheel::open(path, stem + "-py3-none-any.whl");
  CHECK(made.warnings().empty());
  CHECK(made.version().str() == "1.0+cu118");
  CHECK(made.record().size() == 5);
  python::Interpreter interpreter{.executable = "/usr/bin/python3"};
  interpreter.scheme = {"/lib", "/lib", "/bin", "/include", "/"};
  std::map<std::string, std::string> files;
  for (const auto& file : wheel::install(made, interpreter)) {
    std::string bytes = file.bytes;
    if (file.member != nullptr) {
      made.read(*file.member, [&](std::string_view piece) { bytes += piece; });
    }
    files[file.path] = bytes;
  }
  CHECK(files.at("lib/a.pth") == "/usr/app\n");
  CHECK(files.at("bin/run").starts_with("#!/usr/bin/python3\n"));
  CHECK(files.contains("lib/my_lab-1.0+cu118.dist-info/WHEEL"));
}

}  // namespace autopack::wheel_text_test
