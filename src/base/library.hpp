#pragma once

namespace autopack {

/// A library that is opened at run time, because loading its dependencies takes longer than whole
/// commands that do not need it. It is never closed: its threads may still run when the process
/// ends.
class Library {
public:
  /// `file_name` is the loader's name for it; `remedy` is the hint that installs it. Throws
  /// Error(environment) if it cannot be opened.
  Library(const char* file_name, const char* remedy);

  /// Throws Error(environment) if the library has no `name`.
  template <class Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(symbol(name));
  }

  /// Throws an Error(environment) that names the library.
  [[noreturn]] void throw_unusable(const char* cause) const;

private:
  void* symbol(const char* name) const;

  const char* file_name_;
  const char* remedy_;
  void* handle_;
};

}  // namespace autopack
