// The NCCL transport: memory of the current CUDA device, which the owner of the tensors has set. It
// compiles and links but has NEVER RUN: the machines that build and test it have no GPU. Do not
// trust it before it passes mpi_check's tests on device memory.
//
// A call starts after the work already on the default stream and runs on its own stream, overlapped
// with deferred work. NCCL has no tags: messages between two ranks are matched by their order.
// Messages are queued until the first wait() or done() and then start as one group; started one by
// one, two ranks that send to each other first would deadlock.
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <mpi.h>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "rankwright/runtime/mpi/communicator.h"
#include "rankwright/runtime/transports.h"

namespace rankwright::runtime {
namespace {

/// Ends the run, as MPI's own errors do: a call that failed halfway cannot be recovered.
[[noreturn]] void end_run(const char* who, const char* why) {
  std::fprintf(stderr, "rankwright: %s: %s\n", who, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

void check_ok(ncclResult_t result) {
  if (result != ncclSuccess) end_run("NCCL", ncclGetErrorString(result));
}

void check_ok(cudaError_t result) {
  if (result != cudaSuccess) end_run("CUDA", cudaGetErrorString(result));
}

ncclDataType_t type(Number number) {
  switch (number) {
    case Number::f64:
      return ncclFloat64;
    case Number::f32:
      return ncclFloat32;
    case Number::bf16:
      return ncclBfloat16;
    case Number::i64:
      return ncclInt64;
  }
  return ncclFloat32;
}

ncclRedOp_t op(Combine combine) { return combine == Combine::sum ? ncclSum : ncclMax; }

char* element(Slab slab, i64 index) {
  return static_cast<char*>(slab.data) + index * size(slab.number);
}

/// A CUDA event, recorded where a call's work ends on the stream.
class Event {
 public:
  Event() { check_ok(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { check_ok(cudaEventRecord(event_, stream)); }
  void hold(cudaStream_t stream) { check_ok(cudaStreamWaitEvent(stream, event_, 0)); }
  bool reached() const {
    const cudaError_t state = cudaEventQuery(event_);
    if (state != cudaErrorNotReady) check_ok(state);
    return state == cudaSuccess;
  }
  void wait() const { check_ok(cudaEventSynchronize(event_)); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A queued send or receive.
struct Message {
  Slab slab;
  int peer = 0;
  bool sends = false;
};

/// A communicator and its stream. Requests keep it alive and share the event of their group.
struct Channel {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  int rank = 0, size = 1;
  std::vector<Message> queued{};  // messages that are queued for the next group
  std::shared_ptr<Event> next = std::make_shared<Event>();  // the event of that group

  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    if (comm) ncclCommDestroy(comm);
    if (stream) cudaStreamDestroy(stream);
  }

  /// Orders the stream after the computation submitted so far.
  void follow() {
    Event computed;
    computed.record(cudaStreamLegacy);
    computed.hold(stream);
  }

  void begin_messages() {
    if (queued.empty()) return;
    follow();
    check_ok(ncclGroupStart());
    for (const auto& [slab, peer, sends] : queued) {
      const std::size_t count = std::size_t(slab.count);
      if (sends)
        check_ok(ncclSend(slab.data, count, type(slab.number), peer, comm, stream));
      else
        check_ok(ncclRecv(slab.data, count, type(slab.number), peer, comm, stream));
    }
    check_ok(ncclGroupEnd());
    next->record(stream);
    next = std::make_shared<Event>();
    queued.clear();
  }
};

class NcclRequest final : public Request {
 public:
  NcclRequest(std::shared_ptr<Channel> channel, std::shared_ptr<Event> end)
      : channel_(std::move(channel)), end_(std::move(end)) {}

  bool done() override {
    channel_->begin_messages();
    return end_->reached();
  }
  void wait() override {
    channel_->begin_messages();
    end_->wait();
  }

 private:
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<Event> end_;
};

class NcclTransport final : public Transport {
 public:
  explicit NcclTransport(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}

  i64 rank() const override { return channel_->rank; }
  i64 size() const override { return channel_->size; }

  std::unique_ptr<Request> all_reduce(Slab whole, Combine combine) override {
    begin();
    check_ok(ncclAllReduce(whole.data, whole.data, std::size_t(whole.count), type(whole.number),
                           op(combine), channel_->comm, channel_->stream));
    return ending();
  }

  std::unique_ptr<Request> all_gather(Slab whole) override {
    begin();
    const Part mine = part_of(whole.count, size(), rank());
    if (divides(size(), whole.count)) {
      check_ok(ncclAllGather(element(whole, mine.first), whole.data, std::size_t(mine.count),
                             type(whole.number), channel_->comm, channel_->stream));
      return ending();
    }
    check_ok(ncclGroupStart());
    for (i64 root = 0; root < size(); ++root) {
      const Part part = part_of(whole.count, size(), root);
      if (part.count == 0) continue;
      char* const data = element(whole, part.first);
      check_ok(ncclBroadcast(data, data, std::size_t(part.count), type(whole.number), int(root),
                             channel_->comm, channel_->stream));
    }
    check_ok(ncclGroupEnd());
    return ending();
  }

  std::unique_ptr<Request> reduce_scatter(Slab whole, Slab part) override {
    begin();
    if (divides(size(), whole.count)) {
      check_ok(ncclReduceScatter(whole.data, part.data, std::size_t(part.count), type(whole.number),
                                 ncclSum, channel_->comm, channel_->stream));
      return ending();
    }
    check_ok(ncclGroupStart());
    for (i64 root = 0; root < size(); ++root) {
      const Part theirs = part_of(whole.count, size(), root);
      if (theirs.count == 0) continue;
      check_ok(ncclReduce(element(whole, theirs.first), part.data, std::size_t(theirs.count),
                          type(whole.number), ncclSum, int(root), channel_->comm,
                          channel_->stream));
    }
    check_ok(ncclGroupEnd());
    return ending();
  }

  std::unique_ptr<Request> send(Slab message, i64 to, i64) override {
    return queue({message, int(to), true});
  }
  std::unique_ptr<Request> recv(Slab message, i64 from, i64) override {
    return queue({message, int(from), false});
  }

 private:
  void begin() {
    channel_->begin_messages();
    channel_->follow();
  }
  std::unique_ptr<Request> ending() {
    std::shared_ptr<Event> end = std::make_shared<Event>();
    end->record(channel_->stream);
    return std::make_unique<NcclRequest>(channel_, std::move(end));
  }
  std::unique_ptr<Request> queue(Message message) {
    channel_->queued.push_back(message);
    return std::make_unique<NcclRequest>(channel_, channel_->next);
  }

  std::shared_ptr<Channel> channel_;
};

Diagnostic refused(const char* what, const char* why) {
  return running_fault("RW0703", fmt::format("{}: {}", what, why));
}

/// Returns whether all members are ready. Without this agreement some would wait for members that
/// failed.
bool all_ready(bool here, MPI_Comm comm) {
  int came = here ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &came, 1, MPI_INT, MPI_MIN, comm);
  return came == 1;
}

Result<std::shared_ptr<Channel>> open(MPI_Comm members) {
  std::shared_ptr<Channel> channel = std::make_shared<Channel>();
  MPI_Comm_rank(members, &channel->rank);
  MPI_Comm_size(members, &channel->size);
  ncclUniqueId id{};
  ncclResult_t result = ncclSuccess;
  if (channel->rank == 0) result = ncclGetUniqueId(&id);
  const cudaError_t streamed = cudaStreamCreateWithFlags(&channel->stream, cudaStreamNonBlocking);
  if (!all_ready(result == ncclSuccess && streamed == cudaSuccess, members)) {
    if (streamed != cudaSuccess) return fail(refused("CUDA", cudaGetErrorString(streamed)));
    if (result != ncclSuccess) return fail(refused("NCCL", ncclGetErrorString(result)));
    return fail(refused("NCCL", "another rank of the group could not begin"));
  }
  MPI_Bcast(&id, int(sizeof id), MPI_BYTE, 0, members);
  result = ncclCommInitRank(&channel->comm, channel->size, id, channel->rank);
  if (result != ncclSuccess) return fail(refused("NCCL", ncclGetErrorString(result)));
  return channel;
}

Result<std::shared_ptr<Transport>> join(const std::vector<i64>& members) {
  int devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  const Result<MPI_Comm> comm = mpi_communicator(members);
  if (!comm) return fail(comm.error());
  MPI_Comm bootstrap = *comm;
  if (!all_ready(found == cudaSuccess && devices > 0, bootstrap)) {
    MPI_Comm_free(&bootstrap);
    if (found != cudaSuccess) return fail(running_fault("RW0704", cudaGetErrorString(found)));
    return fail(running_fault("RW0704", devices > 0 ? "a rank of the group has no GPU" : "no GPU"));
  }
  Result<std::shared_ptr<Channel>> channel = open(bootstrap);
  MPI_Comm_free(&bootstrap);
  if (!channel) return fail(channel.error());
  return std::shared_ptr<Transport>(std::make_shared<NcclTransport>(std::move(*channel)));
}

}  // namespace

constinit const Backend nccl_backend{
    .name = "nccl",
    .summary = "memory of GPUs, over NCCL; compiles and links, and has never run",
    .built = true,
    .join = join};

std::string nccl_version() {
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return {};
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace rankwright::runtime
