#pragma once

#include <cstdint>
#include <string_view>

namespace autopack::project {

/// What a file is for, by its name.
enum class Purpose : std::uint8_t {
  training,  ///< `train.py`, `image_train.py`, `finetune/lora.py`
  entry,     ///< `main.py`, `run_nerf.py`, `__main__.py`
  unknown,   ///< its name does not say
  helper,    ///< what programs import: `utils.py`, `model.py`
  other,     ///< tests, evaluation, demos, conversion, preparation of data, plots, ...
  tool,      ///< of another tool: `setup.py`, `conftest.py`, `noxfile.py`
};

/// What the Python file or shell script `path` of a project is for.
Purpose purpose_of_program(std::string_view path);

/// What the console script `name` is for.
Purpose purpose_of_console_script(std::string_view name);

/// True of a directory that holds no program to train with, by its name: `tests`, `docs`, `vendor`.
bool is_aside(std::string_view directory_name);

/// True of a directory that shows how something is used: `examples`.
bool holds_examples(std::string_view directory_name);

}  // namespace autopack::project
