#include "rootless/runtime.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "image/runtime_configuration.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace autopack::rootless {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The variables of the runtimes themselves; those of an image could make them load its files.
std::vector<std::string> own_variables() {
  return {fmt::format("PATH={}", image::usual_path), "LC_ALL=C"};
}

/// Returns a file in memory with these texts, each with a NUL at its end.
FileDescriptor in_memory(const std::vector<std::string>& texts) {
  FileDescriptor file{::memfd_create("options", MFD_CLOEXEC)};
  std::string bytes;
  for (const auto& text : texts) {
    bytes.append(text).push_back('\0');
  }
  if (!file ||
      ::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      ::lseek(file.get(), 0, SEEK_SET) != 0) {
    throw Error(ErrorKind::environment, "cannot keep a file in memory").cause(std::strerror(errno));
  }
  return file;
}

class Bubblewrap : public Runtime {
public:
  explicit Bubblewrap(std::string path) : path_{std::move(path)} {}

  const std::string& name() const override { return name_; }

  Confined start(const Program& program,
                 const fs::path& root,
                 const fs::path& /*scratch*/) override {
    options_ = in_memory(bubblewrap_options(program, root));
    Confined confined{.words = {path_, "--args", std::to_string(options_.get()), "--"},
                      .environment = own_variables(),
                      .inherited = options_.get()};
    confined.words.insert(confined.words.end(), program.words.begin(), program.words.end());
    return confined;
  }

private:
  std::string path_;
  std::string name_{"bwrap"};
  FileDescriptor options_{-1};
};

class OciRuntime : public Runtime {
public:
  OciRuntime(std::string name, std::string path) : path_{std::move(path)}, name_{std::move(name)} {}

  const std::string& name() const override { return name_; }

  Confined start(const Program& program, const fs::path& root, const fs::path& scratch) override {
    const auto bundle = scratch / "bundle";
    write_file(bundle / "config.json", bundle_configuration(program, root), FileMode::secret);
    Confined confined{.words = {path_, "--root", (scratch / "state").string()},
                      .environment = own_variables(),
                      .cgroups = is_crun() ? Cgroups::hidden : Cgroups::read_only};
    if (is_crun()) {
      confined.words.emplace_back("--cgroup-manager=disabled");
    }
    for (const auto& word : {std::string{"run"}, std::string{"--bundle"}, bundle.string(),
                             fmt::format("autopack-{}", ::getpid())}) {
      confined.words.push_back(word);
    }
    return confined;
  }

private:
  bool is_crun() const { return name_ == "crun"; }

  std::string path_;
  std::string name_;
};

/// The runtimes, the preferred one first, and what to run to see whether they work.
struct Known {
  const char* name;
  std::vector<std::string> test;
};

const std::vector<Known>& known_runtimes() {
  static const std::vector<Known> all{
      {"bwrap",
       {"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--as-pid-1",
        "--", "/bin/true"}},
      {"crun", {"--version"}},
      {"runc", {"--version"}},
  };
  return all;
}

/// Throws why `path` does not work here.
void try_out(const std::string& path, const std::vector<std::string>& arguments) {
  Confined confined{.words = {path}, .environment = own_variables()};
  confined.words.insert(confined.words.end(), arguments.begin(), arguments.end());
  const int status = ConfinedProcess{confined}.wait();
  if (status != 0) {
    throw Error(ErrorKind::environment, fmt::format("`{}` does not work here", path))
        .cause(fmt::format("`{}` ends with status {}", join(confined.words, " "), status));
  }
}

}  // namespace

std::unique_ptr<Runtime> find_runtime(const Environment& environment) {
  // Debian has runc in a directory that only root's PATH has.
  const auto path = environment.get("PATH").value_or("") + ":/usr/local/sbin:/usr/sbin:/sbin";
  std::optional<Error> failure;
  for (const auto& known : known_runtimes()) {
    const auto program = find_program(known.name, path);
    if (!program) {
      continue;
    }
    try {
      try_out(*program, known.test);
    } catch (Error& error) {
      if (!failure) {
        failure = std::move(error);
      }
      continue;
    }
    if (std::string_view{known.name} == "bwrap") {
      return std::make_unique<Bubblewrap>(*program);
    }
    return std::make_unique<OciRuntime>(known.name, *program);
  }
  if (failure) {
    throw *failure;
  }
  throw Error(ErrorKind::environment,
              "there is no program here that runs an image without an engine")
      .cause("none of `bwrap`, `crun` and `runc` is installed")
      .hint("apt-get install bubblewrap");
}

std::vector<std::string> bubblewrap_options(const Program& program, const fs::path& root) {
  std::vector<std::string> options{"--bind",   root.string(),   "/",         "--dev",
                                   "/dev",     "--proc",        "/proc",     "--ro-bind",
                                   "/sys",     "/sys",          "--bind",    "/dev/shm",
                                   "/dev/shm", "--unshare-pid", "--as-pid-1"};
  const auto add = [&](std::initializer_list<std::string> words) {
    options.insert(options.end(), words);
  };
  for (const auto& mount : program.mounts) {
    add({mount.read_only ? "--ro-bind" : "--bind", mount.host_path, mount.container_path});
  }
  if (program.user != 0) {
    add({"--unshare-user", "--uid", std::to_string(program.user), "--gid",
         std::to_string(program.group)});
  } else {
    add({"--cap-drop", "ALL"});
    for (const auto* name : image::container_capabilities) {
      add({"--cap-add", name});
    }
  }
  add({"--chdir", program.directory, "--clearenv"});
  for (const auto& [name, value] : program.environment) {
    add({"--setenv", name, value});
  }
  return options;
}

std::string bundle_configuration(const Program& program, const fs::path& root) {
  auto variables = json::array();
  for (const auto& [name, value] : program.environment) {
    variables.push_back(fmt::format("{}={}", name, value));
  }
  auto mounts = image::machine_mounts();
  for (const auto& one : program.mounts) {
    mounts.push_back(image::runtime_mount(one.container_path, "bind", one.host_path,
                                          {"rbind", one.read_only ? "ro" : "rw"}));
  }
  json process{{"terminal", program.has_terminal},
               {"user", {{"uid", 0}, {"gid", 0}}},
               {"args", program.words},
               {"env", std::move(variables)},
               {"cwd", program.directory},
               {"noNewPrivileges", true},
               {"capabilities", image::runtime_capabilities()}};
  if (program.size) {
    process["consoleSize"] = {{"height", program.size->rows}, {"width", program.size->columns}};
  }
  return write_json(json{
      {"ociVersion", "1.0.2"},
      {"process", process},
      {"root", {{"path", root.string()}, {"readonly", false}}},
      {"mounts", std::move(mounts)},
      {"linux", {{"namespaces", json::array({json{{"type", "pid"}}, json{{"type", "mount"}}})}}}});
}

}  // namespace autopack::rootless
