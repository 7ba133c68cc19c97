#include "project/program/program_names.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/findings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
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

}  // namespace autopack::project
