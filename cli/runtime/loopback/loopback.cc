// Preloaded into mpirun and the ranks of a local run: replaces every address that they bind with
// loopback. Open MPI 4.1 has no setting for this: oob_tcp_if_include selects the addresses that
// mpirun tells its ranks, while its socket listens on all of them. Other programs are not affected.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace {

int bind_as_given(int socket, const void* address, socklen_t size) {
  return int(syscall(SYS_bind, socket, address, size));
}

/// Binds an unbound socket to port 0 (the kernel chooses one) on loopback; listen() would otherwise
/// bind it on all addresses.
void bind_if_unbound(int socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return;
  const bool unbound =
      (own.ss_family == AF_INET && reinterpret_cast<sockaddr_in&>(own).sin_port == 0) ||
      (own.ss_family == AF_INET6 && reinterpret_cast<sockaddr_in6&>(own).sin6_port == 0);
  if (unbound) bind(socket, reinterpret_cast<sockaddr*>(&own), size);
}

}  // namespace

extern "C" int bind(int socket, const sockaddr* address, socklen_t size) noexcept {
  if (address != nullptr && address->sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in local;
    std::memcpy(&local, address, sizeof local);
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return bind_as_given(socket, &local, sizeof local);
  }
  if (address != nullptr && address->sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 local;
    std::memcpy(&local, address, sizeof local);
    local.sin6_addr = in6addr_loopback;
    return bind_as_given(socket, &local, sizeof local);
  }
  return bind_as_given(socket, address, size);
}

extern "C" int listen(int socket, int backlog) noexcept {
  bind_if_unbound(socket);
  return int(syscall(SYS_listen, socket, backlog));
}
