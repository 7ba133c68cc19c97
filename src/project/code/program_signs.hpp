#pragma once

#include <cstdint>
#include <string_view>

namespace autopack::project {

/// What running a Python file does, as far as its text shows.
struct ProgramSigns {
  bool guarded{false};  ///< has `if __name__ == "__main__":`
  bool acts{false};   ///< its top level loops, or calls a function of its own, `run()` or the like
  bool calls{false};  ///< its top level calls something
  bool defines{false};  ///< defines a function or a class
  bool trains{false};   ///< uses an optimiser, fits a model, computes gradients
  bool tests{false};    ///< surely imports a tool that tests, installs or runs tasks
  bool serves{false};   ///< surely imports a library of servers or pages

  bool operator==(const ProgramSigns&) const = default;

  /// Returns true if the file is meant to be run: it does more than define things and set them up.
  bool is_program() const { return guarded || acts; }

  /// Returns false if running the file only defines functions and classes.
  bool does_something() const { return is_program() || calls || !defines; }
};

/// Returns the signs in `text`, a Python file, that it is a program.
ProgramSigns read_program_signs(std::string_view text);

/// Convert a set of signs to one byte and back.
std::uint8_t to_byte(const ProgramSigns& signs);
ProgramSigns signs_of_byte(std::uint8_t byte);

}  // namespace autopack::project
