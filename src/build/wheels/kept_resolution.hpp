#pragma once

#include "build/wheels/own_package.hpp"
#include "executor/python_facts.hpp"
#include "executor/remembered/repository_facts.hpp"
#include "packaging/packaging.hpp"
#include "python/interpreter.hpp"
#include "services/services.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::build {

/// The lock that uv made of the requirements of `work` and its package `own`, as this machine keeps
/// it and as a repository remembers it: the same one for the same text, executor image and
/// indexes.
class KeptResolution {
public:
  KeptResolution(Services& services,
                 const packaging::Packaging& work,
                 const executor::PythonFacts& facts,
                 const FoundOwnPackage& own);

  /// Returns the request's own lock, else the kept one; nothing if there is none.
  std::optional<std::string> text() const {
    return given_ ? given_ : services_.wheel_records.get(name_);
  }

  /// Returns the last lock of this project, for whatever text.
  std::optional<std::string> last() const { return services_.wheel_records.get(last_); }

  /// Takes from `facts` what this machine lacks. Ignores texts that are not locks for
  /// `interpreter`.
  void take_remembered(RepositoryFacts& facts, const python::Interpreter& interpreter);

  /// Returns `lock` with its time, in seconds since 1970, as it is kept.
  std::string keep(const std::string& lock, std::int64_t seconds);

  /// Returns `text` by its keys in a repository; empty if it names an index with a login.
  std::map<std::string, std::string> as_remembered(const std::string& text) const;

  /// Returns the time in a text that keep() returned; nothing if there is none.
  static std::optional<std::int64_t> time_of(std::string_view text);

private:
  std::string key_of_text() const;

  Services& services_;
  std::optional<std::string> given_;
  std::string name_{};
  std::string last_{};
  bool has_login_{false};
};

}  // namespace autopack::build
