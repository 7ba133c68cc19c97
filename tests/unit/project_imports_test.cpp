#include "project/code/program_signs.hpp"
#include "project/code/python_file.hpp"
#include "project/tables/known_distributions.hpp"
#include "project/tables/python_names.hpp"

#include <doctest/doctest.h>

namespace autopack::project::project_imports_test {

TEST_CASE("imports are read with line, level and whether their failure may be meant") {
  const auto file = read_python_file(
      "\"\"\"import no\n\"\"\"\n"
      "import os, yaml as y\n"
      "from . import sibling\n"
      "from ..up.more import (a,\n  b as c)\n"
      "try:\n    import fast\nexcept ImportError:\n    fast = None\n"
      "def f():\n    import late.part\n"
      "text = 'import not_me'\n");
  REQUIRE(file.imports.size() == 6);
  CHECK(file.imports[0].module == "os");
  CHECK(file.imports[0].line == 3);
  CHECK(file.imports[1].module == "yaml");
  CHECK(file.imports[2].level == 1);
  CHECK(file.imports[2].module.empty());
  CHECK(file.imports[2].names == std::vector<std::string>{"sibling"});
  CHECK(file.imports[3].level == 2);
  CHECK(file.imports[3].module == "up.more");
  CHECK(file.imports[3].names == std::vector<std::string>{"a", "b"});
  CHECK(file.imports[4].optional);
  CHECK(file.imports[4].line == 8);
  CHECK(file.imports[5].module == "late.part");
  CHECK(file.imports[5].nested);
  CHECK_FALSE(file.imports[5].optional);
  const auto main = read_python_file("if __name__ == '__main__':\n    import cli\n");
  CHECK(main.imports.at(0).when_main);
  CHECK_FALSE(main.imports.at(0).nested);
  CHECK_FALSE(file.changes_path);
  CHECK(read_python_file("import sys\nsys.path.append('..')\n").changes_path);
  CHECK(read_python_file("import\nfrom x\nfrom . x\nimport a.\n").imports.size() == 1);
}

TEST_CASE("the top level of a file says what running it does") {
  const auto signs = [](const char* text) { return read_program_signs(text); };
  CHECK(signs("if __name__ == '__main__':\n    f()\n").guarded);
  CHECK_FALSE(signs("def f():\n    pass\n").does_something());
  CHECK_FALSE(signs("X = f()\n@app.command()\ndef f():\n    print(1)\n").does_something());
  CHECK(signs("x = 1\n").does_something());
  CHECK(signs("def f():\n    pass\n\nlog.setup()\n").calls);
  CHECK_FALSE(signs("def f():\n    pass\n\nlog.setup()\n").is_program());
  CHECK(signs("def f():\n    pass\n\nf()\n").is_program());
  CHECK(signs("import app\n\napp.run(f)\n").is_program());
  CHECK(signs("for x in y:\n    pass\n").is_program());
  CHECK(signs("def main(:\n    pass\n\nmain()\n").is_program());
}

TEST_CASE("calls show which program trains") {
  const auto trains = [](const char* text) { return read_program_signs(text).trains; };
  for (const auto* text : {"model.fit(x, y)\n", "loss.backward()\n", "import torch.optim as o\n",
                           "from transformers import Trainer\n", "run_lib.train(config)\n",
                           "def f():\n    train_one_epoch(model)\n", "optimizer = Adam()\n"}) {
    CAPTURE(text);
    CHECK(trains(text));
  }
  for (const auto* text : {"def train(x):\n    pass\n", "class Trainer:\n    pass\n", "x.fit\n",
                           "print('optimizer')\n", "x.transform(y)\n", "train = 1\n"}) {
    CAPTURE(text);
    CHECK_FALSE(trains(text));
  }
}

TEST_CASE("unguarded names of notebooks are recognised") {
  const auto ipython = [](const std::string& text) {
    return read_python_file(text).ipython_line.value_or(0);
  };
  CHECK(ipython("x = 1\nget_ipython().system('ls')\n") == 2);
  CHECK(ipython("shell = get_ipython()\n") == 1);
  CHECK(ipython("try:\n  get_ipython()\nexcept NameError:\n  pass\n") == 0);
  CHECK(ipython("def f():\n  return get_ipython()\n") == 0);
  CHECK(ipython("if 'get_ipython' in globals(): get_ipython()\n") == 0);
  CHECK(ipython("if x: y = 1; get_ipython()\n") == 0);
  CHECK(ipython("x = get_ipython() if notebook else None\n") == 0);
  CHECK(ipython("from IPython import get_ipython\nget_ipython().system('ls')\n") == 0);
  CHECK(ipython("def get_ipython():\n  pass\nget_ipython()\n") == 0);
  CHECK(ipython("from tools import *\nget_ipython()\n") == 0);
  CHECK(ipython("import IPython\nIPython.get_ipython()\n") == 0);
  CHECK(ipython("# get_ipython()\n'get_ipython()'\n") == 0);
  const auto notebook = [](const std::string& text) {
    return read_python_file(text).notebook_line.value_or(0);
  };
  CHECK(notebook("import os\n%matplotlib inline\n") == 2);
  CHECK(notebook("\n\n!pip install x\n") == 3);
  CHECK(notebook("if x:\n  !ls\n") == 2);
  CHECK(notebook("x = (5\n% 3)\ny = 5 \\\n% 3\n\"\"\"\n%magic\n\"\"\"\n") == 0);
  const auto changes = [](const std::string& text) {
    return read_python_file(text).changes_modules;
  };
  CHECK(changes("os.system('pip install x')\n"));
  CHECK(changes("run([sys.executable, '-m', 'pip', 'install', 'x'])\n"));
  CHECK(changes("sys.modules['x'] = y\n"));
  CHECK(changes("sys.meta_path.append(x)\n"));
  CHECK_FALSE(changes("import sys\nsys.path.append('x')\nsys.exit()\n"));
}

TEST_CASE("import names lead to distributions") {
  CHECK(is_standard_module("json"));
  CHECK(is_standard_module("os.path"));
  CHECK(is_standard_module("distutils"));
  CHECK_FALSE(is_standard_module("yaml"));
  CHECK(usual_distribution("yaml") == "PyYAML");
  CHECK(usual_distribution("sklearn.svm") == "scikit-learn");
  CHECK(usual_distribution("PIL.Image") == "Pillow");
  CHECK(usual_distribution("google.cloud.storage") == "google-cloud-storage");
  CHECK(usual_distribution("google.cloud.tasks") == "google-cloud-tasks");
  CHECK(is_brought_by("cv2", {"opencv-python-headless"}));
  CHECK(is_brought_by("numpy", {"pandas"}));
  CHECK(is_brought_by("onnxruntime", {"onnxruntime-gpu"}));
  CHECK(is_brought_by("google.cloud.tasks", {"google-cloud-tasks"}));
  CHECK(is_brought_by("google.cloud.new_thing.Client", {"google-cloud-new-thing"}));
  CHECK_FALSE(is_brought_by("google.cloud.new_thing", {"google-cloud-storage"}));
  CHECK_FALSE(usual_distribution("google.cloud.new_thing"));
  CHECK_FALSE(usual_distribution("nobody_knows"));
  CHECK(is_known_distribution("opencv-python-headless"));
  CHECK_FALSE(is_known_distribution("nobody-knows"));
  CHECK_FALSE(is_brought_by("yaml", {"yamlfix"}));
  CHECK(is_brought_by("torch", {"torch-nightly"}));
  CHECK_FALSE(is_brought_by("torch", {"torch-geometric"}));
  CHECK(is_brought_by("taming", {"taming-transformers"}));
}

}  // namespace autopack::project::project_imports_test
