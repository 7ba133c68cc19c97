#include "project/code/python_uses.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace autopack::project_uses_test {

using namespace autopack::project;

namespace {

std::string text_of(const std::vector<PythonUse>& uses) {
  std::string text;
  for (const auto& use : uses) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", use.name, use.line);
    text += use.function.empty() ? "" : " in " + use.function;
    text += use.when_main ? " main" : "";
  }
  return text;
}

std::string programs(std::string_view text) {
  return text_of(read_python_uses(text).programs);
}

std::string files(std::string_view text) {
  return text_of(read_python_uses(text).files);
}

}  // namespace

TEST_CASE("uses: programs that a Python file starts") {
  CHECK(programs("import subprocess\nsubprocess.run(['sox', x])\n") == "sox:2");
  CHECK(programs("import subprocess as sp\nsp.check_call(\"ffmpeg -i a\", shell=True)\n") ==
        "ffmpeg:2");
  CHECK(programs("from subprocess import check_output as go\ngo(args=('sox', 'x'))\n") == "sox:2");
  CHECK(programs("import os\nos.system(f'ffmpeg -i {x}')\nos.popen('sox')\n") == "ffmpeg:2 sox:3");
  CHECK(programs("import subprocess\ndef f():\n  c = ['sox', a]\n  return subprocess.run(c, "
                 "check=True)\n") == "sox:4 in f");
  CHECK(programs("import os\nif __name__ == '__main__':\n  os.system('sox x')\n") == "sox:3 main");
  CHECK(programs(
            "import os\nclass A:\n  def g(self):\n    for x in y:\n      os.system('sox x')\n") ==
        "sox:5 in g");
  CHECK(programs("import subprocess, shlex\nsubprocess.run(shlex.split('sox x'))\n") == "sox:2");
}

TEST_CASE("uses: a program that the file can do without, or whose name is not known") {
  for (const auto* const text :
       {"import os\ntry:\n  os.system('sox x')\nexcept OSError:\n  pass\n",
        "import os\nif x:\n  os.system('sox x')\n",
        "import os\ndef f():\n  if x:\n    pass\n  else:\n    os.system('sox x')\n",
        "import os, shutil\ns = shutil.which('sox')\nos.system('sox x')\n",
        "import os\nif os.system('sox x') == 0:\n  pass\n",
        "import os\ny = x and os.system('sox x')\n",
        "import os\nfrom contextlib import suppress\nwith suppress(E):\n  os.system('sox x')\n",
        "import os\nos.system(command)\nos.system('so' + x)\nos.system(f'{x} sox')\n",
        "import os\nos.system('./sox x')\nos.system('A=1 sox')\nrun(['sox'])\n",
        "import subprocess\nsubprocess.run([sys.executable, 'x'])\nfoo.run(['sox'])\n"}) {
    CAPTURE(text);
    CHECK(programs(text).empty());
  }
}

TEST_CASE("uses: files that are opened to be read") {
  CHECK(files("open('../a.yaml')\nwith open(\"b.txt\", 'rb') as f:\n  pass\n") ==
        "../a.yaml:1 b.txt:2");
  CHECK(files("import pandas as pd\npd.read_csv('x.csv')\nyaml.safe_load(open('a.yaml'))\n") ==
        "x.csv:2 a.yaml:3");
  CHECK(files("Path('a').read_text()\nPath('b').open('w')\nPath('c') / 'd'\n(x / Path('e'))\n") ==
        "a:1");
  CHECK(files("open('a', 'w')\nopen(x)\nopen(f'{a}')\nopen('/etc/x')\nopen(b + 'x')\n"
              "open(os.path.join(d, 'x'))\nimage.open('x')\n") == "");
}

TEST_CASE("uses: what changes where Python and the program look") {
  const auto uses =
      read_python_uses("import sys\nsys.path.append('..')\nsys.path.insert(0, 'src')\n");
  CHECK(uses.path_texts == std::vector<std::string>{"..", "src"});
  CHECK_FALSE(uses.computes_path);
  CHECK(read_python_uses("sys.path.append(os.path.dirname(__file__))\n").computes_path);
  CHECK(read_python_uses("import os\nos.chdir('x')\n").changes_directory);
}

TEST_CASE("uses: whether a text surely mentions a name") {
  CHECK(surely_mentions("def f():\n  pass\nf()\n", "f"));
  CHECK(surely_mentions("x = map(f, y)\n", "f"));
  CHECK_FALSE(surely_mentions("from a import f\ndef f():\n  pass\n", "f"));
  CHECK_FALSE(surely_mentions("if x:\n  f()\n", "f"));
}

}  // namespace autopack::project_uses_test
