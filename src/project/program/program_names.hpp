#pragma once

#include <cstdint>
#include <string_view>

namespace autopack::project {

/// The purpose of a file, by its name.
enum class Purpose : std::uint8_t {
  training,  ///< `train.py`, `image_train.py`, `finetune/lora.py`
  entry,     ///< `main.py`, `run_nerf.py`, `__main__.py`
  unknown,   ///< its name does not say
  helper,    ///< for import: `utils.py`, `model.py`
  other,     ///< tests, evaluation, demos, conversion, preparation of data, plots, ...
  tool,      ///< for another tool: `setup.py`, `conftest.py`, `noxfile.py`
};

/// Returns the purpose of the Python file or shell script `path` of a project.
Purpose purpose_of_program(std::string_view path);

/// Returns the purpose of the console script `name`.
Purpose purpose_of_console_script(std::string_view name);

/// Returns true for a directory without training programs, by its name: `tests`, `docs`, `vendor`.
bool is_aside(std::string_view directory_name);

/// Returns true for a directory of demonstrations: `examples`.
bool holds_examples(std::string_view directory_name);

}  // namespace autopack::project
