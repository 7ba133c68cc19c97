#include "base/library.hpp"

#include "base/error.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace autopack {

Library::Library(const char* file_name, const char* remedy)
    : file_name_{file_name}, remedy_{remedy}, handle_{::dlopen(file_name, RTLD_LAZY | RTLD_LOCAL)} {
  if (handle_ == nullptr) {
    const char* reason = ::dlerror();
    throw_unusable(reason != nullptr ? reason : "it is not found");
  }
}

void Library::throw_unusable(const char* cause) const {
  throw Error(ErrorKind::environment, fmt::format("the library `{}` cannot be used", file_name_))
      .cause(cause)
      .hint(remedy_);
}

void* Library::symbol(const char* name) const {
  void* found = ::dlsym(handle_, name);
  if (found == nullptr) {
    throw_unusable(fmt::format("it has no `{}`", name).c_str());
  }
  return found;
}

}  // namespace autopack
