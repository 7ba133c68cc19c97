#include "base/file.hpp"
#include "base/text.hpp"
#include "executor/base_distributions.hpp"
#include "executor/python_excerpts.hpp"
#include "executor/python_survey.hpp"
#include "executor/record_cache.hpp"
#include "support/image_files.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

namespace autopack::executor_distributions_test {

using namespace autopack::executor;
using autopack::testing::ImageContent;
using autopack::testing::program_of;
using autopack::testing::reader_of;
using autopack::testing::tar_of;

namespace {

const std::string site = "opt/lib/python3.11/site-packages/";
const std::string packages = "/opt/lib/python3.11/site-packages";
const python::Scheme scheme{.purelib = packages,
                            .platlib = packages,
                            .scripts = "/opt/bin",
                            .headers = "/opt/include/python3.11",
                            .data = "/opt"};

std::string metadata(const std::string& name, const std::string& version) {
  return "Metadata-Version: 2.1\nName: " + name + "\r\nversion: " + version + "\n\nName: no\n";
}

/// Returns the names relative to `site`.
ImageContent in_site(const ImageContent& files) {
  ImageContent all;
  for (const auto& [path, text] : files) {
    all[site + path] = text;
  }
  return all;
}

FoundDistributions found_in(const std::vector<ImageContent>& layers,
                            const std::vector<std::string>& search_path = {packages}) {
  image::LayerTree tree{excerpt_for_python};
  for (const auto& layer : layers) {
    tree.add(reader_of(tar_of(layer)), "a layer");
  }
  return find_distributions(*view_of(tree), search_path, {packages}, scheme);
}

/// Returns a line for each: name, version, installer, why it is kept, and files, those of `site`
/// without it.
std::string told(const FoundDistributions& found) {
  std::string text;
  for (std::size_t i = 0; i < found.installed.size(); ++i) {
    const auto& one = found.installed[i];
    text += fmt::format("{} {} {}|{}|", one.name, one.version.value_or(""),
                        one.installer.value_or(""), one.kept_by.value_or(""));
    for (const auto& file : found.files[i]) {
      text += " " + replace_all(file, packages + "/", "");
    }
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("distributions are found with their files, whoever installed them") {
  struct Row {
    const char* what;
    ImageContent files;
    std::string expected;
  };

  const std::vector<Row> rows{
      {"a wheel, with what was compiled and installed elsewhere",
       {{"A_b-1.0.dist-info/METADATA", metadata("A.b", "1.0")},
        {"A_b-1.0.dist-info/INSTALLER", "conda\n"},
        {"A_b-1.0.dist-info/RECORD",
         "ab.py,sha256=x,1\r\n\"a,\"\"b\"\".txt\",,\r\n../../../bin/ab,,\r\n"
         "../../../../etc/passwd,,\r\n/opt/share/x,,\r\nA_b-1.0.dist-info/RECORD,,\r\n"},
        {"ab.py", ""},
        {"__pycache__/ab.cpython-311.pyc", ""},
        {"__pycache__/abc.cpython-311.pyc", ""}},
       "a-b 1.0 conda|| /opt/bin/ab A_b-1.0.dist-info/RECORD __pycache__/ab.cpython-311.pyc "
       "a,\"b\".txt ab.py /opt/share/x\n"},
      {"a wheel without RECORD",
       {{"x-1.dist-info/METADATA", metadata("x", "1")}},
       "x 1 |it has no RECORD of its files|\n"},
      {"nothing but a directory's name",
       {{"x_y-1.5+cu118.dist-info/METADATA", ""}, {"x_y-1.5+cu118.dist-info/RECORD", "z.py,,\n"}},
       "x-y 1.5+cu118 || z.py\n"},
      {"distutils",
       {{"x-1.egg-info", metadata("x", "1")}},
       "x 1 |it was installed by distutils|\n"},
      {"an egg's directory with a list",
       {{"x-1-py3.egg-info/PKG-INFO", metadata("x", "1")},
        {"x-1-py3.egg-info/installed-files.txt", "../x.py\nPKG-INFO\ninstalled-files.txt\n"}},
       "x 1 || x-1-py3.egg-info/PKG-INFO x-1-py3.egg-info/installed-files.txt x.py\n"},
      {"an egg's directory without",
       {{"x-1.egg-info/PKG-INFO", metadata("x", "1")}},
       "x 1 |it has no list of its files|\n"},
      {"an egg", {{"x-1.egg/EGG-INFO/PKG-INFO", metadata("x", "1")}}, "x 1 |it is an egg|\n"},
      {"vendored metadata is none's",
       {{"pip/_vendor/x-1.dist-info/METADATA", metadata("x", "1")}, {"dist-info/METADATA", ""}},
       ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    CHECK(told(found_in({in_site(row.files)})) == row.expected);
  }
}

TEST_CASE("a project that was linked is found where its sources are") {
  auto files = in_site({{"my_x.egg-link", "/src\n."}, {"easy-install.pth", "/src\n/other\n"}});
  files["src/my_x.egg-info/PKG-INFO"] = metadata("my-x", "0.1");
  files["other/y-2.dist-info/METADATA"] = metadata("y", "2");
  const auto found = found_in({files});
  CHECK(told(found) ==
        "my-x 0.1 |it is linked to a directory of sources|\nmy-x 0.1 |it is in `/src`|\n"
        "y 2 |it is in `/other`|\n");
  CHECK(found.search_path == std::vector<std::string>{packages, "/src", "/other"});
}

TEST_CASE("upper layers remove distributions, and hard links resolve to their targets") {
  const auto lower = in_site({{"x-1.dist-info/METADATA", metadata("x", "1")},
                              {"x-1.dist-info/RECORD", "x.py,,\n"},
                              {"y-1.dist-info/METADATA", metadata("y", "1")}});
  CHECK(told(found_in({lower, in_site({{".wh.x-1.dist-info", ""}})})) ==
        "y 1 |it has no RECORD of its files|\n");
  CHECK(told(found_in({lower, in_site({{"y-1.dist-info/.wh.METADATA", ""},
                                       {"x-1.dist-info/.wh..wh..opq", ""},
                                       {"x-1.dist-info/METADATA", metadata("x", "2")}})})) ==
        "x 2 |it has no RECORD of its files|\n");
}

TEST_CASE("an engine's copy is read as the layers are, nothing twice and several files at once") {
  class Files final : public engine::ImageFiles {
  public:
    ImageContent content{};
    std::vector<std::string> asked{};

    std::map<std::string, std::optional<std::string>> probe(
        const std::vector<std::string>& paths) override {
      std::map<std::string, std::optional<std::string>> found;
      for (const auto& path : paths) {
        note(path);
        const auto file = content.find(path.substr(1));
        const auto below = content.lower_bound(path.substr(1) + "/");
        if (file != content.end()) {
          found[path] = file->second.starts_with("-> ") ? std::optional{file->second.substr(3)}
                                                        : std::nullopt;
        } else if (below != content.end() && below->first.starts_with(path.substr(1) + "/")) {
          found[path] = std::nullopt;
        }
      }
      return found;
    }

    image::Reader archive(const std::string& path) override {
      note("all of " + path);
      wait_for_two();
      ImageContent part;
      for (const auto& [name, text] : content) {
        if (name == path.substr(1) || name.starts_with(path.substr(1) + "/")) {
          part[name.substr(path.rfind('/'))] = text;
        }
      }
      return reader_of(tar_of(part));
    }

    bool two_came{false};

  private:
    void note(const std::string& question) {
      const std::scoped_lock lock{mutex_};
      asked.push_back(question);
    }

    /// Waits until another one is read at the same time.
    void wait_for_two() {
      std::unique_lock lock{mutex_};
      two_came = two_came || ++reading_ == 2;
      changed_.notify_all();
      changed_.wait_for(lock, std::chrono::seconds{20}, [&] { return two_came; });
    }

    std::mutex mutex_{};
    std::condition_variable changed_{};
    int reading_{0};
  } files;

  files.content = in_site({{"x-1.dist-info/METADATA", metadata("x", "1")},
                           {"x-1.dist-info/RECORD", "x.py,,\n"},
                           {"x.py", ""}});
  files.content.insert(
      {{"opt/bin/python3", "-> /opt/bin/python3.11"},
       {"opt/bin/python3.11", program_of("/lib64/ld-linux-x86-64.so.2", std::string{"\0"
                                                                                    "3.11.9",
                                                                                    7})},
       {"opt/lib/python3.11/os.py", ""},
       {"lib64/libc.so.6", program_of("", "GNU C Library (x) release version 2.31.")}});
  const image::BaseFacts base{.platform = "linux/amd64", .environment = {"PATH=/opt/bin"}};
  const auto in_engine = survey_python(*view_of(files), base, 1);
  image::LayerTree tree{excerpt_for_python};
  tree.add(reader_of(tar_of(files.content)), "a layer");
  const auto in_layers = survey_python(*view_of(tree), base, 1);
  CHECK_FALSE(in_engine.facts.obstacle);
  CHECK(to_json_line(in_engine.facts) == to_json_line(in_layers.facts));
  CHECK(in_engine.files == in_layers.files);
  REQUIRE(in_engine.files.size() == 1);
  CHECK(in_engine.files.front() == std::vector<std::string>{packages + "/x.py"});
  const std::set<std::string> once{files.asked.begin(), files.asked.end()};
  CHECK(once.size() == files.asked.size());
  CHECK(once.contains("all of " + packages));
  CHECK(files.two_came);
}

TEST_CASE("the base's distributions decide how a required one is installed") {
  PythonFacts facts{
      .interpreter = python::Interpreter{.scheme = scheme},
      .search_path = {"/before", packages, "/after"},
      .installed = {{.name = "early", .version = "1", .directory = "/before"},
                    {.name = "same", .version = "1.0", .directory = packages},
                    {.name = "torch", .version = "2.1.0+cu118", .directory = packages},
                    {.name = "old", .version = "1", .directory = packages},
                    {.name = "stuck",
                     .version = "1",
                     .directory = packages,
                     .kept_by = "it was installed by distutils"},
                    {.name = "late", .version = "1", .directory = "/after", .kept_by = "x"},
                    {.name = "old", .version = "3", .directory = "/after", .kept_by = "x"},
                    {.name = "odd", .version = "?", .directory = packages}}};

  struct Row {
    const char* name;
    const char* version;
    BaseDecision::Action action;
    std::vector<std::size_t> installed;
    const char* reason{""};
    GpuLibraries libraries{GpuLibraries::kept};
    const char* cuda{"11.8"};
  };

  using Action = BaseDecision::Action;
  const std::vector<Row> rows{
      {"new", "1", Action::install, {}},
      {"same", "1", Action::keep, {1}},
      {"old", "2", Action::replace, {3}},
      {"odd", "1", Action::replace, {7}},
      {"late", "1", Action::keep, {5}},
      {"late", "2", Action::install, {5}, "the image's `late 1` stays in `/after`, and is ignored"},
      {"early",
       "2",
       Action::refuse,
       {0},
       "the image's `early 1` in `/before` would be imported instead"},
      {"stuck",
       "2",
       Action::refuse,
       {4},
       "the image's `stuck 1` cannot be replaced: it was installed by distutils"},
      {"torch", "2.1", Action::keep, {2}},
      {"torch", "2.1.0+cu118", Action::keep, {2}},
      {"torch",
       "2.2",
       Action::keep_for_gpu,
       {2},
       "the image's `torch 2.1.0+cu118` belongs to its CUDA 11.8"},
      {"torch",
       "2.1.0+cu121",
       Action::keep_for_gpu,
       {2},
       "the image's `torch 2.1.0+cu118` belongs to its CUDA 11.8"},
      {"torch", "2.2", Action::replace, {2}, "", GpuLibraries::replaced},
      {"torch", "2.2", Action::replace, {2}, "", GpuLibraries::kept, ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CAPTURE(row.version);
    const auto decisions = decide_on_base(
        {.cuda_version = non_empty(row.cuda)}, facts,
        {{.name = row.name, .version = *python::Version::parse(row.version)}}, row.libraries);
    REQUIRE(decisions.size() == 1);
    CHECK(decisions.front().action == row.action);
    CHECK(decisions.front().installed == row.installed);
    CHECK(decisions.front().reason.value_or("") == row.reason);
  }
  CHECK(belongs_to_gpu("nvidia-cudnn-cu12"));
  CHECK_FALSE(belongs_to_gpu("torchmetrics"));
}

TEST_CASE("findings are cached, and damaged ones are looked up again") {
  const TemporaryDirectory directory;
  const PythonCache cache{directory.path()};
  const image::BaseFacts base{.digest = sha256("x"), .platform = "linux/amd64"};
  const PythonSurvey survey{
      .facts = {.interpreter = python::Interpreter{.version = *python::Version::parse("3.11.2")},
                .installed = {{.name = "x", .version = "1"}},
                .pip_files = {{.path = "/etc/pip.conf", .text = Secret{"[global]"}}},
                .layers = 3},
      .files = {{"/a", "/b"}},
      .requirements = {{"y>=1"}}};
  CHECK_FALSE(cache.load(base));
  cache.store(base, survey);
  const auto back = cache.load(base);
  REQUIRE(back);
  CHECK(to_json_line(back->facts) == to_json_line(survey.facts));
  CHECK(back->facts.pip_files == survey.facts.pip_files);
  CHECK(back->files == survey.files);
  CHECK(cache.load_requirements(base) == survey.requirements);
  CHECK(to_json_line(survey.facts).find("[global]") == std::string::npos);
  CHECK_FALSE(cache.load({.digest = sha256("x"), .platform = "linux/arm64"}));
  CHECK_FALSE(cache.load({.platform = "linux/amd64"}));
  cache.store({.platform = "linux/amd64"}, survey);
  for (const auto& file : std::filesystem::directory_iterator{directory.path()}) {
    const std::string whole = read_file(file.path());
    CHECK((file.status().permissions() & std::filesystem::perms::others_read) ==
          std::filesystem::perms::none);
    for (const auto& damaged : {std::string{}, whole.substr(0, whole.size() / 2), "[]" + whole}) {
      write_file(file.path(), damaged);
      const bool has_requirements = file.path().extension() == ".requirements";
      CHECK_FALSE((has_requirements ? cache.load_requirements(base).has_value()
                                    : cache.load(base).has_value()));
    }
    write_file(file.path(), whole);
    CHECK(cache.load(base));
  }
}

TEST_CASE("a cached record is found under every name of its digest") {
  const TemporaryDirectory directory;
  const RecordCache cache{directory.path()};
  const Record record{
      .facts = {.reference = "a:1", .digest = sha256("x"), .platform = "linux/amd64"},
      .python = {.facts = {.obstacle = "no interpreter", .layers = 2}}};
  cache.store(record);
  CHECK(cache.find(image::Reference::parse("a:1"), "linux/amd64") == record.facts);
  auto other = image::Reference::parse("b:1");
  CHECK_FALSE(cache.find(other, "linux/amd64"));
  other.digest = sha256("x");
  CHECK_FALSE(cache.find(other, "linux/arm64"));
  const auto found = cache.find(other, "linux/amd64");
  REQUIRE(found);
  CHECK(found->reference == "b:1");
  const auto python = cache.python.load_facts(*found);
  REQUIRE(python);
  CHECK(python->layers == 2);
}

TEST_CASE("data that an image inflates costs no more than the limit") {
  const image::Reader endless = [](char* buffer, std::size_t size) {
    std::fill_n(buffer, size, 'x');
    return size;
  };
  for (const char* path : {"a.dist-info/METADATA", "a.dist-info/RECORD", "x/pyvenv.cfg", "a.pth",
                           "usr/lib/python3.11/sysconfig.py", "lib/libc.so.6"}) {
    CAPTURE(path);
    const auto excerpt =
        excerpt_for_python({.path = path, .size = std::uint64_t{1} << 60U}, endless);
    REQUIRE(excerpt);
    CHECK(excerpt->size() <= std::size_t{33} << 20U);
  }
  image::LayerTree tree{[&](const image::ArchiveEntry&, const image::Reader&) {
    return std::optional{std::string(std::size_t{33} << 20U, 'x')};
  }};
  CHECK_THROWS_AS(tree.add(reader_of(tar_of({{"a", ""}, {"b", ""}})), "a layer"), Error);
}

}  // namespace autopack::executor_distributions_test
