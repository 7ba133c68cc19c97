#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "build/wheels/byte_code.hpp"
#include "engine/docker.hpp"
#include "executor/probe.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace autopack::build {

namespace {

/// Returns a descriptor to read `text`; no other process has access to it.
FileDescriptor in_memory(const std::string& text) {
  FileDescriptor file{::memfd_create("sources", MFD_CLOEXEC)};
  std::size_t written = 0;
  while (file && written < text.size()) {
    const auto count = ::write(file.get(), text.data() + written, text.size() - written);
    if (count < 0 && errno != EINTR) {
      throw std::system_error{errno, std::generic_category(), "memfd"};
    }
    written += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  if (!file || ::lseek(file.get(), 0, SEEK_SET) != 0) {
    throw std::system_error{errno, std::generic_category(), "memfd"};
  }
  return file;
}

/// Returns the executor image's compiler in the engine; pulls the image if it is missing.
ByteCompiler compiler_in_engine(Services& services,
                                const packaging::Packaging& work,
                                const python::Interpreter& interpreter) {
  const auto base = std::make_shared<executor::BuildBase>(services.docker(), work.plan().base);
  const auto run = [&docker = services.docker(), base,
                    python = interpreter.executable](const std::string& input) {
    std::string output;
    std::string errors;
    const auto file = in_memory(input);
    const int status = docker.run({.image = base->from(),
                                   .command = byte_compiler_command(python),
                                   .environment = byte_compiler_environment(),
                                   .host_ipc = false,
                                   .network_mode = "none",
                                   .interactive = true},
                                  {.input = file.get(),
                                   .output = [&](std::string_view bytes) { output += bytes; },
                                   .errors = [&](std::string_view bytes) { errors += bytes; }});
    if (status != 0) {
      throw Error(ErrorKind::environment,
                  fmt::format("`{}` of the executor image could not make byte code", python))
          .cause(printable(trim(errors)));
    }
    return output;
  };
  return {.words = "the executor image's own Python, in the docker engine",
          .identity = fmt::format("{} {}", base->from(), interpreter.executable),
          .run = run};
}

}  // namespace

ByteCompiler find_compiler(Services& services,
                           const packaging::Packaging& work,
                           const python::Interpreter& interpreter) {
  if (auto here = find_compiler_here(services, interpreter)) {
    return std::move(*here);
  }
  try {
    if (work.request().uses_cloud_build) {
      throw Error(ErrorKind::environment, "`--builder=cloud-build` uses none");
    }
    return compiler_in_engine(services, work, interpreter);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) {
      throw;
    }
    throw Error(ErrorKind::environment,
                fmt::format("`--compile-bytecode` needs Python {}, that of the executor image",
                            interpreter.version.str()))
        .cause("this machine has no such Python, and there is no docker engine: " +
               std::string{error.what()})
        .hint("install that Python here, or start the engine")
        .hint("without `--compile-bytecode` Python makes byte code where the program runs");
  }
}

}  // namespace autopack::build
