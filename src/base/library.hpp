#pragma once

namespace autopack {

/// A library that is opened at run time, because the libraries which it needs take longer to load
/// than the commands that do without it take as a whole. It stays open: its threads may still run
/// at the process's end.
class Library {
public:
  /// `file_name` as the loader looks for it; `remedy` says how to install it. Throws
  /// Error(environment) when it cannot be opened.
  Library(const char* file_name, const char* remedy);

  /// Throws Error(environment) when the library has no `name`.
  template <class Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(symbol(name));
  }

  /// Error(environment) that names the library.
  [[noreturn]] void throw_unusable(const char* cause) const;

private:
  void* symbol(const char* name) const;

  const char* file_name_;
  const char* remedy_;
  void* handle_;
};

}  // namespace autopack
