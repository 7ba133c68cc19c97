// All that the images of engine_tests hold: a static program, so that no base image is needed.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace {

volatile std::sig_atomic_t received = 0;

void on_signal(int number) {
  received = number;
}

/// Each entry below `folder`: mode, owner, time, path.
int list(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    struct stat status = {};

    ::lstat(path.c_str(), &status);
    std::cout << std::oct << (status.st_mode & 07777U) << std::dec << ' ' << status.st_uid << ':'
              << status.st_gid << ' ' << status.st_mtime << ' ' << path << '\n';
  }
  return 0;
}

int wait_for_signal() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    std::signal(number, on_signal);
  }
  std::cout << "ready" << std::endl;
  while (received == 0) {
    ::usleep(10'000);
  }
  std::cout << "signal " << received << std::endl;
  return 40 + received;
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> words(values + 1, values + count);
  const std::string verb = words.empty() ? "" : words[0];
  const std::string word = words.size() > 1 ? words[1] : "";
  if (verb == "echo") {
    std::cout << word << '\n';
    return 0;
  }
  if (verb == "complain") {
    std::cerr << word << '\n';
    return 7;
  }
  if (verb == "cat") {
    std::cout << std::cin.rdbuf();
    return 0;
  }
  if (verb == "env") {
    const char* value = std::getenv(word.c_str());
    std::cout << (value == nullptr ? "unset" : value) << '\n';
    return 0;
  }
  if (verb == "tty") {
    std::cout << (::isatty(1) == 1 ? "a terminal" : "no terminal") << '\n';
    return 0;
  }
  if (verb == "list") {
    return list(word);
  }
  if (verb == "wait") {
    return wait_for_signal();
  }
  if (verb == "sleep") {
    ::sleep(static_cast<unsigned>(std::stoul(word)));
    return 0;
  }
  return 9;
}
