#include "engine/container_owner.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "engine/json_lines.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>

namespace autopack::engine {

namespace {

constexpr std::size_t start_time_field = 20;  // of what follows the program's name

std::string text_of(const std::string& path) {
  try {
    return read_file_if_exists(path).value_or("");
  } catch (const Error&) {
    return "";
  }
}

/// Where process ids mean the same: the machine since it was started, the namespace and the user.
std::string process_space() {
  std::error_code ignored;
  const auto names = std::filesystem::read_symlink("/proc/self/ns/pid", ignored);
  const auto boot = text_of("/proc/sys/kernel/random/boot_id");
  return fmt::format("{}/{}/{}", trim(boot), names.string(), ::geteuid());
}

/// When the process `id` began, in ticks since the machine did; empty when that cannot be told.
std::string start_time(const std::string& id) {
  const auto stat = text_of("/proc/" + id + "/stat");
  const auto fields = split(stat.substr(std::min(stat.rfind(')') + 1, stat.size())), ' ');
  return fields.size() > start_time_field ? fields[start_time_field] : "";
}

}  // namespace

std::string this_owner() {
  const auto id = std::to_string(::getpid());
  return fmt::format("{}/{}/{}", process_space(), id, start_time(id));
}

bool has_ended(std::string_view owner) {
  const auto space = process_space() + "/";
  if (!owner.starts_with(space) || space.starts_with('/')) {
    return false;
  }
  const auto rest = split(owner.substr(space.size()), '/');
  pid_t id = 0;
  if (rest.size() != 2 || rest[1].empty() ||
      std::from_chars(rest[0].data(), rest[0].data() + rest[0].size(), id).ec != std::errc{} ||
      id <= 0) {
    return false;
  }
  if (::kill(id, 0) != 0 && errno == ESRCH) {
    return true;
  }
  const auto began = start_time(std::to_string(id));
  return !began.empty() && began != rest[1];
}

std::vector<std::string> left_containers(Api& api) {
  const nlohmann::json filters{{"label", nlohmann::json::array({std::string{owner_label}})},
                               {"status", {"created", "exited", "dead"}}};
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
        has_ended(text_at(*labels, owner_label.data()))) {
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
