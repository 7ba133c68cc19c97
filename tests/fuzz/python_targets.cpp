#include "executor/program_text.hpp"
#include "executor/python_excerpts.hpp"
#include "executor/python_survey.hpp"
#include "executor/remembered/remembered_texts.hpp"
#include "executor/remembered/repository_facts.hpp"
#include "executor/remembered_facts.hpp"
#include "image/layer_tree.hpp"
#include "image/manifest.hpp"
#include "scratch.hpp"
#include "support/image_files.hpp"
#include "target.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>

/// The Python of images that came from elsewhere.
namespace autopack::fuzz {

namespace {

/// Files of one image, in the order of the parts of an input; behind them parts are links' targets.
constexpr std::array files{
    "opt/bin/python3.11",
    "opt/pyvenv.cfg",
    "opt/lib/python3.11/_sysconfigdata__linux_x86_64-linux-gnu.py",
    "opt/lib/python3.11/site-packages/a-1.dist-info/METADATA",
    "opt/lib/python3.11/site-packages/a-1.dist-info/RECORD",
    "opt/lib/python3.11/site-packages/b.egg-info",
    "opt/lib/python3.11/site-packages/c.egg-info/PKG-INFO",
    "opt/lib/python3.11/site-packages/c.egg-info/installed-files.txt",
    "opt/lib/python3.11/site-packages/d.egg-link",
    "opt/lib/python3.11/site-packages/e.pth",
    "lib64/libc.so.6",
    "etc/os-release",
};
constexpr std::array links{"opt/bin/python3", "opt/lib64",
                           "opt/lib/python3.11/site-packages/linked"};

void program_text(std::string_view bytes) {
  const auto program = executor::read_program(testing::reader_of(std::string{bytes}));
  if (program && executor::program_from_text(executor::to_text(*program)) != program) {
    fail("what a program tells does not come back");
  }
}

void image_python(std::string_view bytes) {
  testing::ImageContent content{
      {"opt/bin/python3", "-> python3.11"},
      {"opt/bin/python3.11",
       testing::program_of("/lib64/ld-linux-x86-64.so.2", std::string{"\0"
                                                                      "3.11.9",
                                                                      7})},
      {"opt/lib/python3.11/os.py", ""},
      {"opt/lib/python3.11/site-packages/a.py", ""},
      {"opt/lib/python3.11/site-packages/__pycache__/a.cpython-311.pyc", ""},
      {"lib64/libc.so.6", testing::program_of("", "GNU C Library (x) release version 2.31.")}};
  for (const char* file : files) {
    if (const auto part = next_part(bytes); !part.empty()) {
      content[file] = part;
    }
  }
  for (const char* link : links) {
    const auto part = next_part(bytes);
    if (!part.empty() && part.size() < 4000) {
      content[link] = "-> " + std::string{part};
    }
  }
  image::LayerTree tree{executor::excerpt_for_python};
  tree.add(testing::reader_of(testing::tar_of(content)), "a layer");
  const image::BaseFacts base{.platform = "linux/amd64", .environment = {"PATH=/opt/bin"}};
  const auto survey = executor::survey_python(*executor::view_of(tree), base, 1);
  for (const auto& paths : survey.files) {
    for (const auto& path : paths) {
      if (!path.starts_with('/') || path.find("/../") != std::string::npos ||
          path.ends_with("/..") || !survey.facts.interpreter) {
        fail("a distribution's file is nowhere it was installed to: " + path);
      }
    }
  }
}

void python_facts(std::string_view bytes) {
  if (const auto facts = executor::python_facts_from_json(bytes)) {
    const std::string line = executor::to_json_line(*facts);
    const auto again = executor::python_facts_from_json(line);
    if (!again || executor::to_json_line(*again) != line) {
      fail("facts do not come back: " + line);
    }
  }
}

std::multiset<std::string> keys_and_blobs(const RememberedFacts& facts) {
  std::multiset<std::string> found;
  for (const auto& [key, blob] : facts.texts) {
    found.insert(key + " " + blob.media_type + " " + blob.digest.str());
  }
  return found;
}

/// RememberedFacts of a repository: what stands before the first line feed is of their manifest.
void facts(std::string_view bytes) {
  const auto executor = sha256("executor");
  const auto line = std::min(bytes.find('\n'), bytes.size());
  const auto manifest = line > 0 ? image::parse_manifest(bytes.substr(0, line), "it")
                                 : image::Manifest{.config = {.digest = executor}};
  const auto read =
      read_facts(manifest, bytes.substr(std::min(line + 1, bytes.size())), executor, "linux/amd64");
  if (!read) {
    return;
  }
  executor::remembered_facts_from_json(read->about.value_or(""));
  const auto text = facts_json(*read, executor, "linux/amd64");
  const auto again = read_facts(manifest, text, executor, "linux/amd64");
  if (!again || facts_json(*again, executor, "linux/amd64") != text) {
    fail("notes do not come back: " + text);
  }
  image::Manifest written{.config = manifest.config, .layers = text_blobs(read->texts)};
  const auto blobs = read_facts(written, text, executor, "linux/amd64");
  if (!blobs || keys_and_blobs(*blobs) != keys_and_blobs(*read)) {
    fail("the texts of notes do not come back: " + text);
  }
}

}  // namespace

std::vector<Target> python_targets() {
  return {{"program_text", program_text},
          {"image_python", image_python},
          {"python_facts", python_facts},
          {"notes", facts}};
}

}  // namespace autopack::fuzz
