#include "base/spawn.hpp"

#include <csignal>

namespace autopack {

SpawnAttributes::SpawnAttributes(bool own_session) {
  sigset_t none{};
  sigemptyset(&none);
  sigset_t defaults{};
  sigfillset(&defaults);

  struct sigaction hang_up {};

  if (::sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler == SIG_IGN) {
    sigdelset(&defaults, SIGHUP);
  }
  posix_spawnattr_init(&attributes_);
  posix_spawnattr_setsigmask(&attributes_, &none);
  posix_spawnattr_setsigdefault(&attributes_, &defaults);
  posix_spawnattr_setflags(&attributes_,
                           static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              (own_session ? POSIX_SPAWN_SETSID : 0)));
}

SpawnAttributes::~SpawnAttributes() {
  posix_spawnattr_destroy(&attributes_);
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const auto& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace autopack
