#include "project/program/program_candidates.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/code/python_file.hpp"
#include "project/findings.hpp"
#include "project/package/console_scripts.hpp"
#include "project/package/package.hpp"
#include "project/program/modules.hpp"
#include "project/program/remembered_python.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace autopack::project {

namespace {

using NameWords = std::vector<std::string>;

template <typename Known>
bool is_known_name(const Known& known, std::string_view word) {
  return contains(known, word);
}

bool is_training_word(std::string_view word) {
  static constexpr auto words = std::to_array<std::string_view>(
      {"train", "training", "fit", "finetune", "finetuning", "pretrain", "retrain", "pretraining",
       "trainval", "sft", "dpo"});
  return is_known_name(words, word);
}

bool is_other_word(std::string_view word) {
  static constexpr auto words = std::to_array<std::string_view>(
      {"analyse",   "analysis",    "analyze",       "annotate",   "api",           "app",
       "average",   "bench",       "benchmark",     "benchmarks", "build",         "clean",
       "cleanup",   "cluster",     "collect",       "compile",    "conversion",    "convert",
       "converter", "crawl",       "dashboard",     "debug",      "demo",          "demos",
       "deploy",    "deployment",  "download",      "downloader", "draw",          "dump",
       "enjoy",     "eval",        "evaluate",      "evaluation", "evaluator",     "export",
       "exporter",  "extract",     "featurization", "featurize",  "features",      "fetch",
       "figure",    "figures",     "generate",      "generation", "generator",     "gradio",
       "gui",       "infer",       "inference",     "inspect",    "install",       "interactive",
       "launch",    "launcher",    "merge",         "onnx",       "parse",         "play",
       "plot",      "plots",       "plotting",      "predict",    "prediction",    "predictor",
       "prep",      "preparation", "prepare",       "preprocess", "preprocessing", "process",
       "profile",   "profiler",    "profiling",     "publish",    "quantize",      "release",
       "render",    "sample",      "sampling",      "scrape",     "serve",         "server",
       "serving",   "show",        "slurm",         "split",      "stats",         "streamlit",
       "submit",    "submitit",    "test",          "tests",      "tokenize",      "translate",
       "upload",    "val",         "validate",      "validation", "view"});
  static constexpr auto more = std::to_array<std::string_view>(
      {"viewer", "vis", "visualisation", "visualise", "visualization", "visualize", "visualizer",
       "viz", "verify", "web", "webapp", "testing", "postprocess"});
  return is_known_name(words, word) || is_known_name(more, word);
}

/// Last words of names like `train_utils.py`.
bool is_helper_of_training(std::string_view word) {
  static constexpr auto words = std::to_array<std::string_view>(
      {"args",     "arguments", "base",    "callback",  "callbacks",  "common",
       "config",   "configs",   "cfg",     "data",      "dataloader", "dataset",
       "datasets", "helper",    "helpers", "hparams",   "loader",     "logger",
       "losses",   "metrics",   "options", "opts",      "parameters", "params",
       "settings", "split",     "types",   "constants", "util",       "utils"});
  return is_known_name(words, word);
}

/// Last words of names of imported modules.
bool is_helper_word(std::string_view word) {
  static constexpr auto words = std::to_array<std::string_view>(
      {"about",   "augment",    "augmentation", "configuration", "const",    "core",      "engine",
       "errors",  "exceptions", "io",           "layer",         "layers",   "lib",       "logging",
       "loss",    "metric",     "misc",         "model",         "models",   "module",    "modules",
       "net",     "network",    "networks",     "optimizer",     "registry", "scheduler", "tools",
       "trainer", "transform",  "transforms",   "version"});
  return is_known_name(words, word) || is_helper_of_training(word);
}

bool is_of_tool(std::string_view stem) {
  static constexpr auto names = std::to_array<std::string_view>(
      {"asgi",    "bootstrap", "conf",       "conftest",      "dodo",    "ez_setup",  "fabfile",
       "get_pip", "hubconf",   "locustfile", "manage",        "noxfile", "pavement",  "setup",
       "tasks",   "toxfile",   "versioneer", "sitecustomize", "wsgi",    "SConstruct"});
  return is_known_name(names, stem) || stem.starts_with('.') ||
         (stem.starts_with('_') && stem != "__main__");
}

/// Returns `train`, `vae` for `TrainVAE2`; numbers alone are not words.
NameWords words_of_name(std::string_view stem) {
  NameWords words(1);
  char last = '_';
  for (const char letter : stem) {
    const auto code = static_cast<unsigned char>(letter);
    const bool begins =
        std::isupper(code) != 0 && std::islower(static_cast<unsigned char>(last)) != 0;
    if (std::isalpha(code) == 0 || begins) {
      words.emplace_back();
    }
    if (std::isalpha(code) != 0) {
      words.back() += static_cast<char>(std::tolower(code));
    }
    last = letter;
  }
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  return words;
}

bool is_entry_word(std::string_view word) {
  return word == "main" || word == "run" || word == "task" || word == "experiment" ||
         word == "experiments";
}

/// Returns the position of a training word: `fine_tune` counts as one.
NameWords::const_iterator find_training(const NameWords& words) {
  for (auto at = words.begin(); at != words.end(); ++at) {
    const bool is_pair = at + 1 != words.end() && (*at == "fine" || *at == "pre") &&
                         (at[1].starts_with("tun") || at[1].starts_with("train"));
    if (is_pair || is_training_word(*at)) {
      return at;
    }
  }
  return words.end();
}

Purpose purpose_of_words(const NameWords& words) {
  if (words.empty()) {
    return Purpose::unknown;
  }
  const auto training = find_training(words);
  const auto other = std::ranges::find_if(words, is_other_word);
  if (training != words.end() && training < other) {
    return is_helper_of_training(words.back()) ? Purpose::helper : Purpose::training;
  }
  if (other != words.end()) {
    return Purpose::other;
  }
  if (is_helper_word(words.back())) {
    return Purpose::helper;
  }
  return is_entry_word(words.front()) ? Purpose::entry : Purpose::unknown;
}

}  // namespace

Purpose purpose_of_program(std::string_view path) {
  std::string stem = base_name(path);
  stem.resize(std::min(stem.rfind('.'), stem.size()));
  if (is_of_tool(stem)) {
    return Purpose::tool;
  }
  const auto purpose = stem == "__main__" ? Purpose::entry : purpose_of_words(words_of_name(stem));
  const auto directory = words_of_name(base_name(parent_path(path)));
  const bool is_of_training =
      !directory.empty() && (directory.back() == "trainer" || is_training_word(directory.back()));
  const bool is_open = purpose == Purpose::unknown || purpose == Purpose::entry;
  return is_open && is_of_training ? Purpose::training : purpose;
}

Purpose purpose_of_console_script(std::string_view name) {
  const auto purpose = purpose_of_words(words_of_name(name));
  return purpose == Purpose::helper ? Purpose::unknown : purpose;
}

bool is_aside(std::string_view directory_name) {
  static constexpr auto names = std::to_array<std::string_view>({"3rdparty",
                                                                 "__pycache__",
                                                                 "api",
                                                                 "assets",
                                                                 "bench",
                                                                 "benchmark",
                                                                 "benchmarks",
                                                                 "build",
                                                                 "ci",
                                                                 "data",
                                                                 "dataset",
                                                                 "datasets",
                                                                 "demo",
                                                                 "demos",
                                                                 "deploy",
                                                                 "deployment",
                                                                 "dist",
                                                                 "doc",
                                                                 "docker",
                                                                 "docs",
                                                                 "documentation",
                                                                 "eval",
                                                                 "evaluation",
                                                                 "extern",
                                                                 "external",
                                                                 "figures",
                                                                 "frontend",
                                                                 "images",
                                                                 "infer",
                                                                 "inference",
                                                                 "migrations",
                                                                 "mlruns",
                                                                 "node_modules",
                                                                 "notebook",
                                                                 "notebooks",
                                                                 "outputs",
                                                                 "plots",
                                                                 "plotting",
                                                                 "preparation",
                                                                 "preprocess",
                                                                 "preprocessing",
                                                                 "serve",
                                                                 "server",
                                                                 "serving",
                                                                 "site-packages",
                                                                 "submodules",
                                                                 "test",
                                                                 "testdata",
                                                                 "testing",
                                                                 "tests",
                                                                 "third_party",
                                                                 "third-party",
                                                                 "thirdparty",
                                                                 "ui",
                                                                 "utils",
                                                                 "util",
                                                                 "vendor",
                                                                 "vendored",
                                                                 "venv",
                                                                 "visualization",
                                                                 "web",
                                                                 "webapp",
                                                                 "wandb",
                                                                 "lightning_logs",
                                                                 "runs",
                                                                 "logs",
                                                                 "checkpoints",
                                                                 "unit_tests",
                                                                 "integration_tests",
                                                                 "templates",
                                                                 "sphinx",
                                                                 "conda",
                                                                 "cfg",
                                                                 "cfgs",
                                                                 "conf",
                                                                 "config",
                                                                 "configs"});
  const std::string name = to_lower(std::string{directory_name});
  return name.empty() || name.starts_with('.') || is_known_name(names, name);
}

bool holds_examples(std::string_view directory_name) {
  static constexpr auto names = std::to_array<std::string_view>(
      {"cookbook", "example", "examples", "legacy", "samples", "tutorial", "tutorials", "archive"});
  return is_known_name(names, to_lower(std::string{directory_name}));
}

namespace {

constexpr std::size_t most_candidates_read{400};
constexpr std::size_t most_directories_read{2000};
constexpr std::size_t deepest{6};
constexpr std::size_t most_notebooks{20};

std::size_t depth_of(std::string_view path) {
  return static_cast<std::size_t>(std::ranges::count(path, '/'));
}

bool is_among_examples(std::string_view path) {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    if (holds_examples(path.substr(0, slash))) {
      return true;
    }
    path.remove_prefix(slash + 1);
  }
  return false;
}

source::Selection selection_of(const source::Tree& tree, const Request& request) {
  return {tree, {.include = request.include, .exclude = request.exclude}, request.git};
}

void sort_candidates(std::vector<Candidate>& programs) {
  const auto key = [](const Candidate& one) {
    const bool is_reported = one.purpose == Purpose::training || one.purpose == Purpose::entry;
    return std::tuple{-static_cast<int>(one.rank), is_reported ? 0 : 1, one.depth(), one.file,
                      one.command};
  };
  std::ranges::sort(programs,
                    [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
}

bool has_usual_name(const std::string& file) {
  const auto name = base_name(file);
  return name == "train.py" || name == "main.py" || name == "task.py" || name == "run.py";
}

/// A console script replaces the file that it runs.
void drop_files_of_scripts(std::vector<Candidate>& programs) {
  std::erase_if(programs, [&](const Candidate& one) {
    return one.command.empty() && std::ranges::any_of(programs, [&](const Candidate& other) {
             return !other.command.empty() && other.file == one.file;
           });
  });
}

}  // namespace

std::size_t Candidate::depth() const {
  return command.empty() ? depth_of(file) : 0;
}

CandidateSearch::CandidateSearch(const source::Tree& tree, const Request& request)
    : findings_{tree, selection_of(tree, request)}, remembered_{request.python.get()} {
  Findings of_package{tree, findings_.ignore()};
  if (const auto package = read_package(of_package, {})) {
    installs_ = package->installs;
    if (!package->import_root.empty()) {
      roots_.push_back(package->import_root);
    }
  }
}

Candidates CandidateSearch::at_root() {
  if (!std::exchange(root_is_read_, true)) {
    add_directory("", below_root_);
    add_console_scripts();
  }
  Candidates result = found_;
  sort_candidates(result.programs);
  return result;
}

Candidates CandidateSearch::everywhere() {
  at_root();
  std::vector<std::string> level = std::exchange(below_root_, {});
  std::size_t directories = 0;
  for (std::size_t depth = 1; depth <= deepest && !level.empty(); ++depth) {
    std::vector<std::string> next;
    for (const auto& directory : level) {
      if (++directories <= most_directories_read) {
        add_directory(directory, next);
      }
    }
    level = std::move(next);
  }
  drop_files_of_scripts(found_.programs);
  sort_candidates(found_.programs);
  return found_;
}

ProgramReach CandidateSearch::reach(const std::string& file) const {
  return reach_of(findings_, file, roots_, *this);
}

bool CandidateSearch::is_installed(const std::string& root) const {
  return installs_ && root == roots_.back();
}

bool CandidateSearch::is_environment(const std::vector<source::Entry>& entries) {
  return std::ranges::any_of(entries, [](const source::Entry& entry) {
    const auto name = base_name(entry.path);
    return name == "pyvenv.cfg" || name == "conda-meta";
  });
}

void CandidateSearch::add_directory(const std::string& directory, std::vector<std::string>& below) {
  const auto entries = findings_.tree().list(directory);
  if (!directory.empty() && is_environment(entries)) {
    return;
  }
  for (const auto& entry : entries) {
    if (entry.type == source::EntryType::directory) {
      if (!is_aside(base_name(entry.path)) && !findings_.is_ignored(entry.path)) {
        below.push_back(entry.path);
      }
    } else if (entry.type == source::EntryType::file) {
      add_file(entry);
    }
  }
}

void CandidateSearch::add_file(const source::Entry& entry) {
  const bool is_notebook = entry.path.ends_with(".ipynb");
  const bool is_shell = entry.path.ends_with(".sh") && depth_of(entry.path) == 0;
  if (!is_notebook && !is_shell && !entry.path.ends_with(".py")) {
    return;
  }
  const auto purpose = purpose_of_program(entry.path);
  if (is_notebook && found_.notebooks.size() < most_notebooks) {
    found_.notebooks.push_back(entry.path);
  } else if (is_shell && (purpose == Purpose::training || purpose == Purpose::entry)) {
    found_.shells.push_back(entry.path);
  }
  if (is_notebook || is_shell || purpose == Purpose::tool || entry.size > largest_program ||
      findings_.is_ignored(entry.path) || ++files_read_ > most_candidates_read) {
    return;
  }
  Candidate candidate{.file = entry.path, .purpose = purpose, .signs = signs(entry)};
  const auto& read = candidate.signs;
  if (!read.does_something() || (read.tests && !read.trains)) {
    found_.has_definitions = true;
  } else if (purpose == Purpose::other || (read.serves && !read.trains)) {
    found_.aside.push_back(entry.path);
  } else {
    rank(candidate);
    if (candidate.rank != Rank::none) {
      found_.programs.push_back(std::move(candidate));
    } else if (read.is_program()) {
      found_.has_modules = true;
    }
  }
}

void CandidateSearch::add_console_scripts() {
  if (!installs_) {
    return;
  }
  for (const auto& [name, module] : console_scripts(findings_)) {
    Candidate candidate{.command = name, .purpose = purpose_of_console_script(name)};
    for (const auto& root : roots_) {
      const std::string path = join_path(root, replace_all(module, ".", "/"));
      for (const auto& file : {path + "/__init__.py", path + ".py"}) {
        if (candidate.file.empty() && findings_.is_file(file)) {
          candidate.file = file;
        }
      }
    }
    if (candidate.purpose != Purpose::training && candidate.purpose != Purpose::other &&
        !candidate.file.empty() && purpose_of_program(candidate.file) == Purpose::training) {
      candidate.purpose = Purpose::training;
    }
    if (candidate.purpose == Purpose::other) {
      continue;
    }
    const bool trains = candidate.purpose == Purpose::training ||
                        (!candidate.file.empty() && reach(candidate.file).trains);
    candidate.rank = trains ? Rank::training : Rank::root_entry;
    found_.programs.push_back(std::move(candidate));
  }
}

void CandidateSearch::rank(Candidate& candidate) {
  const auto& signs = candidate.signs;
  const bool is_example = is_among_examples(candidate.file);
  switch (candidate.purpose) {
    case Purpose::training: candidate.rank = Rank::training; break;
    case Purpose::entry:
      candidate.rank = signs.trains || reach(candidate.file).trains ? Rank::training
                       : candidate.depth() == 0                     ? Rank::root_entry
                                                                    : Rank::entry;
      break;
    case Purpose::unknown:
      candidate.rank = signs.trains && (signs.is_program() || signs.calls) ? Rank::training
                       : signs.is_program()                                ? Rank::program
                       : signs.calls                                       ? Rank::calls
                                                                           : Rank::plain;
      break;
    case Purpose::helper: candidate.rank = signs.guarded ? Rank::calls : Rank::none; break;
    case Purpose::other:
    case Purpose::tool: break;
  }
  if (is_example && candidate.rank > Rank::example) {
    candidate.rank = Rank::example;
  } else if (candidate.depth() > 0 && is_module(candidate)) {
    candidate.rank = Rank::none;
  }
}

/// Returns true for a file in a directory of imported modules or of settings. A library's module
/// may test itself when it is run.
bool CandidateSearch::is_module(const Candidate& candidate) const {
  const auto& signs = candidate.signs;
  const bool is_settings = !signs.is_program() && !signs.calls;
  switch (candidate.purpose) {
    case Purpose::training: return is_settings && !has_usual_name(candidate.file);
    case Purpose::entry: return false;
    default: break;
  }
  if (candidate.rank < Rank::program && !signs.guarded) {
    return true;
  }
  const auto directory = parent_path(candidate.file);
  const auto package = findings_.follow(join_path(directory, "__init__.py"));
  if (!package.is_file() || package.entry.size > largest_program) {
    return false;
  }
  if (installs_) {
    return true;
  }
  const auto name = base_name(candidate.file).substr(0, base_name(candidate.file).size() - 3);
  const auto imports = file(package.entry).imports;
  return std::ranges::any_of(imports, [&](const Import& import) {
    const auto last = import.module.substr(import.module.rfind('.') + 1);
    return last == name || contains(import.names, name);
  });
}

PythonFile CandidateSearch::file(const source::Entry& entry) const {
  return remembered_ != nullptr ? remembered_->of(findings_.tree(), entry)
                                : read_python_file(findings_.tree().read(entry.path));
}

ProgramSigns CandidateSearch::signs(const source::Entry& entry) const {
  return remembered_ != nullptr ? remembered_->signs_of(findings_.tree(), entry)
                                : read_program_signs(findings_.tree().read(entry.path));
}

}  // namespace autopack::project
