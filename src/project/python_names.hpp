#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// True for what can name a module: ASCII letters, digits (not first), `_`, and letters of other
/// scripts, whichever they are.
bool is_identifier(std::string_view name);

/// True for a top-level module of Python's own library, of any version from 3.7 to 3.14.
bool is_standard_module(std::string_view module);

/// The distributions (PEP 503 names, the usual one first) that bring the dotted `module`:
/// `scikit-learn` for `sklearn.svm`. The top-level name itself when no table knows better.
std::vector<std::string> distributions_of(std::string_view module);

/// The name that a person writes for the first of distributions_of: `PyYAML` for `yaml`.
std::string usual_distribution(std::string_view module);

/// True when a distribution of `named` is the one that brings `module`, a build of it for some
/// hardware (`faiss-cpu`), or one that depends on it as everybody knows (`numpy` by `pandas`).
bool is_brought_by(std::string_view module, const std::vector<std::string>& named);

}  // namespace autopack::project
