// Measures the links between MPI ranks and prints one JSON object from rank 0: the host of each
// rank, the bandwidth inside a node, between two nodes, and from all nodes into the first, and the
// time of an all-reduce with the ring ordered by node and interleaved over nodes. For tests;
// asserts nothing.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int kTimes = 5;  // what is measured so often, of which the median counts
constexpr int kMegabyte = 1'000'000;

std::vector<std::string> hosts_by_rank(int ranks) {
  constexpr int kWidth = MPI_MAX_PROCESSOR_NAME;
  std::vector<char> own(kWidth), all(std::size_t(kWidth) * std::size_t(ranks));
  int length = 0;
  MPI_Get_processor_name(own.data(), &length);
  MPI_Allgather(own.data(), kWidth, MPI_CHAR, all.data(), kWidth, MPI_CHAR, MPI_COMM_WORLD);
  std::vector<std::string> hosts;
  for (int r = 0; r < ranks; ++r) hosts.emplace_back(&all[std::size_t(r) * std::size_t(kWidth)]);
  return hosts;
}

/// The median time of `work`, which every rank calls; from its start to when the last is done.
double seconds(const std::function<void()>& work) {
  work();  // connections are made at first use
  std::vector<double> times;
  for (int i = 0; i < kTimes; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    work();
    MPI_Barrier(MPI_COMM_WORLD);
    times.push_back(MPI_Wtime() - start);
  }
  std::nth_element(times.begin(), times.begin() + kTimes / 2, times.end());
  return times[kTimes / 2];
}

/// Bytes a second that rank 0 receives when each of `senders` sends it `size` bytes at once.
double into_first(int rank, const std::vector<int>& senders, int size) {
  const bool sends = std::find(senders.begin(), senders.end(), rank) != senders.end();
  std::vector<std::vector<char>> in(rank == 0 ? senders.size() : 0, std::vector<char>(size));
  const std::vector<char> out(sends ? std::size_t(size) : 0);
  const double time = seconds([&] {
    std::vector<MPI_Request> requests(in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
      MPI_Irecv(in[i].data(), size, MPI_CHAR, senders[i], 0, MPI_COMM_WORLD, &requests[i]);
    if (sends) MPI_Send(out.data(), size, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  });
  return double(senders.size()) * size / time;
}

/// Seconds of an all-reduce over all ranks, which stand in the order of `place`.
double all_reduce(int place, int size) {
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, place, &ring);
  std::vector<float> in(std::size_t(size) / sizeof(float)), out(in.size());
  const double time = seconds(
      [&] { MPI_Allreduce(in.data(), out.data(), int(in.size()), MPI_FLOAT, MPI_SUM, ring); });
  MPI_Comm_free(&ring);
  return time;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<std::string> hosts = hosts_by_rank(ranks);
  std::vector<std::string> nodes = hosts;
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const auto node_of = [&](int r) {
    return int(std::find(nodes.begin(), nodes.end(), hosts[std::size_t(r)]) - nodes.begin());
  };

  int peer = 0, local = 0;  // the first rank beside rank 0; this rank's number on its node
  std::vector<int> others;  // one rank of every other node
  std::vector<int> seen(nodes.size());
  for (int r = 0; r < ranks; ++r) {
    const int number = seen[std::size_t(node_of(r))]++;
    if (r == rank) local = number;
    if (node_of(r) == node_of(0) && number == 1) peer = r;
    if (node_of(r) != node_of(0) && number == 0) others.push_back(r);
  }

  const double inside = peer ? into_first(rank, {peer}, 64 * kMegabyte) : 0;
  const double between = others.empty() ? 0 : into_first(rank, {others[0]}, 8 * kMegabyte);
  const double into = others.empty() ? 0 : into_first(rank, others, 8 * kMegabyte);
  const double by_node = all_reduce(node_of(rank) * ranks + local, 4 * kMegabyte);
  const double interleaved = all_reduce(local * ranks + node_of(rank), 4 * kMegabyte);
  if (rank == 0) {
    std::string names;
    for (const std::string& host : hosts) names += (names.empty() ? "\"" : ", \"") + host + '"';
    std::printf(
        "{\"hosts\": [%s], \"inside\": %g, \"between\": %g, \"into\": %g, "
        "\"by_node\": %g, \"interleaved\": %g}\n",
        names.c_str(), inside, between, into, by_node, interleaved);
  }
  MPI_Finalize();
  return 0;
}
