#include "engine/container_owner.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "engine/json_lines.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <filesystem>
#include <optional>

namespace autopack::engine {

namespace {

constexpr std::size_t start_time_field = 20;  // after the program's name
constexpr std::size_t machine_digits = 16;

std::string text_of(const std::string& path) {
  try {
    return read_file_if_exists(path).value_or("");
  } catch (const Error&) {
    return "";
  }
}

/// Returns a hash that identifies this machine without exposing its id; empty if it has none.
std::string machine() {
  const std::string id{trim(text_of("/etc/machine-id"))};
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (id.empty() || ::gethostname(name.data(), name.size() - 1) != 0) {
    return "";
  }
  // Hashes the name too, because containers of one image and copies of a machine share the id.
  return sha256(fmt::format("{} {}", id, name.data())).hex().substr(0, machine_digits);
}

/// Returns when the process `id` started, in ticks since boot; empty if unknown.
std::string start_time(const std::string& id) {
  const auto stat = text_of("/proc/" + id + "/stat");
  const auto fields = split(stat.substr(std::min(stat.rfind(')') + 1, stat.size())), ' ');
  return fields.size() > start_time_field ? fields[start_time_field] : "";
}

struct Owner {
  std::string machine{};     ///< empty if unknown
  std::string boot{};        ///< identifies the boot; empty if unknown
  std::string name_space{};  ///< the namespace of process ids
  std::string user{};
  std::string process{};
  std::string began{};
};

Owner this_process() {
  std::error_code ignored;
  auto id = std::to_string(::getpid());
  auto began = start_time(id);
  return {.machine = machine(),
          .boot = std::string{trim(text_of("/proc/sys/kernel/random/boot_id"))},
          .name_space = std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string(),
          .user = std::to_string(::geteuid()),
          .process = std::move(id),
          .began = std::move(began)};
}

std::optional<Owner> parse_owner(std::string_view text) {
  auto parts = split(text, '/');
  if (parts.size() != 6) {
    return std::nullopt;
  }
  return Owner{.machine = std::move(parts[0]),
               .boot = std::move(parts[1]),
               .name_space = std::move(parts[2]),
               .user = std::move(parts[3]),
               .process = std::move(parts[4]),
               .began = std::move(parts[5])};
}

}  // namespace

std::string this_owner() {
  const auto here = this_process();
  return fmt::format("{}/{}/{}/{}/{}/{}", here.machine, here.boot, here.name_space, here.user,
                     here.process, here.began);
}

bool has_ended(std::string_view owner) {
  const auto theirs = parse_owner(owner);
  const auto here = this_process();
  if (!theirs || here.boot.empty() || theirs->boot != here.boot ||
      theirs->name_space != here.name_space || theirs->user != here.user) {
    return false;
  }
  const auto& id = theirs->process;
  pid_t number = 0;
  if (theirs->began.empty() ||
      std::from_chars(id.data(), id.data() + id.size(), number).ec != std::errc{} || number <= 0) {
    return false;
  }
  if (::kill(number, 0) != 0 && errno == ESRCH) {
    return true;
  }
  const auto began = start_time(std::to_string(number));
  return !began.empty() && began != theirs->began;
}

bool has_ended_here(std::string_view owner) {
  const auto theirs = parse_owner(owner);
  const auto here = this_process();
  const bool started_again = theirs && !theirs->boot.empty() && !here.boot.empty() &&
                             theirs->boot != here.boot && !theirs->machine.empty() &&
                             theirs->machine == here.machine && theirs->user == here.user;
  return started_again || has_ended(owner);
}

bool is_left(const Api& api, const nlohmann::json& labels) {
  const auto owner = text_at(labels, owner_label.data());
  return api.is_local() ? has_ended_here(owner) : has_ended(owner);
}

std::vector<std::string> left_containers(Api& api) {
  nlohmann::json filters{{"label", nlohmann::json::array({std::string{owner_label}})},
                         {"status", {"created", "exited"}}};
  if (!api.info().podman) {
    filters["status"].push_back("dead");  // Podman refuses the word
  }
  const auto response = api.send_ok(
      api.short_request("list containers", "GET",
                        "/containers/json?all=1&filters=" + percent_encode(write_json(filters))));
  std::vector<std::string> left;
  for (const auto& one : parse_json(response.body)) {
    const auto names = one.is_object() ? one.find("Names") : one.end();
    const auto labels = one.is_object() ? one.find("Labels") : one.end();
    if (names == one.end() || !names->is_array() || names->empty() || labels == one.end()) {
      continue;
    }
    const auto name = names->front().is_string() ? names->front().get<std::string>() : "";
    if (name.starts_with("/autopack-") &&
        name.find_first_not_of("0123456789abcdef", 10) == std::string::npos &&
        is_left(api, *labels)) {
      left.push_back(name.substr(1));
    }
  }
  return left;
}

void remove_left_containers(Api& api) noexcept {
  try {
    for (const auto& name : left_containers(api)) {
      api.send(api.short_request("remove a container", "DELETE", "/containers/" + name + "?v=1"));
    }
  } catch (const std::exception& error) {
    if (api.reporter() != nullptr) {
      api.reporter()->detail(error.what());
    }
  }
}

}  // namespace autopack::engine
