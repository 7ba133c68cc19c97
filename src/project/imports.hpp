#pragma once

#include "project/project.hpp"
#include "python/marker.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// One `import` of a Python file.
struct Import {
  std::string module{};  ///< dotted; without the dots of a relative one, so it may be empty
  int level{0};          ///< dots of a relative import
  std::vector<std::string> names{};  ///< of `from module import names`
  int line{0};                       ///< 1-based
  bool nested{false};                ///< in a function or another block
  bool optional{false};              ///< below `try`, `if` and the like: its failure may be meant
  bool when_main{false};             ///< below `if __name__ == "__main__":`
};

struct PythonFile {
  std::vector<Import> imports{};
  bool changes_path{false};  ///< names `sys.path`: where it finds modules is not known
  int python2_line{0};       ///< 1-based, of the first `print "..."`; 0: none
};

/// What `text` imports, without running it.
PythonFile read_imports(std::string_view text);

/// Distributions (PEP 503 names) that requirements, extra packages and the project's own metadata
/// name, and the top-level modules that local ones among them bring, as normalised names. Sorted.
struct NamedDistributions {
  std::vector<std::string> names{};
  bool certain{true};  ///< false: something is named in a way that cannot be read
};

/// Lines whose markers do not hold in `environment` name nothing.
NamedDistributions named_distributions(const source::Tree& tree,
                                       const Project& project,
                                       const python::MarkerEnvironment& environment = {});

}  // namespace autopack::project
