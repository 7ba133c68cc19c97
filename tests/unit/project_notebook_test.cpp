#include "base/error.hpp"
#include "project/program/notebook.hpp"
#include "project/project.hpp"
#include "project/requirements/own_lock.hpp"
#include "python/requirement.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace autopack::project_notebook_test {

using namespace autopack::project;
using autopack::source::MemoryTree;

namespace {

using Strings = std::vector<std::string>;

std::string notebook(const Strings& cells, const std::string& more = "") {
  auto list = nlohmann::json::array();
  for (const auto& cell : cells) {
    list.push_back({{"cell_type", "code"}, {"source", cell}, {"outputs", {{{"text", "!ls"}}}}});
  }
  return fmt::format(R"({{"nbformat": 4, "cells": {}{}}})", list.dump(), more);
}

/// Returns faults as `CELL:LINE MESSAGE`.
Strings faults_of(const std::string& text) {
  Strings all;
  for (const auto& fault : translate_notebook(text).faults) {
    all.push_back(fmt::format("{}:{} {}", fault.cell, fault.line, fault.message));
  }
  return all;
}

Strings faults(const Strings& cells) {
  return faults_of(notebook(cells));
}

std::string first_fault(const std::string& text) {
  const auto all = faults_of(text);
  return all.empty() ? "" : all.front();
}

/// Returns the program of one cell, without the first line.
std::string program(const std::string& cell) {
  const auto translated = translate_notebook(notebook({cell}));
  CHECK(faults({cell}) == Strings{});
  return translated.program.substr(translated.program.find('\n') + 1);
}

/// Returns the lines for pip of one cell.
Strings lines(const std::string& cell) {
  CHECK(faults({cell}) == Strings{});
  Strings all;
  for (const auto& line : translate_notebook(notebook({cell})).lines) {
    all.push_back(line.text);
  }
  return all;
}

}  // namespace

TEST_CASE("notebook: code cells become a program, each after a comment with its number") {
  const auto translated = translate_notebook(R"({"nbformat": 4, "nbformat_minor": 5,
    "metadata": {"kernelspec": {"language": "python"}, "language_info": {"name": "python"}},
    "cells": [
      {"cell_type": "markdown", "source": ["!ls"]},
      {"cell_type": "code", "source": ["import os\n", "x = 1"], "outputs": []},
      {"cell_type": "raw", "source": "%run"},
      {"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": "rate = 0.1\r\n"},
      {"cell_type": "code"}]})");
  CHECK(translated.faults.empty());
  CHECK(translated.program ==
        "# %% [cell 2]\nimport os\nx = 1\n\n# %% [cell 4]\nrate = 0.1\n\n\n# %% [cell 5]\n\n");
}

TEST_CASE("notebook: magics without an effect on a program are dropped") {
  CHECK(program("%matplotlib inline\n%load_ext autoreload\n%autoreload 2\n%config A.b = 'c'\nx") ==
        "# %matplotlib inline\n# %load_ext autoreload\n# %autoreload 2\n# %config A.b = 'c'\nx\n");
  CHECK(program("\n%%time\n%%capture out\nfit()") == "\n# %%time\n# %%capture out\nfit()\n");
  CHECK(program("if x:\n    %time fit()\n  %matplotlib inline") ==
        "if x:\n    fit()\n  pass  # %matplotlib inline\n");
  CHECK(program("%time %env A=1") == "import os; os.environ[\"A\"] = \"1\"\n");
}

TEST_CASE("notebook: imports from __future__ may be in any cell") {
  const auto translated = translate_notebook(
      notebook({"import os", "x = 1\nfrom __future__ import print_function, division\nprint(x)"}));
  CHECK(translated.faults.empty());
  CHECK(
      translated.program.find("\n# from __future__ import print_function, division\nprint(x)\n") !=
      std::string::npos);
  CHECK(translate_notebook(notebook({"from __future__ import annotations\nx = 1"})).faults.empty());
  const auto late = translate_notebook(notebook({"x = 1", "from __future__ import annotations"}));
  REQUIRE(late.faults.size() == 1);
  CHECK(late.faults[0].cell == 2);
  CHECK(late.faults[0].message == "`from __future__ import annotations` is not in the first cell");
}

TEST_CASE("notebook: variables are set by Python") {
  CHECK(program("%env A=b c\n%env B 1\n  %set_env C=\"\\x") ==
        "import os; os.environ[\"A\"] = \"b c\"\nimport os; os.environ[\"B\"] = \"1\"\n"
        "  import os; os.environ[\"C\"] = \"\\\"\\\\x\"\n");
  CHECK(faults({"%env\n%env A\n%env A=$B\n%env A={b}\n%env A b=c"}).size() == 5);
}

TEST_CASE("notebook: installations become requirements") {
  CHECK(lines("%pip install a 'b<2' c==1") == Strings{"a", "b<2", "c==1"});
  CHECK(lines("!pip install -q --upgrade a[x] > /dev/null 2>&1\n!pip3 install -qU b  # for c") ==
        Strings{"a[x]", "b"});
  CHECK(lines("!python -m pip install a\n!{sys.executable} -m pip install b\npip install c") ==
        Strings{"a", "b", "c"});
  CHECK(lines("%pip install --index-url https://host/simple a -f https://b --pre \\\n  "
              "--progress-bar off -e . -r more.txt --extra-index-url=https://c") ==
        Strings{"--index-url https://host/simple", "a", "-f https://b", "--pre", ".", "-r more.txt",
                "--extra-index-url https://c"});
  CHECK(program("%pip install a \\\n  b\nx") == "# %pip install a  b\n\nx\n");
  CHECK(program("if x:\n  !pip install a\n") == "if x:\n  pass  # !pip install a\n\n");
  CHECK(faults({"%pip install torch>=2\n!pip install a && ls\n!pip install a=={v}\n"
                "!pip install $A\n%pip install 'a"})
            .size() == 5);
  CHECK(faults({"%pip install a --target x"}) ==
        Strings{"1:1 `--target` of pip has no place in a requirements file"});
}

TEST_CASE("notebook: what only IPython runs is refused, all at once") {
  const std::string is{"` is a command of a notebook"};
  CHECK(faults({"x = 1\n!ls -l\n  %cd a", "%%bash\nls\n!ls", "y = !ls\nz = %who", "?f\nf??",
                "x\n%%time", "%pip list", "!!ls", "/f 1", "%load_ext tensorboard"}) ==
        Strings{"1:2 `!ls -l" + is, "1:3 `%cd a" + is, "2:1 `%%bash" + is, "3:1 `y = !ls" + is,
                "3:2 `z = %who" + is, "4:1 `?f" + is, "4:2 `f??" + is, "5:2 `%%time" + is,
                "6:1 `%pip list" + is, "7:1 `!!ls" + is, "8:1 `/f 1" + is,
                "9:1 `%load_ext tensorboard" + is});
  const auto hints = translate_notebook(notebook({"!apt-get install -y x"})).faults.at(0).hints;
  CHECK(hints.at(0).find("--system-packages") != std::string::npos);
}

TEST_CASE("notebook: names that only a notebook has are refused") {
  CHECK(faults({"", "a\nawait f()\nif x:\n  async with y: pass\nz = [i async for i in j]",
                "async def g():\n  await h()\n  def i():\n    pass\n  await j()\nawait g()"}) ==
        Strings{"2:2 `await` is outside of a function", "2:4 `async` is outside of a function",
                "2:5 `async` is outside of a function", "3:6 `await` is outside of a function"});
  CHECK(faults({"x\nget_ipython().system('ls')"}) ==
        Strings{"1:2 `get_ipython()` exists only in a notebook"});
  CHECK(faults({"display(x)\ny.display(z)", "def f():\n  display(x)"}) ==
        Strings{"1:1 only a notebook has `display()` without an import",
                "2:2 only a notebook has `display()` without an import"});
  const std::string imported = "from IPython.display import display, HTML\ndisplay(x)\n";
  CHECK(program(imported) == imported + "\n");
}

TEST_CASE("notebook: texts and expressions of Python are not taken for commands") {
  for (const std::string cell : {"x = '''\n!ls\n%cd a\n'''",
                                 "y = (5\n% 3)\ny = 5 \\\n% 3\nz = f(\"it's?\", a != b, c=1)  # ?",
                                 "d = {'a': '%s' % 1, \"b\": 'x\\'?'}\nr = r'\\\\'",
                                 "f'{x!r}'\n\"\"\"a\n\"quoted\" ? '''\n!b\"\"\""}) {
    CHECK(program(cell) == cell + "\n");
  }
  CHECK(faults({"f(", "x"}) == Strings{"1:1 the cell ends within a statement"});
  CHECK(faults({"x = '''\n"}) == Strings{"1:2 the cell ends within a statement"});
}

TEST_CASE("notebook: what is not a notebook of Python is refused") {
  const std::string unknown = "0:0 it is not a notebook: not JSON with an `nbformat`";
  CHECK(first_fault("import os") == unknown);
  CHECK(first_fault("[4]") == unknown);
  CHECK(first_fault(std::string(1000, '[')) == unknown);
  CHECK(first_fault(R"({"nbformat": 3, "worksheets": []})") == "0:0 its nbformat is 3, not 4");
  CHECK(first_fault(R"({"nbformat": 4, "cells": {}})") == "0:0 it has no list of cells");
  CHECK(first_fault(R"({"nbformat": 4, "cells": [7, {"cell_type": 1}]})") ==
        "0:0 it has no code cells");
  CHECK(first_fault(notebook({"x"}, R"(,"metadata": {"kernelspec": {"language": "R"}})")) ==
        "0:0 its language is `r`, not Python");
  CHECK(first_fault(notebook({"x"}, R"(,"metadata": {"language_info": {"name": "julia"}})")) ==
        "0:0 its language is `julia`, not Python");
  CHECK(first_fault(notebook({"x"}, R"(,"metadata": 7)")).empty());
  CHECK(first_fault(notebook({std::string(2'000'000, 'x')})) ==
        "0:0 its code is larger than 1.0 MB");
  CHECK(first_fault(notebook(Strings(10'001, "x"))) == "0:0 it has more than 10000 cells");
  CHECK(first_fault(notebook({std::string("x\0y", 3)})) == "1:1 the cell contains a zero byte");
}

TEST_CASE("notebook: the scan sees the program beside the notebook") {
  Request request{.script = "nb/train.ipynb"};
  const auto tree = with_notebook(
      std::make_shared<MemoryTree>(std::map<std::string, std::string>{
          {"nb/a.py", ""},
          {"nb/z.py", ""},
          {"nb/more.txt", "tqdm\n"},
          {"nb/train.ipynb", notebook({"%pip install six --pre -r more.txt", "import a"})}}),
      request);
  Strings listed;
  for (const auto& entry : tree->list("nb")) {
    listed.push_back(entry.path);
  }
  CHECK(listed == Strings{"nb/a.py", "nb/more.txt", "nb/train.ipynb", "nb/train.py", "nb/z.py"});
  CHECK(tree->read("nb/train.py").starts_with("# %% [cell 1]\n"));
  CHECK(tree->find("nb/train.py").value().size == tree->read("nb/train.py").size());
  const auto project = scan(*tree, request);
  CHECK(project.entry.kind == EntryKind::python_script);
  CHECK(project.entry.file == "nb/train.py");
  CHECK(project.notebook == "nb/train.ipynb");
  CHECK(python::texts_of(project.requirements) == Strings{"six"});
  CHECK(project.pip_options == Strings{"--pre"});
  CHECK(project.requirement_files == Strings{"nb/more.txt"});
  CHECK(choices_of_own_lock(request) ==
        Strings{"notebook six", "notebook --pre", "notebook -r more.txt"});
}

TEST_CASE("notebook: a fault names the notebook, the cell and the line") {
  const auto refusal = [](const std::map<std::string, std::string>& files) {
    Request request{.script = "train.ipynb"};
    try {
      const auto tree = with_notebook(std::make_shared<MemoryTree>(files), request);
      scan(*tree, request);
    } catch (const Error& error) {
      const auto& first = error.problems().at(0);
      return first.message + " (" + first.origin.value_or("") + ")";
    }
    return std::string{};
  };
  CHECK(refusal({{"train.ipynb", notebook({"x", "\n!ls"})}}) ==
        "`!ls` is a command of a notebook (train.ipynb cell 2:2)");
  CHECK(refusal({{"train.ipynb", notebook({"%pip install 'a=='"})}}).find("cell 1:1") !=
        std::string::npos);
  CHECK(refusal({{"train.ipynb", notebook({"x"})}, {"train.py", ""}}) ==
        "cannot run `train.ipynb`: its program would replace `train.py` ()");
  CHECK(refusal({{"train.ipynb", "{}"}}) ==
        "cannot run `train.ipynb`: it is not a notebook: not JSON with an `nbformat` ()");
  CHECK(refusal({{"other.ipynb", ""}}) == "script `train.ipynb` does not exist (script)");
  CHECK(refusal({{"train.ipynb", notebook({"x"})}, {".dockerignore", "*.ipynb\n"}}).empty());
}

TEST_CASE("a notebook: findings name the cell and its line") {
  auto tree = std::make_shared<MemoryTree>();
  tree->file("nb/train.ipynb", notebook({"import os\n", "\nimport torch\nx = 1\n"}));
  Request request{.script = "nb/train.ipynb"};
  const auto with = with_notebook(tree, request);
  const Project project{.entry = {.file = request.script}, .notebook = "nb/train.ipynb"};
  const auto named = [&](const std::string& message) {
    Problems problems{{.message = message, .origin = message, .reason = message}};
    name_cells(problems, *with, project);
    CHECK(problems[0].origin == problems[0].message);
    CHECK(problems[0].reason == problems[0].message);
    return problems[0].message;
  };
  CHECK(named("`nb/train.py` line 7 imports `torch`") ==
        "`nb/train.ipynb` cell 2 line 2 imports `torch`");
  CHECK(named("`os` (nb/train.py:2), `torch` (nb/train.py:7)") ==
        "`os` (nb/train.ipynb cell 1:1), `torch` (nb/train.ipynb cell 2:2)");
  for (const std::string text : {"`nb/train.py` is large", "old-nb/train.py:6", "nb/train.py:x",
                                 "nb/train.py:0", "nb/train.py", "train.py:6", ""}) {
    CHECK(named(text) == text);
  }
  Problems problems{{.message = "train.py:6"}};
  name_cells(problems, *tree, {.entry = {.file = "train.py"}});
  CHECK(problems[0].message == "train.py:6");
}

}  // namespace autopack::project_notebook_test
