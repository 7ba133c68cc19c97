#include "project/code/removed_names.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace autopack::project {

namespace {

bool is_gone(const RemovedName& row, const python::Version& python) {
  return python >= python::Version{.release = {3, row.minor}};
}

bool has_word(std::string_view words, std::string_view word) {
  const auto all = split(words, ' ');
  return contains(all, word);
}

}  // namespace

const RemovedName* find_removed_module(std::string_view module, const python::Version& python) {
  for (const RemovedName& row : removed_names()) {
    if (row.is_module() && row.module == module && is_gone(row, python)) {
      return &row;
    }
  }
  return nullptr;
}

std::optional<RemovedImport> find_removed(const Import& import, const python::Version& python) {
  const auto top = std::string_view{import.module}.substr(0, import.module.find('.'));
  if (const auto* const row = find_removed_module(top, python)) {
    return RemovedImport{.row = row, .name = top};
  }
  for (const RemovedName& row : removed_names()) {
    if (row.is_module() || row.module != import.module || !is_gone(row, python)) {
      continue;
    }
    for (const auto& name : import.names) {
      if (has_word(row.names, name)) {
        return RemovedImport{.row = &row, .name = name};
      }
    }
  }
  return std::nullopt;
}

}  // namespace autopack::project
