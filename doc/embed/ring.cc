// ring.cc - the primitives of cbench from C++: a ring between two threads, and
// coroutines out of a pool, each held by a unique_ptr.
//
//   make ring && ./ring
#include <cbench.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

namespace {

template <auto Destroy> struct Deleter {
  template <typename Object> void operator()(Object *object) const
  {
    Destroy(object);
  }
};

void destroy_pool(cb_pool *pool)
{
  cb_pool_destroy(pool, nullptr);
}

using Spec = std::unique_ptr<cb_spec, Deleter<cb_spec_destroy>>;
using Ring = std::unique_ptr<cb_ring, Deleter<cb_ring_destroy>>;
using Pool = std::unique_ptr<cb_pool, Deleter<destroy_pool>>;

// The sentence that a call left, as an exception.
[[noreturn]] void raise(const cb_error &error)
{
  throw std::runtime_error(error.text);
}

Ring make_ring(const char *kind, std::int64_t size)
{
  cb_error error;
  Spec spec(cb_spec_create(cb_family_find("ring"), kind, &error));
  if (!spec || cb_spec_set_integer(spec.get(), "size", size, &error) < 0)
    raise(error);
  Ring ring(cb_ring_create(spec.get(), &error));
  if (!ring)
    raise(error);
  return ring;
}

std::uint64_t sum_through(cb_ring *ring, std::uint64_t count)
{
  std::uint64_t sum = 0;
  std::thread producer([=] {
    for (std::uint64_t i = 1; i <= count; i++)
      while (cb_ring_enqueue(ring, i, nullptr) == 0)
        std::this_thread::yield();
  });
  for (std::uint64_t i = 0, value; i < count; i++) {
    while (cb_ring_dequeue(ring, &value) == 0)
      std::this_thread::yield();
    sum += value;
  }
  producer.join();
  return sum;
}

void body(void *opaque)
{
  auto *steps = static_cast<int *>(opaque);
  ++*steps;
  cb_coroutine_yield();
  ++*steps;
}

int run_coroutines(int count)
{
  cb_error error;
  cb_pool_options options = {};
  Pool pool(cb_pool_create(&options, &error));
  if (!pool)
    raise(error);
  int steps = 0;
  for (int i = 0; i < count; i++) {
    cb_coroutine *coroutine =
        cb_coroutine_create(pool.get(), body, &steps, &error);
    if (!coroutine)
      raise(error);
    while (cb_coroutine_enter(coroutine) == CB_YIELD)
      continue;
  }
  return steps;
}

} // namespace

int main()
{
  try {
    Ring ring = make_ring("spsc", 64);
    std::printf("%llu\n", static_cast<unsigned long long>(
                              sum_through(ring.get(), 100000)));
    std::printf("%d steps\n", run_coroutines(10));
    make_ring("spcs", 64);
  } catch (const std::exception &error) {
    std::printf("refused: %s\n", error.what());
  }
}
