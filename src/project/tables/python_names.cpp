#include "project/tables/python_names.hpp"

#include "base/text.hpp"
#include "project/tables/tables.hpp"

#include <algorithm>

namespace autopack::project {

bool is_identifier(std::string_view name) {
  return !name.empty() && name.find_first_of("0123456789") != 0 &&
         std::ranges::all_of(name, [](char c) {
           return is_alphanumeric({&c, 1}, "_") || static_cast<unsigned char>(c) >= 0x80;
         });
}

bool is_standard_module(std::string_view module) {
  const auto name = module.substr(0, module.find('.'));
  return name.starts_with('_') || std::ranges::binary_search(standard_module_names(), name);
}

}  // namespace autopack::project
