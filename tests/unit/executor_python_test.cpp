#include "base/text.hpp"
#include "executor/find_interpreter.hpp"
#include "executor/program_text.hpp"
#include "executor/python_excerpts.hpp"
#include "executor/python_survey.hpp"
#include "support/image_files.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace autopack::executor_python_test {

using namespace autopack::executor;
using autopack::testing::ImageContent;
using autopack::testing::program_of;
using autopack::testing::reader_of;
using autopack::testing::tar_of;

namespace {

const std::string gnu_loader = "/lib64/ld-linux-x86-64.so.2";
const std::string musl_loader = "/lib/ld-musl-x86_64.so.1";

std::string text_with(const std::string& text) {
  return std::string(1, '\0') + text;
}

std::string glibc(const std::string& version) {
  return program_of("", "GNU C Library (Debian GLIBC) stable release version " + version + ".\n");
}

/// Adds the files of every image with glibc.
ImageContent with_glibc(ImageContent files) {
  files.emplace("usr/lib/x86_64-linux-gnu/libc.so.6", glibc("2.36"));
  files.emplace("lib", "-> usr/lib");
  return files;
}

ImageContent debian(ImageContent files) {
  files.insert({{"usr/bin/python3", "-> python3.11"},
                {"usr/bin/python3.11", program_of(gnu_loader, text_with("3.11.2"))},
                {"usr/lib/python3.11/os.py", ""},
                {"usr/lib/python3.11/sysconfig.py", "    'posix_local': {\n"},
                {"usr/local/lib/python3.11/dist-packages/", ""},
                {"usr/lib/python3/dist-packages/pip-23.0.1.dist-info/METADATA",
                 "Metadata-Version: 2.1\nName: pip\nVersion: 23.0.1\n"}});
  return with_glibc(std::move(files));
}

ImageContent at_prefix(const std::string& prefix, ImageContent files = {}) {
  files.insert({{prefix + "/bin/python3", "-> python3.11"},
                {prefix + "/bin/python3.11", program_of(gnu_loader, text_with("3.11.9"))},
                {prefix + "/lib/python3.11/os.py", ""},
                {prefix + "/lib/python3.11/site-packages/", ""}});
  return with_glibc(std::move(files));
}

ImageContent without(ImageContent files, const std::string& path) {
  files.erase(path);
  return files;
}

image::LayerTree tree_of(const std::vector<ImageContent>& layers) {
  image::LayerTree tree{excerpt_for_python};
  for (const auto& layer : layers) {
    tree.add(reader_of(tar_of(layer)), "a layer");
  }
  return tree;
}

PythonSurvey survey_of(const std::vector<ImageContent>& layers,
                       std::vector<std::string> environment = {},
                       const std::string& platform = "linux/amd64") {
  const auto tree = tree_of(layers);
  return survey_python(
      *view_of(tree), {.platform = platform, .environment = std::move(environment)}, layers.size());
}

/// Returns the facts in one line, or the obstacle.
std::string told(const PythonFacts& facts) {
  if (!facts.interpreter) {
    return facts.obstacle.value_or("neither");
  }
  const auto& found = *facts.interpreter;
  const auto& scheme = found.scheme;
  return fmt::format("{} {}{} {} {} {}.{} | {}{} | {} | {} | {}", found.executable,
                     found.version.str(), found.abi_flags, found.machine,
                     found.libc.kind == python::Libc::Kind::musl ? "musl" : "glibc",
                     found.libc.major, found.libc.minor, scheme.purelib,
                     scheme.platlib == scheme.purelib ? "" : " " + scheme.platlib, scheme.scripts,
                     scheme.headers, scheme.data);
}

struct Row {
  const char* what;
  ImageContent files;
  std::vector<std::string> environment;
  std::string expected;
  std::string platform{"linux/amd64"};
};

void check(const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    CAPTURE(row.what);
    CHECK(told(survey_of({row.files}, row.environment, row.platform).facts) == row.expected);
  }
}

}  // namespace

TEST_CASE("interpreter and scheme are read in every usual layout") {
  const std::string cfg = "home = /usr/bin\ninclude-system-site-packages = false\n";
  check({
      {"Debian",
       debian({}),
       {},
       "/usr/bin/python3 3.11.2 x86_64 glibc 2.36 | /usr/local/lib/python3.11/dist-packages | "
       "/usr/local/bin | /usr/include/python3.11 | /usr/local"},
      {"Debian 11, whose pip asks distutils",
       with_glibc({{"usr/bin/python3", "-> python3.9"},
                   {"usr/bin/python3.9", program_of(gnu_loader, text_with("3.9.2"))},
                   {"usr/lib/python3.9/os.py", ""},
                   {"usr/lib/python3/dist-packages/", ""}}),
       {},
       "/usr/bin/python3 3.9.2 x86_64 glibc 2.36 | /usr/local/lib/python3.9/dist-packages | "
       "/usr/local/bin | /usr/local/include/python3.9 | /usr/local"},
      {"official, with a shared library",
       with_glibc({{"usr/local/bin/python3", "-> python3.12"},
                   {"usr/local/bin/python3.12", program_of(gnu_loader, "")},
                   {"usr/local/lib/libpython3.12.so.1.0", program_of("", text_with("3.12.4"))},
                   {"usr/local/lib/python3.12/os.py", ""}}),
       {"PATH=/usr/local/bin:/usr/bin", "PYTHON_VERSION=3.12.9"},
       "/usr/local/bin/python3 3.12.4 x86_64 glibc 2.36 | /usr/local/lib/python3.12/site-packages "
       "| /usr/local/bin | /usr/local/include/python3.12 | /usr/local"},
      {"the variable tells when the files do not",
       with_glibc({{"usr/local/bin/python3", "-> python3.12"},
                   {"usr/local/bin/python3.12", program_of(gnu_loader, "")},
                   {"usr/local/lib/python3.12/os.py", ""}}),
       {"PYTHON_VERSION=3.12.9"},
       "/usr/local/bin/python3 3.12.9 x86_64 glibc 2.36 | /usr/local/lib/python3.12/site-packages "
       "| /usr/local/bin | /usr/local/include/python3.12 | /usr/local"},
      {"conda",
       at_prefix("opt/conda"),
       {"PATH=/opt/conda/bin:/usr/bin"},
       "/opt/conda/bin/python3 3.11.9 x86_64 glibc 2.36 | "
       "/opt/conda/lib/python3.11/site-packages | /opt/conda/bin | /opt/conda/include/python3.11 | "
       "/opt/conda"},
      {"conda behind a link: what is written there must not take its place",
       at_prefix("usr/share/conda", {{"opt/conda", "-> ../usr/share/conda"}}),
       {"PATH=/opt/conda/bin"},
       "/opt/conda/bin/python3 3.11.9 x86_64 glibc 2.36 | "
       "/usr/share/conda/lib/python3.11/site-packages | /usr/share/conda/bin | "
       "/usr/share/conda/include/python3.11 | /usr/share/conda"},
      {"a virtual environment",
       debian({{"opt/venv/bin/python3", "-> /usr/bin/python3"}, {"opt/venv/pyvenv.cfg", cfg}}),
       {"PATH=/opt/venv/bin:/usr/bin"},
       "/opt/venv/bin/python3 3.11.2 x86_64 glibc 2.36 | /opt/venv/lib/python3.11/site-packages | "
       "/opt/venv/bin | /opt/venv/include/site/python3.11 | /opt/venv"},
      {"a virtual environment of copies",
       debian({{"opt/venv/bin/python3", program_of(gnu_loader, text_with("3.11.2"))},
               {"opt/venv/pyvenv.cfg", cfg}}),
       {"PATH=/opt/venv/bin"},
       "/opt/venv/bin/python3 3.11.2 x86_64 glibc 2.36 | /opt/venv/lib/python3.11/site-packages | "
       "/opt/venv/bin | /opt/venv/include/site/python3.11 | /opt/venv"},
      {"no global lock, and libraries in lib64",
       with_glibc({{"opt/bin/python3", "-> python3.13t"},
                   {"opt/bin/python3.13t", program_of(gnu_loader, text_with("3.13.0rc2"))},
                   {"opt/lib64/python3.13t/os.py", ""},
                   {"opt/lib64/python3.13t/_sysconfigdata_t_linux_x86_64-linux-gnu.py", ""}}),
       {"PATH=/opt/bin"},
       "/opt/bin/python3 3.13.0rc2t x86_64 glibc 2.36 | /opt/lib/python3.13t/site-packages "
       "/opt/lib64/python3.13t/site-packages | /opt/bin | /opt/include/python3.13t | /opt"},
      {"3.7 has a flag for its memory",
       with_glibc({{"opt/bin/python3", "-> python3.7m"},
                   {"opt/bin/python3.7m", program_of(gnu_loader, text_with("3.7.17"))},
                   {"opt/lib/python3.7/os.py", ""}}),
       {"PATH=/opt/bin"},
       "/opt/bin/python3 3.7.17m x86_64 glibc 2.36 | /opt/lib/python3.7/site-packages | /opt/bin | "
       "/opt/include/python3.7m | /opt"},
      {"Alpine, with musl",
       {{"usr/bin/python3", "-> python3.12"},
        {"usr/bin/python3.12", program_of(musl_loader, text_with("3.12.1"))},
        {"usr/lib/python3.12/os.py", ""},
        {"etc/os-release", "NAME=x\nID=alpine\n"},
        {"lib/ld-musl-x86_64.so.1", program_of("", text_with("1.2.4"))}},
       {},
       "/usr/bin/python3 3.12.1 x86_64 musl 1.2 | /usr/lib/python3.12/site-packages | /usr/bin | "
       "/usr/include/python3.12 | /usr"},
      {"musl as it installs itself: the loader leads to the library",
       {{"usr/local/bin/python3", program_of(musl_loader, text_with("3.12.1"))},
        {"usr/local/lib/python3.12/os.py", ""},
        {"lib/ld-musl-x86_64.so.1", "-> ../usr/lib/libc.so"},
        {"usr/lib/libc.so", program_of("", text_with("1.2.3"))}},
       {},
       "/usr/local/bin/python3 3.12.1 x86_64 musl 1.2 | /usr/local/lib/python3.12/site-packages | "
       "/usr/local/bin | /usr/local/include/python3.12 | /usr/local"},
      {"glibc before 2.34, whose library has its version in its name",
       {{"usr/local/bin/python3", program_of(gnu_loader, text_with("3.10.1"))},
        {"usr/local/lib/python3.10/os.py", ""},
        {"lib/x86_64-linux-gnu/libc.so.6", "-> libc-2.31.so"},
        {"lib/x86_64-linux-gnu/libc-2.31.so", glibc("2.31")}},
       {},
       "/usr/local/bin/python3 3.10.1 x86_64 glibc 2.31 | "
       "/usr/local/lib/python3.10/site-packages | /usr/local/bin | /usr/local/include/python3.10 | "
       "/usr/local"},
      {"only `python`, whose name has no version",
       with_glibc({{"opt/bin/python", program_of(gnu_loader, text_with("3.10.1+"))},
                   {"opt/lib/python3.10/os.py", ""},
                   {"opt/lib/python3.9/os.py", ""}}),
       {"PATH=/opt/bin"},
       "/opt/bin/python 3.10.1 x86_64 glibc 2.36 | /opt/lib/python3.10/site-packages | /opt/bin | "
       "/opt/include/python3.10 | /opt"},
      {"another processor",
       {{"usr/local/bin/python3.12",
         program_of("/lib/ld-linux-aarch64.so.1", text_with("3.12.4"), static_cast<char>(183))},
        {"usr/local/bin/python3", "-> python3.12"},
        {"usr/local/lib/python3.12/os.py", ""},
        {"lib/aarch64-linux-gnu/libc.so.6", glibc("2.31")}},
       {},
       "/usr/local/bin/python3 3.12.4 aarch64 glibc 2.31 | "
       "/usr/local/lib/python3.12/site-packages | /usr/local/bin | /usr/local/include/python3.12 | "
       "/usr/local",
       "linux/arm64/v8"},
  });
}

TEST_CASE("facts that require running the interpreter are reported") {
  const auto conda = at_prefix("opt/conda");
  const std::vector<std::string> path{"PATH=/opt/conda/bin"};
  check({
      {"nothing", {}, {}, "the image has no `python3` or `python` on its PATH"},
      {"a wrapper",
       {{"opt/conda/bin/python3", "#!/bin/sh\nexec x\n"}},
       path,
       "`/opt/conda/bin/python3` is a script: the program that it starts is known only when it "
       "runs"},
      {"PyPy",
       {{"opt/conda/bin/python3", "-> pypy3.10"}, {"opt/conda/bin/pypy3.10", "x"}},
       path,
       "`/opt/conda/bin/python3` is `/opt/conda/bin/pypy3.10`, which may be another Python than "
       "CPython"},
      {"moved by a variable",
       conda,
       {"PATH=/opt/conda/bin", "PYTHONHOME=/x"},
       "the image sets `PYTHONHOME`"},
      {"another processor's", conda, path,
       "`/opt/conda/bin/python3.11` is a program for x86_64, the image for linux/arm64",
       "linux/arm64"},
      {"no library", without(conda, "opt/conda/lib/python3.11/os.py"), path,
       "the standard library of `/opt/conda/bin/python3.11` is not in a known place"},
      {"no C library", without(conda, "usr/lib/x86_64-linux-gnu/libc.so.6"), path,
       "the C library of `/opt/conda/bin/python3.11` does not contain its version"},
      {"a veto",
       at_prefix("opt/conda", {{"opt/conda/lib/python3.11/site-packages/_manylinux.py", ""}}), path,
       "`/opt/conda/lib/python3.11/site-packages/_manylinux.py` decides which wheels fit"},
      {"a system whose rules are not known",
       without(debian({}), "usr/lib/python3.11/sysconfig.py"),
       {},
       "where `python3.11` installs to is its system's own rule, which is not known here"},
      {"a store",
       {{"nix/store/x/bin/python3", program_of(gnu_loader, "")}},
       {"PATH=/nix/store/x/bin"},
       "`/nix/store/x/bin/python3` is in a store that nothing is installed to"},
  });
}

TEST_CASE("machine, loader and versions of a program are found, wherever they are") {
  const auto far = std::string((std::size_t{1} << 18U) - 130, 'x');
  const auto program = read_program(
      reader_of(program_of(gnu_loader, far +
                                           std::string{"Python 3.11.2\0"
                                                       "1.2\0"
                                                       "x3.9.1\0"
                                                       "3.12.0+\0",
                                                       33} +
                                           "GNU C Library (x) release version 2.4.\n")));
  REQUIRE(program);
  CHECK(program->machine == "x86_64");
  CHECK(program->loader == gnu_loader);
  CHECK(program->glibc == "2.4");
  CHECK(program->versions == std::vector<std::string>{"3.11.2", "3.12.0+"});
  CHECK(program_from_text(to_text(*program)) == program);
  CHECK_FALSE(read_program(reader_of("#!/bin/sh\n")));
  CHECK_FALSE(read_program(reader_of("")));
  CHECK_FALSE(program_from_text("script"));
  std::string lying = program_of(gnu_loader, "");
  lying.replace(56, 2, "\xff\xff");
  lying.replace(32, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
  CHECK_FALSE(read_program(reader_of(lying))->loader);
}

TEST_CASE("this program's own file is read as the system reads it") {
  std::ifstream file{"/proc/self/exe", std::ios::binary};
  const auto program = read_program([&](char* buffer, std::size_t size) {
    file.read(buffer, static_cast<std::streamsize>(size));
    return static_cast<std::size_t>(file.gcount());
  });
  REQUIRE(program);
  CHECK(program->machine);
  std::ifstream maps{"/proc/self/maps"};
  const std::string loaded{std::istreambuf_iterator<char>{maps}, {}};
  REQUIRE(program->loader);
  const auto name = program->loader->substr(program->loader->rfind('/') + 1);
  CHECK(loaded.find("/" + name) != std::string::npos);
}

TEST_CASE("facts come back from JSON, and what is damaged does not") {
  auto facts = survey_of({debian({})}).facts;
  facts.remarks = {"a remark"};
  const std::string line = to_json_line(facts);
  const auto back = python_facts_from_json(line);
  REQUIRE(back);
  CHECK(to_json_line(*back) == line);
  CHECK(told(*back) == told(facts));
  CHECK(back->installed == facts.installed);
  for (const auto& damaged :
       {std::string{}, std::string{"{}"}, line.substr(1),
        replace_all(line, "\"format\":", "\"x\":"), replace_all(line, "\"3.11.2\"", "\"x\""),
        replace_all(line, "\"libc_minor\":36", "\"x\":1"),
        replace_all(line, "\"installed\":[", "\"installed\":[1,")}) {
    CAPTURE(damaged);
    CHECK_FALSE(python_facts_from_json(damaged));
  }
  const auto none = python_facts_from_json(to_json_line(survey_of({{}}).facts));
  REQUIRE(none);
  CHECK(none->obstacle);
}

}  // namespace autopack::executor_python_test
