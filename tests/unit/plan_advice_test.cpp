#include "base/file.hpp"
#include "plan/advice.hpp"
#include "support/memory_tree.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::plan_advice_test {

namespace {

std::string told(const Problems& problems, const std::string& what) {
  for (const auto& problem : problems) {
    if (problem.message.find(what) != std::string::npos) {
      std::string text = problem.message + " [" + problem.origin.value_or("") + "]";
      for (const auto& hint : problem.hints) {
        text += " / " + hint;
      }
      return text;
    }
  }
  return {};
}

/// Module `trainer.task`.
struct Imports {
  source::MemoryTree tree{};
  project::Request request{.module = "trainer.task"};
  image::BaseFacts base{
      .reference = "python:3", .platform = "linux/amd64", .python = "python3", .pip = true};

  Imports() { tree.file("trainer/__init__.py", ""); }

  plan::Advice whole_advice(const plan::BaseModules& in_base = {}) {
    const auto shared = std::make_shared<source::MemoryTree>(tree);
    const auto project = project::scan(*shared, request);
    const auto plan = plan::make_plan(shared, project, request, base, {});
    return plan::advice(plan, project, plan::walk_imports(plan, project), in_base);
  }

  std::optional<std::string> gpu_use() {
    const auto shared = std::make_shared<source::MemoryTree>(tree);
    const auto project = project::scan(*shared, request);
    return plan::find_gpu_use(plan::make_plan(shared, project, request, base, {}), project);
  }

  Problems advice(const plan::BaseModules& in_base = {}) { return whole_advice(in_base).warnings; }

  /// Returns the advice if `trainer/task.py` is `text`.
  std::string first_of(const std::string& text, const std::string& what) {
    tree.file("trainer/task.py", text);
    return told(advice(), what);
  }
};

}  // namespace

TEST_CASE("the first line of code that uses CUDA is found in what the program imports") {
  Imports project;
  project.tree.file("trainer/task.py", "import trainer.model  # \"cuda\"\n")
      .file("trainer/model.py", "import torch\n# torch.cuda\nNAME = 'cuda:0'\n")
      .file("trainer/other.py", "import torch\ntorch.cuda.init()\n");
  CHECK(project.gpu_use() == "trainer/model.py:3");
  project.tree.file("trainer/task.py", "print(1)\n");
  CHECK_FALSE(project.gpu_use());
}

TEST_CASE("advice: a local module that is not where Python looks") {
  Imports project;
  project.tree.file("trainer/task.py", "import json\n\nimport common.x\n")
      .file("common/__init__.py", "")
      .file("common/x.py", "");
  CHECK(project.advice().empty());
  project.request.module.reset();
  project.request.script = "trainer/task.py";
  CHECK(told(project.advice(), "common").find("--python-module=trainer.task") != std::string::npos);
}

TEST_CASE("advice: imports are followed through the image, and rules that hide them are named") {
  Imports project;
  project.tree.file(".dockerignore", "trainer/data\n")
      .file("trainer/task.py", "from trainer import model\n")
      .file("trainer/model.py", "from .data import load\nfrom . import missing_is_no_module\n")
      .file("trainer/data/__init__.py", "");
  CHECK(told(project.advice(), "data") ==
        "`trainer/model.py` line 1 imports `data`, which the rule `trainer/data` leaves out of the "
        "image [.dockerignore:1] / echo '!trainer/data/**' >> .dockerignore");
  CHECK(project.advice().size() == 1);
}

TEST_CASE("advice: programs that Python starts and the image lacks") {
  Imports project;
  project.base.apt = true;
  project.tree.file("trainer/data.py",
                    "import subprocess\ndef cut(x):\n  subprocess.run(['sox', x])\n"
                    "def unused(x):\n  subprocess.run(['flac', x])\n");
  const auto holds = [](const std::vector<std::string>& there) {
    return [there](const std::vector<std::string>& names) {
      std::map<std::string, bool> known;
      for (const auto& name : names) {
        known[name] = std::find(there.begin(), there.end(), name) != there.end();
      }
      return known;
    };
  };
  project.tree.file("trainer/task.py",
                    "import os\nfrom trainer import data\ndata.cut('x')\nos.system('ffmpeg -i x')\n"
                    "os.system('git log')\nos.system('nvidia-smi')\nos.system('own-tool')\n");
  auto warnings = project.advice(holds({}));
  CHECK(warnings.size() == 2);
  CHECK(told(warnings, "`sox`") ==
        "`trainer/data.py` line 3 starts `sox`, and the executor image does not have it [] / "
        "--system-packages=sox");
  CHECK(told(warnings, "`ffmpeg`").find("/ --system-packages=ffmpeg") != std::string::npos);
  CHECK(project.advice(holds({"program:sox", "program:ffmpeg"})).empty());
  CHECK(project.advice().empty());
  project.tree.file("trainer/task.py", "from trainer import data\nif x:\n  data.cut('x')\n");
  CHECK(project.advice(holds({})).empty());
}

TEST_CASE("advice: files that are there from the program's own directory only") {
  Imports project;
  project.request = {.script = "jobs/fit.py"};
  project.tree.file("jobs/fit.py", "open('../cfg/base.yaml')\nopen('x.csv')\nopen('jobs/x.csv')\n")
      .file("jobs/x.csv", "")
      .file("cfg/base.yaml", "");
  CHECK(
      told(project.advice(), "opens") ==
      "`jobs/fit.py` line 1 opens `../cfg/base.yaml`, which is found from `jobs` only, as 1 more; "
      "programs start in the project's directory [] / `--command=env,-C,jobs,python3,fit.py` "
      "starts it there");
  for (const auto* const text :
       {"open('cfg/base.yaml')\n", "import os\nos.chdir('jobs')\nopen('x.csv')\n",
        "open('nothing.csv')\n", "try:\n  open('x.csv')\nexcept OSError:\n  pass\n",
        "from pathlib import Path\n(Path(__file__).parent / 'x.csv').open()\n"}) {
    project.tree.file("jobs/fit.py", text);
    CHECK(project.advice().empty());
  }
  project.request = {.command = {"env", "-C", "jobs", "python3", "fit.py"}};
  project.tree.file("jobs/fit.py", "open('x.csv')\n");
  CHECK(project.advice().empty());
}

TEST_CASE("advice: paths that work on the user's machine and not in the image") {
  Imports project;
  project.request = {.script = "train.py"};
  project.tree.file("data/x.csv", "")
      .file("weights.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:" +
                               std::string(64, '0') + "\nsize 12345678\n");
  project.tree.file(".dockerignore", "logs\n").file("logs/old.txt", "");
  const auto advice = [&](const std::string& text) {
    project.tree.file("train.py", text);
    const auto shared = std::make_shared<source::MemoryTree>(project.tree);
    const auto scanned = project::scan(*shared, project.request);
    const auto plan = plan::make_plan(shared, scanned, project.request, project.base, {});
    return told(plan::path_advice(plan, scanned, plan::walk_imports(plan, scanned).reached), "");
  };
  CHECK(advice("open('Data/x.csv')\n") ==
        "`train.py` line 1 opens `Data/x.csv`, and the file is `data/x.csv`: Linux distinguishes "
        "upper "
        "and lower case [] / write `data/x.csv`");
  CHECK(advice("pd.read_csv(r'data\\x.csv')\n") ==
        "`train.py` line 1 opens `data\\x.csv`: on Linux, `\\` does not separate directories [] / "
        "write `data/x.csv`");
  CHECK(advice("import torch\ntorch.load('weights.bin')\n") ==
        "`train.py` line 2 opens `weights.bin`, which is a pointer of Git LFS [] / git lfs pull");
  CHECK(advice("import torch\ntorch.save(m, 'logs/m.pt')\n") ==
        "`train.py` line 2 writes to `logs`, and the image has no such directory: the rule `logs` "
        "leaves it out [] / `os.makedirs(\"logs\", exist_ok=True)` before it");
  CHECK(advice("open(f'logs/{n}.txt', 'w')\n") != "");
  for (const auto* const text :
       {"open('data/x.csv')\n", "open('Data/x.csv', 'w')\n", "name = 'Data/x.csv'\n",
        "print(r'data\\x.csv')\n", "os.makedirs('logs', exist_ok=True)\nopen('logs/a', 'w')\n",
        "model.save_pretrained('logs/m')\n", "open('gone/a', 'w')\n", "name = 'weights.bin'\n",
        "open(os.path.join(root, 'Data/x.csv'))\n"}) {
    CAPTURE(text);
    CHECK(advice(text) == "");
  }
}

TEST_CASE("advice: an imported module that needs more of the system") {
  Imports project;
  project.tree.file("requirements.txt", "GitPython\n");
  const auto with = [&](const std::string& text, const std::vector<std::string>& there) {
    project.tree.file("trainer/task.py", text);
    return told(project.advice([&](const std::vector<std::string>& names) {
      std::map<std::string, bool> known;
      for (const auto& name : names) {
        known[name] = std::ranges::find(there, name) != there.end();
      }
      return known;
    }),
                "which ");
  };
  CHECK(with("import git\n", {}) ==
        "`trainer/task.py` line 1 imports `git`, which runs the program `git`, and the executor "
        "image does not have it []");
  CHECK(with("from tkinter import ttk\n", {}) ==
        "`trainer/task.py` line 1 imports `tkinter`, which loads Tk, and the executor image does "
        "not have it []");
  CHECK(with("import git\n", {"program:git"}) == "");
  CHECK(with("import tkinter\n", {"library:libtk8.6.so"}) == "");
  CHECK(with("import turtle\n", {"program:conda"}) == "");
  CHECK(with("try:\n    import git\nexcept ImportError:\n    git = None\n", {}) == "");
  CHECK(with("import os\nos.environ['GIT_PYTHON_REFRESH'] = 'quiet'\nimport git\n", {}) == "");
  project.tree.file("requirements.txt", "six\n").file("git.py", "");
  CHECK(with("import git\n", {}) == "");
}

TEST_CASE("advice: an extension module that the image's Python cannot load") {
  Imports project;
  project.request = {.script = "train.py"};
  project.base.python_version = "3.11";
  project.tree.file("train.py", "import fastops\n");
  for (const auto* const name :
       {"fastops.cpython-39-x86_64-linux-gnu.so", "fastops.pyd", "fastops.cp311-win_amd64.pyd",
        "fastops.cpython-311-darwin.so", "fastops.cpython-311-aarch64-linux-gnu.so"}) {
    CAPTURE(name);
    auto one = project;
    one.tree.file(name, "");
    CHECK(told(one.advice(), "is built for another Python or system") != "");
    one.tree.file("fastops.cpython-311-x86_64-linux-gnu.so", "");
    CHECK(one.advice().empty());
  }
  for (const auto* const name : {"fastops.abi3.so", "fastops.so", "fastops.pyx"}) {
    CAPTURE(name);
    auto one = project;
    one.tree.file(name, "");
    CHECK(one.advice().empty());
  }
}

TEST_CASE("advice: a plain text on sys.path is relative to the project's directory") {
  Imports project;
  project.request = {.script = "scripts/train.py"};
  project.tree.file("scripts/train.py", "import sys\nsys.path.append('..')\nimport pkg\n")
      .file("pkg/__init__.py", "");
  CHECK(told(project.advice(), "`pkg` is in the image, but not where Python looks") != "");
  for (const auto* const text : {"import sys\nsys.path.append('.')\nimport pkg\n",
                                 "import sys, os\nsys.path.append(os.getcwd())\nimport pkg\n"}) {
    project.tree.file("scripts/train.py", text);
    CHECK(project.advice().empty());
  }
}

TEST_CASE("advice: a file that is not installed and provides a missing import is named") {
  Imports project;
  project.tree.file("requirements.txt", "numpy\n")
      .file("requirements-gpu.txt", "-r requirements.txt\nPyYAML\n");
  CHECK(project.first_of("import yaml\n", "yaml")
            .ends_with("/ `--requirements-file=requirements.txt,requirements-gpu.txt` provides "
                       "`yaml`"));
}

TEST_CASE("advice: versions of Python that other files name are held against the image") {
  Imports project;
  project.base.python_version = "3.11.2";
  const auto warning = [&](const char* version) {
    project.tree.file("trainer/task.py", "").file(".python-version", version);
    const auto tree = std::make_shared<source::MemoryTree>(project.tree);
    return told(plan::make_plan(tree, project::scan(*tree, project.request), project.request,
                                project.base, {})
                    .warnings,
                "names Python");
  };
  CHECK(warning("3.12\n") ==
        "`.python-version` names Python `3.12`, but the executor image `python:3` has 3.11.2 [] / "
        "take an executor image with that Python");
  CHECK(warning("3.11.9\n").empty());
}

TEST_CASE("advice: packages that no requirement provides are one line, guarded imports none") {
  Imports project;
  project.tree.file("trainer/task.py",
                    "import yaml\nimport sklearn.svm\nfrom google.cloud import storage\n"
                    "import helper_lib\ntry:\n  import fast\nexcept ImportError:\n  pass\n"
                    "if TYPE_CHECKING:\n  import typed\ndef f():\n  import late\n");
  project.tree.file("requirements.txt", "scikit-learn>=1\ngoogle_cloud_storage\n./libs/helper\n")
      .file("libs/helper/setup.py", "from setuptools import setup\nsetup(name='helper')\n")
      .file("libs/helper/helper_lib/__init__.py", "");
  const auto advice = project.whole_advice();
  CHECK(told(advice.warnings, "yaml") ==
        "`trainer/task.py` line 1 imports `yaml`, which no requirement provides [] / "
        "`echo PyYAML >> requirements.txt`, unless the executor image provides it");
  CHECK(advice.warnings.size() == 1);
  CHECK(advice.details.size() == 3);
  CHECK(advice.details[0] ==
        "`trainer/task.py` line 6 imports `fast`, which no requirement is known to provide; it may "
        "work without");
  project.tree.file("requirements.txt", "scikit-learn\n")
      .file("trainer/task.py",
            "import yaml, PIL.Image\nimport cv2\nimport sklearn\nimport nowhere\n");
  CHECK(told(project.advice(), "yaml") ==
        "no requirement provides these imports: `PIL` (trainer/task.py:1), `cv2` "
        "(trainer/task.py:2), `nowhere` (trainer/task.py:4), `yaml` (trainer/task.py:1) [] / "
        "`printf 'Pillow\\nopencv-python\\nPyYAML\\n' >> requirements.txt`, unless the executor "
        "image provides them");
}

TEST_CASE("advice: a package of unknown requirements does not silence the imports") {
  Imports project;
  project.tree.file("requirements.txt", "einops\nhydra-core==1.3.2\n");
  CHECK(project.first_of("import einops, nosuchthing\n", "nosuchthing")
            .starts_with("`trainer/task.py` line 1 imports `nosuchthing`, which no requirement"));
}

TEST_CASE("advice: no name is suggested that is not known to be right") {
  Imports project;
  CHECK(project.first_of("import apex\n", "apex").find("--requirements") == std::string::npos);
  CHECK(project.first_of("import clip\n", "clip").find("--requirements") == std::string::npos);
  CHECK(project.first_of("import torch_geometric.nn\n", "torch")
            .find("`--requirements=torch-geometric`") != std::string::npos);
  CHECK(project.first_of("import numpyy\n", "numpyy").find("did you mean `numpy` by `numpyy`?") !=
        std::string::npos);
  CHECK(project.first_of("import mytools\n", "mytools").find("did you mean") == std::string::npos);
}

TEST_CASE("advice: what a requirement installs is not asked for") {
  Imports project;
  const auto open = [&](const std::string& requirements, const std::string& code) {
    project.tree.file("requirements.txt", requirements);
    return project.first_of(code, "import");
  };
  CHECK(open("pandas\n", "import numpy\n").empty());
  CHECK(open("torch\n", "import torchgen, functorch, typing_extensions\n").empty());
  CHECK(open("transformers[torch]>=4\n", "import yaml, huggingface_hub\n").empty());
  CHECK(open("hydra-core\n", "import omegaconf\n").empty());
  CHECK(open("lightning==2.1 --hash=sha256:" + std::string(64, 'a') + "\n",
             "import torch, pytorch_lightning, torchmetrics\n")
            .empty());
  CHECK(open("git+https://github.com/openai/CLIP.git@main\n", "import clip\n").empty());
  CHECK(open("git+https://example.com/x.git#egg=taming-transformers\n", "import taming\n").empty());
  CHECK(open("kornia @ https://example.com/kornia-0.7-py3-none-any.whl\n", "import kornia, torch\n")
            .empty());
  // The modules of an unknown distribution are unknown.
  CHECK(open("somebodys-tools\n", "import elsewhere\n").empty());
  CHECK_FALSE(open("somebodys-tools\n", "import yaml\n").empty());
  CHECK_FALSE(open("pywin32; sys_platform == 'win32'\nsix\n", "import win32api\n").empty());
  project.base.python_version = "3.11";
  CHECK_FALSE(open("tomli; python_version < '3.11'\n", "import tomli\n").empty());
  project.base.python_version = "3.10";
  CHECK(open("tomli; python_version < '3.11'\n", "import tomli\n").empty());
}

TEST_CASE("advice: torch provides no tensorboard, though a part of torch imports it") {
  Imports project;
  project.request.requirements = {"torch"};
  const std::string text = "from torch.utils.tensorboard import SummaryWriter\n";
  CHECK(project.first_of(text, "tensorboard").find("imports `tensorboard`") != std::string::npos);
  CHECK(project.first_of("from torch.utils import tensorboard\n", "`tensorboard`") != "");
  project.request.requirements = {"torch", "tensorboard"};
  CHECK(project.first_of(text, "tensorboard").empty());
}

TEST_CASE("advice: what several distributions share is looked at in full") {
  Imports project;
  project.tree.file("requirements.txt", "google-cloud-storage\n");
  CHECK(project
            .first_of("from google.cloud import storage\nfrom google.cloud.storage import Blob\n"
                      "import google.auth\n",
                      "google")
            .empty());
  CHECK(
      project.first_of("from google.cloud import storage, bigquery\n", "google") ==
      "`trainer/task.py` line 1 imports `google.cloud.bigquery`, which no requirement provides [] "
      "/ `echo google-cloud-bigquery >> requirements.txt`, unless the executor image provides it");
}

TEST_CASE("advice: relative imports that lead nowhere") {
  Imports project;
  CHECK(project.first_of("from .model import Net\n", "model") ==
        "`trainer/task.py` line 1 imports `.model`, which does not exist []");
  CHECK(project.first_of("try:\n  from ._version import v\nexcept ImportError:\n  v = 0\n", "")
            .empty());
  project.tree.file("trainer/model.pyx", "");
  CHECK(project.first_of("from .model import Net\n", "model").empty());
  project.request.module.reset();
  project.request.script = "trainer/task.py";
  CHECK(project.first_of("from .model import Net\n", "model") ==
        "`trainer/task.py` line 1 imports `.model`, which fails in a script: it belongs to no "
        "package when it is run [] / `--python-module=trainer.task` instead of `--script`");
}

TEST_CASE("advice: links are followed") {
  Imports project;
  project.tree.file("shared/common/__init__.py", "import yaml\n")
      .symlink("trainer/common", "../shared/common")
      .file("trainer/task.py", "from . import common\nfrom trainer.common import x\n");
  project.request.extra_dirs = {"shared"};
  CHECK(told(project.advice(), "yaml").starts_with("`trainer/common/__init__.py` line 1 imports"));
}

TEST_CASE("advice: what runs below the guard of a script counts in the entry alone") {
  Imports project;
  project.tree.file("trainer/other.py", "if __name__ == '__main__':\n  import plotly\n");
  CHECK(project.first_of("from trainer import other\n", "plotly").empty());
  CHECK_FALSE(project.first_of("if __name__ == '__main__':\n  import plotly\n", "plotly").empty());
}

TEST_CASE("advice: what is imported only perhaps needs nothing for certain") {
  Imports project;
  project.tree.file("trainer/fast.py", "import triton\n")
      .file("trainer/wandb.py", "import wandb\n");
  project.tree.file("requirements.txt", "six\n");
  const std::string perhaps = "try:\n  from trainer import fast\nexcept ImportError:\n  pass\n";
  CHECK(project.first_of(perhaps, "triton").empty());
  CHECK_FALSE(project.first_of(perhaps + "import trainer.fast\n", "triton").empty());
  CHECK(project.first_of("import trainer.wandb\n", "wandb").find("provides") != std::string::npos);
  project.tree.file("requirements.txt", "wandb\n");
  CHECK(project.first_of("import trainer.wandb\n", "wandb").empty());
}

TEST_CASE("advice: a path that code changes may lead anywhere in the project") {
  Imports project;
  project.tree.file("trainer/deep/tools/helper.py", "");
  CHECK_FALSE(project.first_of("import helper\n", "helper").empty());
  CHECK(
      project
          .first_of("import sys\nsys.path.append(here + '/deep/tools')\nimport helper\n", "helper")
          .empty());
  CHECK_FALSE(
      project.first_of("import sys\nsys.path.append('deep/tools')\nimport helper\n", "helper")
          .empty());
}

TEST_CASE("advice: a directory of data is not a module, and a found root is searched") {
  Imports project;
  project.tree.file("trainer/datasets/a.csv", "").file("configs/__init__.py", "");
  project.request.module.reset();
  project.request.script = "trainer/task.py";
  CHECK_FALSE(project.first_of("import datasets\n", "datasets").empty());
  project.request.extra_dirs = {"configs"};
  CHECK_FALSE(project.first_of("import configs\n", "configs").empty());
  project.tree.file("requirements.txt", "rootutils\n");
  CHECK(project.first_of("import rootutils\nimport configs\n", "configs").empty());
}

TEST_CASE("advice: packages that the executor image provides") {
  Imports project;
  project.tree.file("trainer/task.py",
                    "import yaml\nimport numpy.linalg\nfrom google.cloud import bigquery\n");
  std::vector<std::string> asked;
  const auto problems = project.advice([&](const auto& modules) {
    asked = modules;
    return std::map<std::string, bool>{
        {"google.cloud.bigquery", true}, {"numpy", true}, {"yaml", false}};
  });
  CHECK(asked == std::vector<std::string>{"google.cloud.bigquery", "numpy", "yaml"});
  CHECK(problems.size() == 1);
  CHECK(told(problems, "yaml") ==
        "`trainer/task.py` line 1 imports `yaml`, which neither a requirement nor the executor "
        "image provides [] / `--requirements=PyYAML`");
  project.base.reference = "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime";
  CHECK(project.first_of("import torch, torchvision, numpy\n", "import").empty());
  project.tree.file("trainer/task.py", "import json\n");
  asked.clear();
  CHECK(project
            .advice([&](const auto& modules) {
              asked = modules;
              return std::map<std::string, bool>{};
            })
            .empty());
  CHECK(asked.empty());
}

TEST_CASE("the version of Python that a project requires is held against the executor image") {
  Imports project;
  project.tree.file("trainer/task.py", "");
  const auto said = [&](const std::string& python, const std::string& metadata) {
    project.base.python_version = python;
    project.tree.file("pyproject.toml", metadata);
    try {
      const auto shared = std::make_shared<source::MemoryTree>(project.tree);
      const auto scanned = project::scan(*shared, project.request);
      const auto plan = plan::make_plan(shared, scanned, project.request, project.base, {});
      return told(plan.warnings, "requires Python");
    } catch (const Error& error) {
      return told(error.problems(), "requires Python");
    }
  };
  const std::string installed =
      "[build-system]\nrequires = ['setuptools']\n[project]\n"
      "name = 'trainer'\nversion = '1'\nrequires-python = '>=3.9,<3.12'\n";
  CHECK(said("3.8.10", installed) ==
        "the project requires Python `>=3.9,<3.12`, but the executor image `python:3` has 3.8.10 "
        "[pyproject.toml: [project] requires-python] / take an executor image with a Python that "
        "fits");
  CHECK(said("3.12", installed).find("has 3.12") != std::string::npos);
  CHECK(said("3.11", installed).empty());
  CHECK(said("", installed).empty());
  const std::string poetry = "[tool.poetry.dependencies]\npython = '^3.10'\n";
  CHECK(said("3.8", poetry).find("[tool.poetry.dependencies] python") != std::string::npos);
  CHECK(said("3.12", poetry).empty());
  const std::string patch = "[project]\nname = 'x'\nversion = '1'\nrequires-python = '>=3.11.4'\n";
  CHECK(said("3.11", patch).empty());
  CHECK_FALSE(said("3.11.2", patch).empty());
}

TEST_CASE("advice: a requirement that replaces the framework of the base") {
  Imports project;
  project.tree.file("trainer/task.py", "import torch\n");
  project.base.reference = "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime";
  const auto with = [&](const std::string& line) {
    project.tree.file("requirements.txt", "numpy\n" + line + "\n");
    return told(project.advice(), "replaces");
  };
  CHECK(with("torch==2.4") ==
        "`torch==2.4` replaces the torch 2.1.0 of the executor image, which was built for its CUDA "
        "[requirements.txt:2] / `torch` without a version keeps the image's");
  CHECK(with("torch").empty());
  CHECK(with("torch>=2.0,<3").empty());
  CHECK(with("torch==2.1.0").empty());
  CHECK(with("torch<2").find("torch<2") != std::string::npos);
  project.base.reference = "pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime";
  for (const char* const replaces :
       {"torch~=2.1.0", "torch~=2.4", "torch==2.3", "torch!=2.3.1", "torch>2.3.1",
        "torch==2.3.0+cu121", "torch @ https://example.com/torch-2.3.1-py3-none-any.whl"}) {
    CAPTURE(replaces);
    CHECK_FALSE(with(replaces).empty());
  }
  for (const char* const keeps :
       {"torch~=2.3.0", "torch~=2.1", "torch==2.3.*", "torch>=2.3,!=2.3.0", "torch==2.3.1+cu121",
        "torch!=2.3.1+cpu", "torch===2.3.1+cu121"}) {
    CAPTURE(keeps);
    CHECK(with(keeps).empty());
  }
  project.base.reference = "pytorch/pytorch:latest";
  CHECK(with("torch==2.4").empty());
  project.base.reference = "us-docker.pkg.dev/vertex-ai/training/tf-gpu.2-12.py310:latest";
  project.base.vertex_prebuilt = true;
  CHECK(with("tensorflow==2.15").find("tensorflow 2.12") != std::string::npos);
  CHECK(with("tensorflow==2.12.*").empty());
  CHECK(with("tensorflow==2.12.1").empty());
  CHECK(with("tensorflow~=2.11.0").find("tensorflow~=2.11.0") != std::string::npos);
}

TEST_CASE("advice: what pip freeze writes on other machines is named before the build") {
  Imports project;
  project.tree.file("trainer/task.py", "");
  const auto with = [&](const std::string& text) {
    project.tree.file("requirements.txt", text);
    return told(project.advice(), "`");
  };
  CHECK(with("six\npkg-resources==0.0.0\n") ==
        "no index has `pkg-resources==0.0.0`: Debian's `pip freeze` adds it by mistake "
        "[requirements.txt:2] / delete the line");
  CHECK(with("pywin32==306\n") ==
        "`pywin32` is for Windows only: there is no file for Linux [requirements.txt:1] / "
        "`pywin32==306 ; sys_platform == \"win32\"`");
  CHECK(with("pyobjc_framework_Cocoa==9\n").find("is for macOS only") != std::string::npos);
  CHECK(with("pywin32==306 ; sys_platform == 'win32'\n").empty());
  project.tree.file("pyproject.toml", "[project]\nname='a'\ndependencies=['pywin32']\n[tool.uv]\n");
  CHECK(with("six\n").find("[pyproject.toml]") != std::string::npos);
}

TEST_CASE("advice: the Python that a script block asks for is compared with the executor image's") {
  Imports project;
  project.request = {.script = "train.py"};
  project.base.python_version = "3.11.2";
  project.tree.file("train.py", "# /// script\n# requires-python = \">=3.13\"\n# ///\n");
  const auto shared = std::make_shared<source::MemoryTree>(project.tree);
  const auto plan = plan::make_plan(shared, project::scan(*shared, project.request),
                                    project.request, project.base, {});
  CHECK(told(plan.warnings, "requires Python") ==
        "the program requires Python `>=3.13`, but the executor image `python:3` has 3.11.2 "
        "[train.py:2] / take an executor image with a Python that fits");
}

TEST_CASE("advice: what an extra package outside of the project holds is provided") {
  const TemporaryDirectory place;
  std::filesystem::create_directories(place.path() / "common/src/acme_common");
  write_file(place.path() / "common/setup.py",
             "from setuptools import setup\nsetup(name='acme-x', install_requires=['einops'])\n");
  write_file(place.path() / "common/src/acme_common/__init__.py", "");
  Imports project;
  project.request.extra_packages = {(place.path() / "common").string()};
  CHECK(project.first_of("import acme_common, einops\n", "imports").empty());
  CHECK_FALSE(project.first_of("import tqdm\n", "tqdm").empty());
}

TEST_CASE("advice: conda's own packages are not named beside those of Python") {
  Imports project;
  project.tree.file("trainer/task.py", "")
      .file("environment.yml",
            "dependencies:\n  - _libgcc_mutex=0.1=main\n  - openssl=3\n  - ffmpeg=4\n");
  CHECK(told(project.advice(), "conda").find("asks conda for `ffmpeg`:") != std::string::npos);
}

TEST_CASE("advice: packages of conda are reported if nothing else provides them") {
  Imports project;
  project.tree.file("trainer/task.py", "")
      .file("environment.yml",
            "dependencies:\n  - pytorch=1.12\n  - pytorch-cuda=11\n  - numpy\n  - ffmpeg\n"
            "  - pip:\n    - numpy\n");
  CHECK(told(project.advice(), "conda") ==
        "`environment.yml` asks conda for `pytorch`, `pytorch-cuda`, `ffmpeg`: autopack installs "
        "with pip, so they are not installed [] / packages that the executor image lacks go into "
        "a requirements.txt, or `--requirements=NAME,...`");
  const auto in_base = [](const auto&) { return std::map<std::string, bool>{{"torch", true}}; };
  CHECK(told(project.advice(in_base), "conda").find("asks conda for `ffmpeg`:") !=
        std::string::npos);
  project.base.reference = "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime";
  CHECK(told(project.advice(), "conda").find("asks conda for `ffmpeg`:") != std::string::npos);
  project.request.requirements = {"numpy"};
  CHECK(told(project.advice(), "conda").empty());
}

TEST_CASE("advice: an environment file that is not read is named where its pip part is missed") {
  Imports project;
  project.tree
      .file("environment.yaml", "dependencies:\n  - pip:\n    - omegaconf==2.1\n    - pudb\n")
      .file("requirements.txt", "six\n");
  CHECK(project.first_of("import omegaconf\n", "omegaconf")
            .ends_with(" / the pip part of `environment.yaml` lists `omegaconf`; it is not read, "
                       "because the requirements file determines the installation"));
  CHECK(project.first_of("import einops\n", "einops").find("environment.yaml") ==
        std::string::npos);
}

TEST_CASE("advice: an extra that is not asked for provides nothing, and is named") {
  Imports project;
  project.tree.file("pyproject.toml",
                    "[build-system]\nrequires = ['setuptools']\n[project]\nname = 'trainer'\n"
                    "version = '1'\n[project.optional-dependencies]\nfast = ['flash-attn>=2']\n"
                    "all = ['trainer[fast]']\n");
  const std::string text = "import flash_attn, yaml\n";
  CHECK(project.first_of(text, "flash_attn")
            .ends_with(
                " / `--extra=fast` provides `flash_attn` / `--requirements=PyYAML`, unless the "
                "executor image provides it"));
  CHECK(project.first_of("import flash_attn\n", "flash_attn").ends_with("provides `flash_attn`"));
  for (const auto* const extra : {"fast", "all"}) {
    project.request.package_extras = {extra};
    CHECK(project.first_of(text, "flash_attn").empty());
  }
}

TEST_CASE("advice: a module that an unknown requirement may provide is reported with it") {
  Imports project;
  project.tree.file("requirements.txt", "git+https://git.example/lab/tools.git\n");
  CHECK(project.first_of("import yaml\n", "yaml") ==
        "`trainer/task.py` line 1 imports `yaml`, which no requirement is known to provide [] / "
        "`echo PyYAML >> requirements.txt`, unless the executor image or another requirement "
        "provides it");
  project.tree.file("requirements.txt", "git+https://git.example/google/CommonLoopUtils\n");
  CHECK(project.first_of("import ml_collections, clu\n", "clu").empty());
}

TEST_CASE("advice: of several extras the one that provides the most is named first") {
  Imports project;
  project.tree.file("pyproject.toml",
                    "[build-system]\nrequires = ['setuptools']\n[project]\nname = 'trainer'\n"
                    "version = '1'\n[project.optional-dependencies]\naudio = ['pandas', 'numba']\n"
                    "training = ['pandas', 'flash-attn', 'einops']\n");
  CHECK(project.first_of("import pandas, flash_attn, einops\n", "flash_attn")
            .ends_with(" / `--extra=training` provides `einops`, `flash_attn`, `pandas`"));
  CHECK(
      project.first_of("import pandas, flash_attn, numba\n", "flash_attn")
          .ends_with(" / `--extra=audio` provides `numba`, `pandas` / `--extra=training` provides "
                     "`flash_attn`"));
}

TEST_CASE("advice: names that pip cannot install") {
  Imports project;
  project.tree.file("trainer/task.py", "")
      .file("requirements.txt", "python==3.6.12\npytorch>=1.0\npython-dateutil\n");
  CHECK(project.advice().size() == 2);
  CHECK(told(project.advice(), "`pytorch`") ==
        "`pytorch` is conda's name: pip's distribution of that name fails to install "
        "[requirements.txt:2] / `torch`");
  CHECK(told(project.advice(), "`python`").find("[requirements.txt:1]") != std::string::npos);
  project.tree.file("requirements.txt", "scikit-learn\nsklearn\n");
  CHECK(told(project.advice(), "`sklearn`").find("[requirements.txt:2] / `scikit-learn`") !=
        std::string::npos);
  project.tree.file("requirements.txt", "sklearn==0.0\n");
  CHECK(project.advice().empty());
}

TEST_CASE("advice: `python -m` is not advised where what is beside the script is needed") {
  Imports project;
  project.request = {.script = "task/main.py"};
  project.tree.file("task/mixup.py", "").file("task/arg.py", "");
  const auto told_of = [&](const std::string& text) {
    project.tree.file("task/main.py", text);
    return told(project.advice(), "not where Python looks");
  };
  CHECK(told_of("import task.mixup\n").find("`--python-module=task.main`") != std::string::npos);
  const auto both = told_of("import task.mixup\nimport arg\n");
  CHECK(both.find("--python-module") == std::string::npos);
  CHECK(both.find("`PYTHONPATH=. python task/main.py`") != std::string::npos);
}

TEST_CASE("advice: modules are found where the executor image's PYTHONPATH says") {
  Imports project;
  project.request = {.script = "task/main.py"};
  project.tree.file("task/main.py", "import helpers\n").file("src/helpers/__init__.py", "");
  CHECK(told(project.advice(), "not where Python looks") != "");
  for (const auto* const path : {"/usr/app/src", "/opt/x:src", "src/"}) {
    project.base.environment = {std::string{"PYTHONPATH="} + path};
    CAPTURE(path);
    CHECK(project.advice().empty());
  }
  project.base.environment = {"PYTHONPATH=/opt/x"};
  CHECK(told(project.advice(), "not where Python looks") != "");
}

TEST_CASE("advice: names that moved to collections.abc are reported for newer Pythons") {
  Imports project;
  const std::string text = "from collections import OrderedDict, Hashable\n";
  CHECK(project.first_of(text, "Hashable").empty());  // the base's Python is unknown
  project.base.python_version = "3.9.2";
  CHECK(project.first_of(text, "Hashable").empty());
  for (const char* version : {"3.10", "3.11.2", "3.13.0"}) {
    project.base.python_version = version;
    CAPTURE(version);
    CHECK(project.first_of(text, "Hashable").find("`collections.abc`") != std::string::npos);
    CHECK(project.advice().size() == 1);
  }
  const std::string guarded = "try:\n  " + text + "except ImportError:\n  pass\n";
  CHECK(project.first_of(guarded, "Hashable").empty());
  CHECK(project.first_of("from collections import OrderedDict\n", "").empty());
  CHECK(project.first_of("from collections.abc import Hashable\n", "").empty());
}

TEST_CASE("advice: modules removed from the standard library are reported for newer Pythons") {
  struct Case {
    std::string import;
    std::string last;   ///< last version that has it
    std::string first;  ///< first version without it
    std::string told;
  };

  const std::vector<Case> cases{
      {"from time import sleep, clock", "3.7.3", "3.8.0", "`clock` from `time`"},
      {"from fractions import gcd", "3.8.2", "3.9.0", "import it from `math`"},
      {"from inspect import getargspec", "3.10.1", "3.11.0", "`inspect.getfullargspec`"},
      {"import os, imp", "3.11.2", "3.12.0", "`imp`, which Python has only before 3.12"},
      {"import distutils.dir_util", "3.11", "3.12", "`--requirements=setuptools`"},
      {"from distutils.version import LooseVersion", "3.11", "3.12.1", "imports `distutils`"},
      {"from configparser import SafeConfigParser", "3.11", "3.12", "configparser.ConfigParser"},
      {"import cgi", "3.12", "3.13", "`--requirements=legacy-cgi`"},
      {"import pipes", "3.12", "3.13.1", "Python 3.12"},
      {"from unittest import makeSuite", "3.12", "3.14", "unittest.TestLoader"},
  };
  for (const auto& [import, last, first, what] : cases) {
    const auto& shown = import;  // clang 14 captures no binding
    CAPTURE(shown);
    Imports project;
    CHECK(project.first_of(import + "\n", "").empty());  // the base's Python is unknown
    project.base.python_version = last;
    CHECK(project.first_of(import + "\n", "").empty());
    project.base.python_version = first;
    CHECK(project.first_of(import + "\n", "imports").find(what) != std::string::npos);
    CHECK(project.advice().size() == 1);
    CHECK(project.first_of("try:\n  " + import + "\nexcept ImportError:\n  pass\n", "").empty());
    CHECK(project.first_of("def f():\n  " + import + "\n", "").empty());
  }
}

TEST_CASE("advice: names of TensorFlow 1 are reported if Python is too new for it") {
  Imports project;
  project.tree.file("requirements.txt", "tensorflow\n");
  const std::vector<std::string> texts{
      "import tensorflow.contrib.slim as slim\n", "from tensorflow.contrib import learn\n",
      "from tensorflow import contrib\n",
      "from tensorflow.examples.tutorials.mnist import input_data\n"};
  for (const auto& text : texts) {
    CAPTURE(text);
    project.base.python_version.reset();
    CHECK(project.first_of(text, "").empty());
    project.base.python_version = "3.7.16";
    CHECK(project.first_of(text, "").empty());
    project.base.python_version = "3.11.2";
    CHECK(!project.first_of(text, "only before 2.0").empty());
    CHECK(project.advice().size() == 1);
    CHECK(project.first_of("def f():\n  " + text, "").empty());
  }
  CHECK(project.first_of("import tensorflow.contribution\nfrom tensorflow import keras\n", "")
            .empty());
}

TEST_CASE("advice: who else provides what left Python's own library is found") {
  Imports project;
  project.base.python_version = "3.12.3";
  const std::string text = "import distutils.util\n";
  for (const char* const provider : {"setuptools>=60\n", "torch\n"}) {
    CAPTURE(provider);
    Imports with = project;
    with.tree.file("requirements.txt", provider);
    CHECK(with.first_of(text, "").empty());
  }
  project.tree.file("requirements.txt", "numpy\n");
  CHECK(!project.first_of(text, "distutils").empty());
  const auto has_setuptools = [](const std::vector<std::string>& modules) {
    CHECK(modules == std::vector<std::string>{"setuptools"});
    return std::map<std::string, bool>{{"setuptools", true}};
  };
  CHECK(project.advice(has_setuptools).empty());
  const auto has_none = [](const auto&) {
    return std::map<std::string, bool>{{"setuptools", false}};
  };
  CHECK(project.advice(has_none).size() == 1);
  project.tree.file("imp.py", "").file("trainer/imp.py", "");
  CHECK(project.first_of("import imp\n", "").empty());
}

TEST_CASE("advice: pkg_resources is asked of the setuptools that have it") {
  Imports project;
  CHECK(project.first_of("import pkg_resources\n", "imports")
            .find("`--requirements='setuptools<82'`") != std::string::npos);
  project.tree.file("requirements.txt", "setuptools\n");
  CHECK(project.advice().empty());
}

TEST_CASE("advice: code for Python 2 is reported once, if the program surely imports it") {
  Imports project;
  project.tree.file("trainer/old.py", "x = 1\nprint 'x', x\n")
      .file("trainer/older.py", "print \"y\"\n");
  const std::string text = "import trainer.old, trainer.older\n";
  CHECK(project.first_of(text, "Python 2").find("line 2 prints without parentheses") !=
        std::string::npos);
  CHECK(project.advice().size() == 1);
  CHECK(project.first_of("try:\n  " + text + "except ImportError:\n  pass\n", "").empty());
  CHECK(project.first_of("print('x')\nprint\n'a string'\n", "").empty());
}

}  // namespace autopack::plan_advice_test
