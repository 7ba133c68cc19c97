#include "base/error.hpp"
#include "project/findings.hpp"
#include "project/program/inference.hpp"
#include "project/requirements/named_pythons.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

namespace autopack::project_inference_test {

using namespace autopack::project;

namespace {

const std::string guarded = "import sys\n\nif __name__ == '__main__':\n    print(1)\n";
const std::string plain = "def f():\n    if __name__ == 'x':\n        pass\n";
const std::string script = "print('a script')\n";
const std::string training =
    "import torch\n\nmodel = torch.nn.Linear(1, 1)\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "for epoch in range(3):\n    model(torch.ones(1)).backward()\n    optimizer.step()\n";

struct Chosen {
  Inferred inferred{};
  Request request{};
};

Chosen entry_of(const source::MemoryTree& tree) {
  Chosen chosen;
  chosen.inferred = infer_entry(tree, chosen.request, "~/x");
  return chosen;
}

std::vector<std::string> choices(const source::MemoryTree& tree) {
  try {
    entry_of(tree);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.hints();
  }
  return {};
}

/// Returns why there is no entry; empty if there is one.
std::string refusal(const source::MemoryTree& tree) {
  try {
    entry_of(tree);
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

std::string image_of(const source::MemoryTree& tree, const std::string& requires_python) {
  Project project;
  if (!requires_python.empty()) {
    project.requires_python =
        RequiresPython{.text = requires_python,
                       .origin = "pyproject.toml: [project] requires-python",
                       .alternatives = {python::SpecifierSet::parse(requires_python).value()}};
  }
  return infer_executor_image(tree, project).value;
}

}  // namespace

TEST_CASE("the only file with a main guard is the entry") {
  const auto chosen = entry_of({{"fit.py", guarded}, {"net.py", plain}, {"setup.py", guarded}});
  CHECK(chosen.request.script == "fit.py");
  CHECK(chosen.inferred.value == "fit.py");
  CHECK(chosen.inferred.flag == "--script");
}

TEST_CASE("a usual name is the entry if guards do not decide") {
  CHECK(entry_of({{"train.py", guarded}, {"eval.py", guarded}}).request.script == "train.py");
  CHECK(entry_of({{"main.py", script}, {"net.py", plain}}).request.script == "main.py");
  CHECK(entry_of({{"trainer/task.py", script}, {"setup.py", plain}}).request.script ==
        "trainer/task.py");
  CHECK(entry_of({{"train.py", script}, {"log.py", guarded}}).request.script == "train.py");
}

TEST_CASE("a file that only defines something is not the entry, whatever its name") {
  CHECK(entry_of({{"train.py", plain}, {"main.py", "from train import f\nf()\n"}}).request.script ==
        "main.py");
  CHECK(refusal({{"train.py", plain}}).find("only define functions and classes") !=
        std::string::npos);
  CHECK(refusal({{"go.py", plain}}).find("only define") != std::string::npos);
}

TEST_CASE("a file in a package is a module where its imports need it") {
  const source::MemoryTree package{{"trainer/__init__.py", ""},
                                   {"trainer/model.py", "M = 1\n"},
                                   {"trainer/task.py", "from trainer.model import M\nprint(M)\n"}};
  const auto chosen = entry_of(package);
  CHECK(chosen.request.module == "trainer.task");
  CHECK_FALSE(chosen.request.script);
  CHECK(chosen.inferred.what == "module");
  CHECK(chosen.inferred.flag == "--python-module");
  CHECK(chosen.inferred.reason == "by its name; it imports its own package");
  CHECK(entry_of({{"trainer/__init__.py", ""},
                  {"trainer/model.py", "M = 1\n"},
                  {"trainer/task.py", "from .model import M\nprint(M)\n"}})
            .request.module == "trainer.task");
  // The script finds it beside the file.
  CHECK(entry_of({{"trainer/__init__.py", ""},
                  {"trainer/model.py", "M = 1\n"},
                  {"trainer/task.py", "from model import M\nprint(M)\n"}})
            .request.script == "trainer/task.py");
  CHECK(entry_of({{"lib/net.py", plain}, {"scripts/train.py", "import lib.net\nprint(1)\n"}})
            .request.module == "scripts.train");
  CHECK(entry_of({{"lib/net.py", plain},
                  {"tools/train.py", "import sys\nsys.path.append('.')\nimport lib.net\n"}})
            .request.script == "tools/train.py");
}

TEST_CASE("a package that can be run is a module") {
  CHECK(entry_of({{"fit_x/__init__.py", ""}, {"fit_x/__main__.py", script}}).request.module ==
        "fit_x");
  const std::string project =
      "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n"
      "[project]\nname = 'x'\nversion = '1'\n";
  CHECK(entry_of({{"pyproject.toml", project},
                  {"src/x/__init__.py", ""},
                  {"src/x/__main__.py", "from x import y\nprint(y)\n"},
                  {"src/x/y.py", ""}})
            .request.module == "x");
}

TEST_CASE("a program below the root is found") {
  CHECK(entry_of({{"src/train.py", script}}).request.script == "src/train.py");
  CHECK(entry_of({{"scripts/train.py", guarded}, {"README.md", ""}}).request.script ==
        "scripts/train.py");
  CHECK(entry_of({{"src/a/b/fit.py", training}, {"src/a/b/net.py", plain}}).request.script ==
        "src/a/b/fit.py");
  CHECK(choices({{"apps/a/train.py", script}, {"apps/b/train.py", script}}) ==
        std::vector<std::string>{"--script apps/a/train.py", "--script apps/b/train.py"});
}

TEST_CASE("a script for another purpose is never the entry") {
  CHECK(entry_of({{"test_model.py", guarded}, {"training/fit.py", guarded}}).request.script ==
        "training/fit.py");
  for (const auto* file : {"noxfile.py", "conftest.py", "setup.py", "fabfile.py", "dodo.py",
                           "manage.py", "test_model.py", "evaluate.py", "predict.py", "demo.py",
                           "convert_weights.py", "download_data.py", "plot_loss.py", "serve.py"}) {
    CAPTURE(file);
    CHECK_FALSE(refusal({{file, guarded}}).empty());
    CHECK_FALSE(refusal({{file, script}}).empty());
  }
  CHECK(choices({{"evaluate.py", guarded}}) == std::vector<std::string>{"--script evaluate.py"});
  CHECK(entry_of({{"checks.py", "import pytest\nprint(1)\n"}, {"go.py", script}}).request.script ==
        "go.py");
}

TEST_CASE("a training script is preferred to others") {
  const auto chosen = entry_of({{"rename.py", guarded}, {"qlora.py", training}});
  CHECK(chosen.request.script == "qlora.py");
  CHECK(chosen.inferred.reason == "the only program that trains");
  CHECK(entry_of({{"finetune.py", guarded}, {"merge_weights.py", guarded}, {"tool.py", guarded}})
            .request.script == "finetune.py");
  CHECK(choices({{"run_classifier.py", training}, {"run_pretraining.py", training}}).size() == 2);
  CHECK(choices({{"encoder_train.py", guarded}, {"vocoder_train.py", guarded}}).size() == 2);
}

TEST_CASE("a program at the root that does not train competes with one below that does") {
  CHECK(choices({{"main.py", guarded}, {"src/train.py", training}}).size() == 2);
  CHECK(entry_of({{"main.py", "from src.train import fit\nfit()\n"}, {"src/train.py", training}})
            .request.script == "main.py");
  CHECK(entry_of({{"main.py", training}, {"scripts/train_tokenizer.py", guarded}}).request.script ==
        "main.py");
}

TEST_CASE("examples are the entry only where nothing else is") {
  CHECK(entry_of({{"lib/net.py", plain}, {"examples/imagenet/main.py", training}}).request.script ==
        "examples/imagenet/main.py");
  CHECK(entry_of({{"tools/train.py", script}, {"examples/a.py", training}}).request.script ==
        "tools/train.py");
  CHECK(choices({{"examples/a.py", training}, {"examples/b.py", training}}).size() == 2);
}

TEST_CASE("a console script resolves to its module") {
  const std::string project =
      "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n"
      "[project]\nname = 'x'\nversion = '1'\n[project.scripts]\n"
      "x-eval = 'x.evaluate:main'\nx-train = 'x.train:main'\n";
  const auto chosen = entry_of({{"pyproject.toml", project},
                                {"x/__init__.py", ""},
                                {"x/train.py", guarded},
                                {"x/evaluate.py", guarded}});
  CHECK(chosen.request.command == std::vector<std::string>{"x-train"});
}

TEST_CASE("a project without a program says what it has instead") {
  CHECK(refusal({{"a.ipynb", "{}"}}).find("notebooks") != std::string::npos);
  CHECK(choices({{"a b.ipynb", "{}"}}) ==
        std::vector<std::string>{"`--script='a b.ipynb'` runs the cells of the notebook"});
  CHECK(choices({{"a.ipynb", "{}"}, {"util.py", "def f(): pass\n"}}).back().find("a.ipynb") !=
        std::string::npos);
  CHECK(refusal({{"README.md", ""}}).find("no Python program in `~/x`") != std::string::npos);
  CHECK(choices({{"train.sh", "python -m x\n"}}) == std::vector<std::string>{"--script train.sh"});
}

TEST_CASE("a module of the distributed package is not a program because it tries itself out") {
  const std::string project =
      "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n"
      "[project]\nname = 'x'\nversion = '1'\n";
  CHECK(refusal(
            {{"pyproject.toml", project}, {"x/__init__.py", ""}, {"x/unet.py", training + guarded}})
            .find("modules that others import") != std::string::npos);
  CHECK(refusal({{"x/__init__.py", "from x.unet import UNet\n"}, {"x/unet.py", training + guarded}})
            .find("modules that others import") != std::string::npos);
  // A neutral name, and another program whose name suggests another purpose: neither is chosen.
  CHECK(choices({{"interpolate.py", guarded}, {"test.py", guarded}}) ==
        std::vector<std::string>{"--script interpolate.py", "--script test.py"});
}

TEST_CASE("of many programs the first are named") {
  source::MemoryTree tree{};
  for (char letter = 'a'; letter < 'm'; ++letter) {
    tree.file(std::string{"models/"} + letter + ".py", training);
  }
  const auto named = choices(tree);
  CHECK(named.size() == 9);
  CHECK(named.back() == "or one of 4 more");
}

TEST_CASE("directories that rules leave out hold no program") {
  CHECK(refusal({{".venv/lib/train.py", script}, {"tests/train.py", script}}).find("no Python") !=
        std::string::npos);
  CHECK(entry_of({{".dockerignore", "old\n"}, {"old/train.py", script}, {"new/train.py", script}})
            .request.script == "new/train.py");
}

TEST_CASE("the only program of the project's package is the entry") {
  const auto chosen = entry_of({{"pyproject.toml",
                                 "[build-system]\nrequires = []\n[project]\nname = "
                                 "\"x\"\n[project.scripts]\nfit-x = \"x.cli:main\"\n"},
                                {"x/cli.py", plain}});
  CHECK(chosen.request.command == std::vector<std::string>{"fit-x"});
  CHECK(chosen.inferred.flag == "--command");
}

TEST_CASE("the only Python file is the entry") {
  CHECK(entry_of({{"go.py", script}, {"data.csv", ""}}).request.script == "go.py");
}

TEST_CASE("if no candidate is clear, the choices are reported") {
  CHECK(choices({{"a.py", guarded}, {"b.py", guarded}, {"c d.py", guarded}, {"e.py", plain}}) ==
        std::vector<std::string>{"--script a.py", "--script b.py", "--script 'c d.py'"});
  CHECK(choices({{"README.md", ""}}).size() == 1);
}

TEST_CASE("an enormous file is not looked at") {
  const std::string huge = guarded + std::string(2'000'000, '#');
  CHECK(choices({{"a.py", huge}}).size() == 1);
}

TEST_CASE("the executor image suits the project's Python") {
  CHECK(image_of({}, "") == "python:3.11");
  CHECK(image_of({}, ">=3.9") == "python:3.11");
  CHECK(image_of({}, ">=3.12") == "python:3.12");
  CHECK(image_of({}, ">=3.9,<3.11") == "python:3.10");
  CHECK(image_of({{".python-version", "3.13.1\n"}}, ">=3.9") == "python:3.13");
  CHECK(image_of({{".python-version", "pypy3.10-7.3\n"}}, ">=3.12") == "python:3.12");
  CHECK_THROWS_AS(image_of({}, "<3"), Error);
  CHECK(image_of({{"runtime.txt", "python-3.12.4\n"}}, "") == "python:3.12");
  CHECK(image_of({{"environment.yml", "dependencies:\n  - python=3.9\n"}}, "") == "python:3.9");
  CHECK(image_of({{"environment.yml", "dependencies:\n  - python=3.9\n"}}, ">=3.10") ==
        "python:3.11");
  CHECK(image_of({{"environment.yml", "dependencies:\n  - python=3.6\n"}}, "") == "python:3.11");
}

TEST_CASE("if no image has the Python that a project needs, the flag that names one is a hint") {
  try {
    image_of({}, ">=4");
    FAIL("an image was found");
  } catch (const Error& error) {
    CHECK(error.message() == "no executor image is known for Python `>=4`");
    REQUIRE(error.hints().size() == 1);
    CHECK(error.hints().front().find("--executor-image-uri") != std::string::npos);
  }
}

TEST_CASE("versions of Python that files for other tools name") {
  const auto named = [](const source::MemoryTree& tree) {
    std::string text;
    for (const auto& one : read_named_pythons({tree, source::Selection{}})) {
      text += one.origin + " " + one.text;
      for (const auto* version : {"3.8", "3.11", "3.12"}) {
        text +=
            one.allows(python::Version::parse(version).value()) ? std::string{" +"} + version : "";
      }
    }
    return text;
  };
  const auto conda = [&](const std::string& item) {
    return named({{"environment.yml", "dependencies:\n  - " + item + "\n  - numpy\n"}});
  };
  CHECK(named({{".python-version", "3.12.1\n"}}) == ".python-version 3.12 +3.12");
  CHECK(named({{".python-version", "3.12\n3.11\n"}}) == ".python-version 3.12 or 3.11 +3.11 +3.12");
  CHECK(named({{".python-version", "pypy3.10\n"}}).empty());
  CHECK(named({{"runtime.txt", "python-3.11.5"}}) == "runtime.txt 3.11 +3.11");
  CHECK(conda("python=3.8.5=hb7a2778_1") == "environment.yml =3.8.5=hb7a2778_1 +3.8");
  CHECK(conda("python>=3.9") == "environment.yml >=3.9 +3.11 +3.12");
  CHECK(conda("conda-forge::python==3.12.*") == "environment.yml ==3.12.* +3.12");
  CHECK(conda("python").empty());
  CHECK(conda("python-dateutil=2.8").empty());
}

}  // namespace autopack::project_inference_test
