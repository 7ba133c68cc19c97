#include "project/program/opened_paths.hpp"

#include <doctest/doctest.h>

#include <string>

namespace autopack::project::project_opened_paths_test {

namespace {

OpenedFrom opened(const std::string& line, const std::string& rest = "") {
  return opened_from("import x\n" + line + "\n" + rest, 2, "conf/a.yaml");
}

}  // namespace

TEST_CASE("a file is read where the code says so") {
  using From = OpenedFrom;
  CHECK(opened("for l in open('conf/a.yaml'): pass") == From::directory);
  CHECK(opened("with open(\"conf/a.yaml\", 'rb') as f:") == From::directory);
  CHECK(opened("Path('conf/a.yaml').read_text()") == From::directory);
  CHECK(opened("t = pd.read_csv(r'conf/a.yaml')") == From::directory);
  CHECK(opened("p.add_argument('--config', default='conf/a.yaml')") == From::directory);
  CHECK(opened("(Path(__file__).parent / 'conf/a.yaml').read_text()") == From::file);
  CHECK(opened("x = open(os.path.join(HERE, 'conf/a.yaml'))", "HERE = dirname(__file__)") ==
        From::file);

  CHECK(opened("with open('conf/a.yaml', 'w') as f:") == From::nowhere);
  CHECK(opened("open('conf/a.yaml', mode='ab')") == From::nowhere);
  CHECK(opened("yaml.dump(x, open('conf/a.yaml'))") == From::nowhere);
  CHECK(opened("Path('conf/a.yaml').write_text('')") == From::nowhere);
  CHECK(opened("open(BASE / 'conf/a.yaml')") == From::nowhere);
  CHECK(opened("print('conf/a.yaml')") == From::nowhere);
  CHECK(opened("names = ['b', 'conf/a.yaml']") == From::nowhere);
  CHECK(opened("x = my_config('conf/a.yaml')") == From::directory);
}

TEST_CASE("a constant is read where it is given to what reads") {
  const auto opened = [](const std::string& rest) {
    return opened_from("VOCAB = 'data/vocab.txt'\n" + rest, 1, "data/vocab.txt");
  };
  CHECK(opened("with open(VOCAB) as f: pass\n") == OpenedFrom::directory);
  CHECK(opened("x = np.loadtxt(VOCAB)\n") == OpenedFrom::directory);
  CHECK(opened("with open(VOCAB, 'w') as f: pass\n") == OpenedFrom::nowhere);
  CHECK(opened("with open(VOCAB_2) as f: pass\n") == OpenedFrom::nowhere);
  CHECK(opened("print(VOCAB)\n") == OpenedFrom::nowhere);
  CHECK(opened_from("X = made('a.txt')\nload(X)\n", 1, "a.txt") == OpenedFrom::nowhere);
}

}  // namespace autopack::project::project_opened_paths_test
